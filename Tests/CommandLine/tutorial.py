# SPDX-License-Identifier: Apache-2.0
"""Does what the tutorial of docs/policies.md says, in the current folder, and holds what its
commands print against what it shows."""

import difflib
import pathlib
import re
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
FILE = pathlib.Path("policies/50-deploy.yaml")


def blocks(text):
    tutorial = text.split("## A policy from nothing", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^```(\w+)\n(.*?)^```$", tutorial, re.DOTALL | re.MULTILINE)


def write(block):
    """A whole file takes the old one's place; a part of one is added to it."""
    with FILE.open("w" if block.startswith(("policy:", "#")) else "a") as file:
        file.write(block)


def commands(block):
    """What is typed, and what is shown below it."""
    for part in re.split(r"^(?=[$#] )", block, flags=re.MULTILINE):
        if part:
            typed, _, shown = part.partition("\n")
            yield typed, shown


def main():
    FILE.parent.mkdir()
    count = differences = 0
    for kind, block in blocks((TOP / "docs/policies.md").read_text()):
        if kind == "yaml":
            write(block)
            continue
        for typed, shown in commands(block):
            # What installs a policy is not done here; what is checked before, is.
            if not typed.startswith("$ ") and " check " not in typed:
                continue
            line = typed[2:].replace("/usr/share/keychain/policies.d", str(TOP / "Policies"))
            done = subprocess.run(line, shell=True, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            count += 1
            if done.stdout != shown:
                differences += 1
                print(typed)
                sys.stdout.writelines(difflib.unified_diff(
                    shown.splitlines(True), done.stdout.splitlines(True), "shown", "printed"))
    print(f"{count} commands, {differences} that print something else")


main()
