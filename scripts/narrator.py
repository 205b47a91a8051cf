# SPDX-License-Identifier: Apache-2.0
"""How the demo speaks."""

import sys
import textwrap

BOLD, DIM, PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")
WIDTH = 88


def chapter(title):
    print(f"\n{BOLD}{title}{PLAIN}\n", flush=True)


def say(text):
    print(textwrap.fill(text, WIDTH) + "\n", flush=True)


def show(title, text):
    print(f"    {DIM}# {title}{PLAIN}\n{textwrap.indent(text, '    ')}\n", flush=True)


def typed(user, line, result, expected=0):
    """A command as somebody typed it, and what came of it; the demo ends where it lies."""
    text = result.text.strip("\n")
    status = f"\n{DIM}(exit status {result.status}){PLAIN}" if result.status else ""
    print(textwrap.indent(f"{user}$ {BOLD}{line}{PLAIN}\n{text}{status}".rstrip(), "    ") + "\n",
          flush=True)
    if result.status != expected:
        sys.exit(f"demo: that should have ended with exit status {expected}")
