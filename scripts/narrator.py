# SPDX-License-Identifier: Apache-2.0
"""How the demo speaks."""

import itertools
import sys
import textwrap

BOLD, DIM, PLAIN = ("\033[1m", "\033[2m", "\033[0m") if sys.stdout.isatty() else ("", "", "")
WIDTH = 88


numbers = itertools.count(1)


def chapter(title):
    print(f"\n{BOLD}{next(numbers)}. {title}{PLAIN}\n", flush=True)


def say(text):
    print(textwrap.fill(text, WIDTH) + "\n", flush=True)


def show(title, text):
    print(f"    {DIM}# {title}{PLAIN}\n{textwrap.indent(text, '    ')}\n", flush=True)


def promise(kept, words):
    """Ends the demo where something does not come out as told."""
    if not kept:
        sys.exit(f"demo: {words}")


def typed(user, line, result, expected=0, says="", never=()):
    """A command as the user typed it, and what came of it; the demo ends where it lies."""
    text = result.text.strip("\n")
    status = f"\n{DIM}(exit status {result.status}){PLAIN}" if result.status else ""
    print(textwrap.indent(f"{user}$ {BOLD}{line}{PLAIN}\n{text}{status}".rstrip(), "    ") + "\n",
          flush=True)
    promise(result.status == expected, f"that should have ended with exit status {expected}")
    promise(says in text, f"that should have said “{says}”")
    promise(not any(word in text for word in never), "that should not have shown a secret")
