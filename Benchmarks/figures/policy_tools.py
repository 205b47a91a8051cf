# SPDX-License-Identifier: Apache-2.0
"""What the tools for policies take: processor time and memory of whole commands, and whether they
decided what they were asked."""

import json
import os
import pathlib
import subprocess
import tempfile

import policy_sets

SIZES = [1_000, 10_000]
LARGEST_GROWTH = 2.5  # of mutate, for twice the rules
LONGEST = 300
QUESTIONS = {
    "structured": ('{"access-group": "svc-4"}', '{"unit": "svc-4.service"}'),
    "random": ('{"service": "svc-3.example"}', '{"exe": "/usr/lib/product-3/bin/helper"}'),
}


class Tool:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def write(self, name, files):
        folder = self.folder / name
        folder.mkdir()
        for file, text in files.items():
            (folder / file).write_text(text)
        return folder

    def run(self, *words):
        """Seconds, MiB, and in words what was left open."""
        with tempfile.TemporaryFile("w+") as told:
            process = subprocess.Popen(
                ["timeout", str(LONGEST), self.program, "policy", *map(str, words)], stdout=told,
                stderr=subprocess.STDOUT)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            told.seek(0)
            text = told.read()
        if process.returncode == 124:
            note = f"not done in {LONGEST} s"
        else:
            note = "not decided" if "not decided" in text else ""
        return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, note

    def tested(self, kind, rules):
        """The files of so many rules, with tests."""
        if kind == "structured":
            return policy_sets.structured(rules)
        files = policy_sets.mixed(rules)
        requests = policy_sets.requests(rules)
        bare = self.write(f"bare-{rules}", files)
        done = subprocess.run([self.program, "policy", "decide", "--policies", bare],
                              input=requests, text=True, capture_output=True, check=True)
        decisions = [json.loads(line) for line in done.stdout.splitlines()]
        return files | policy_sets.tests_of(requests.splitlines(), decisions)


def measure(program):
    """Prints a line for each command; what missed its target comes back."""
    missed = []
    with tempfile.TemporaryDirectory(prefix="policy-tools-") as folder:
        tool = Tool(program, pathlib.Path(folder))
        for kind, (item, subject) in QUESTIONS.items():
            for rules in SIZES:
                own = f"{kind}-{rules}"
                files = tool.tested(kind, rules)
                at = tool.write(own, files)
                commands = {
                    "check": ["check", "--policies", at], "lint": ["lint", "--policies", at],
                    "who": ["who", "--policies", at, item], "can": ["can", "--policies", at, subject],
                    "mutate": ["mutate", "--policies", at]}
                for count in 1, 10, 100:
                    other = tool.write(f"{own}-{count}", policy_sets.changed(files, count))
                    commands[f"diff of {count}"] = ["diff", at, other]
                for name, words in commands.items():
                    show(kind, rules, name, *tool.run(*words))
            missed += growth(tool, kind)
    return missed


def growth(tool, kind):
    """From 200 to 1,600 rules, all of them and their tests in one file or one set."""
    seconds = {}
    for rules in 200, 1_600:
        at = tool.write(f"{kind}-mutate-{rules}", tool.tested(kind, rules))
        seconds[rules] = tool.run("mutate", "--policies", at)[0]
        show(kind, rules, "mutate", seconds[rules], 0, "")
    doubling = (seconds[1_600] / seconds[200]) ** (1 / 3)
    print(f"{kind}: twice the rules take mutate × {doubling:.2f}", flush=True)
    if doubling > LARGEST_GROWTH:
        return [f"{kind}: twice the rules take mutate × {doubling:.2f}, not {LARGEST_GROWTH}"]
    return []


def show(kind, rules, name, seconds, mebibytes, note):
    size = f"{mebibytes:5.0f} MiB" if mebibytes else " " * 9
    print(f"{kind:11}{rules:>7} rules  {name:12}{seconds:8.2f} s  {size}  {note}", flush=True)
