# SPDX-License-Identifier: Apache-2.0
"""How often a user's worker does what costs, for one read: counted by the kernel at its system
calls and at the entries of functions, so that no load disturbs the counts."""

import json
import os
import pathlib
import re
import subprocess

import anchors
import world

LIBRARIES = {"libc": "libc.so.6", "sqlite": "libsqlite3.so.0", "sodium": "libsodium.so.23"}
# Of the kernel's own numbers.
CALLS = {"x86_64": {"futex": 202}, "aarch64": {"futex": 98}}


class Forbidden(Exception):
    """The kernel lets nothing be counted here."""


class Program:
    """A program or library on the disk: at which places of the file its functions begin."""

    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.segments = []
        for line in readelf("-lW", self.path):
            words = line.split()
            if words[:1] == ["LOAD"]:
                self.segments.append([int(word, 16) for word in (words[1], words[2], words[4])])
        self.functions = {}
        for line in readelf("-sW", self.path):
            words = line.split()
            if len(words) > 7 and words[3] in ("FUNC", "IFUNC") and words[6] != "UND":
                self.functions.setdefault(words[7].split("@")[0], int(words[1], 16))

    def places(self, pattern):
        wanted = re.compile(pattern)
        return sorted({self.place(address) for name, address in self.functions.items()
                       if wanted.fullmatch(name)})

    def place(self, address):
        for offset, begin, size in self.segments:
            if begin <= address < begin + size:
                return address - begin + offset
        raise AssertionError(f"{address:x} lies in no segment")


def readelf(*words):
    return subprocess.run(["readelf", *map(str, words)], check=True, text=True,
                          capture_output=True).stdout.splitlines()


def functions(patterns, symbols, installed):
    """Words for `counted`: NAME=at:PLACE:FILE. A name may have several places, in the worker and in
    the library of all programs, which together are called the daemon."""
    programs = {}
    words = []
    for name, (where, pattern) in patterns.items():
        if where not in programs:
            programs[where] = ([(Program(library(where)), library(where))] if where != "daemon"
                               else daemon_s(symbols, installed))
        found = [f"{name}=at:{place}:{file}" for program, file in programs[where]
                 for place in program.places(pattern)]
        if not found:
            raise AssertionError(f"{where} has no function {pattern}: what is counted has another "
                                 f"name now, and counters.json must say which")
        words += found
    return words


def daemon_s(symbols, installed):
    """Files with symbols, each with the installed one: stripping moves nothing in it."""
    shared, = symbols.parent.glob("libkeychain.*.so")
    return [(Program(symbols), installed),
            (Program(shared), world.PREFIX / "lib/keychain-services" / shared.name)]


def library(name):
    """As a worker has it."""
    told = subprocess.run(["ldd", world.WORKER], check=True, text=True,
                          capture_output=True).stdout
    return re.search(rf"{re.escape(LIBRARIES[name])} => (\S+)", told)[1]


class Counted:
    """What a process does between two questions."""

    def __init__(self, process, words):
        mount_tracing()
        self.names = [word.split("=")[0] for word in words]
        # The same name twice would be one key of the answer.
        numbered = [f"{i}={word.split('=', 1)[1]}" for i, word in enumerate(words)]
        self.tool = subprocess.Popen(
            [anchors.BUILT / "counted", str(process), *numbered], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if self.tool.stdout.readline() != "ready\n":
            self.tool.wait()
            raise Forbidden(self.tool.stderr.read().strip() or "counted ended")
        self.since()

    def since(self):
        self.tool.stdin.write("\n")
        self.tool.stdin.flush()
        counts = {}
        for number, count in json.loads(self.tool.stdout.readline()).items():
            name = self.names[int(number)]
            counts[name] = counts.get(name, 0) + count
        return counts

    def end(self):
        self.tool.stdin.close()
        self.tool.wait()


def mount_tracing():
    """In the private world, which has mounts of its own."""
    if not pathlib.Path("/sys/kernel/tracing/events").exists():
        subprocess.run(["mount", "-t", "tracefs", "tracefs", "/sys/kernel/tracing"],
                       capture_output=True)


def call(name):
    numbers = CALLS.get(os.uname().machine)
    if numbers is None:
        raise Forbidden(f"system calls have other numbers on {os.uname().machine}")
    return f"{name}=call:{numbers[name]}"
