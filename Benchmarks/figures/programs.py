# SPDX-License-Identifier: Apache-2.0
"""Programs in a login that do what they are told, and say what it took."""

import json
import os
import shutil
import subprocess

import world

LONGEST = 120  # seconds that one order may take
READERS = 8  # programs that a crowd is of


class Program:
    """What follows orders on its terminal, a line of JSON for each."""

    def __init__(self, shell, command):
        self.shell = shell
        self.terminal = shell.terminal
        shell.send(command)
        self.ready = self.heard()

    def heard(self):
        found = self.terminal.expect([r"(\{[^\r\n]*\})\r\n", world.Shell.PROMPT], timeout=LONGEST)
        if found:
            raise RuntimeError(f"a program ended: {self.terminal.before.strip()}")
        return json.loads(self.terminal.match.group(1))

    def order(self, line):
        self.terminal.sendline(line)
        return self.heard()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        if failure[0] is None:
            self.end()

    def end(self):
        self.terminal.sendeof()
        self.terminal.expect_exact(world.Shell.PROMPT, timeout=LONGEST)


def orders(shell, name="keychain-bench"):
    return Program(shell, f"{name} orders")


def crowd(shell, count, name="keychain-bench"):
    """They have all read once, and have their connections. They are programs of several names, each
    with items of its own: one program alone is not given all of its user's connections."""
    program = Program(shell, f"/usr/bin/python3 -B {world.TOOLS}/crowd.py {count} "
                             + " ".join(map(str, readers(name))))
    program.order("read 20 100")
    return program


def readers(name="keychain-bench"):
    return [world.PREFIX / f"bin/{name}-{number}" for number in range(READERS)]


def install_readers(name="keychain-bench"):
    for path in readers(name):
        os.link(world.PREFIX / "bin" / name, path)


def pin(processes, cores):
    """All threads that there are; what they make later inherits it."""
    for process in processes:
        for thread in os.listdir(f"/proc/{process}/task"):
            os.sched_setaffinity(int(thread), cores)


def install(folder, names):
    for name in names:
        shutil.copy(folder / name, world.PREFIX / "bin")


def memory(processes, what="Pss"):
    """MB that processes have for themselves, and their shares of what they share. `what`: another
    line of the kernel's, as Rss, in whose sum what they share is counted for each of them."""
    found = 0
    for process in processes:
        for line in open(f"/proc/{process}/smaps_rollup"):
            if line.startswith(what + ":"):
                found += int(line.split()[1])
    return found / 1024


def relocations(path):
    told = subprocess.run(["readelf", "-rW", path], text=True, capture_output=True).stdout
    return sum(1 for line in told.splitlines() if " R_" in line)
