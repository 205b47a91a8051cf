# SPDX-License-Identifier: Apache-2.0
"""Tests are functions with a sentence; `run_all` prints one line for each."""

import threading
import time
import traceback

TESTS = []
# Seconds; the module waits for the daemon for two.
STANDSTILL = 0.3
SUCCESS, PERM_DENIED, SESSION_ERR, AUTHTOK_ERR, IGNORE = 0, 6, 14, 20, 25


class Skip(Exception):
    """Says why a test cannot run here."""


def test(sentence):
    def add(function):
        TESTS.append((sentence, function))
        return function

    return add


class Machine:
    """Notices when the machine, or this process, stands still: a test then says nothing."""

    def __init__(self):
        self.longest = 0
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        while True:
            began = time.monotonic()
            time.sleep(0.05)
            self.longest = max(self.longest, time.monotonic() - began)

    def stood_still(self):
        longest, self.longest = self.longest, 0
        return longest > STANDSTILL


def run_all(world, only):
    machine = Machine()
    passed = failed = 0
    for sentence, function in TESTS:
        if only and only not in sentence:
            continue
        try:
            run(function, world, machine)
        except Skip as reason:
            print(f"skip {sentence}: {reason}", flush=True)
        except Exception as error:
            failed += 1
            print(f"FAIL {sentence}", flush=True)
            told = traceback.TracebackException.from_exception(error, capture_locals=True)
            print("".join(told.format()), flush=True)
        else:
            passed += 1
            print(f"ok   {sentence}", flush=True)
        world.kind = "plain"
    return passed, failed


def run(function, world, machine):
    machine.stood_still()
    try:
        function(world)
    except AssertionError:
        if not machine.stood_still():
            raise
        print("the machine stood still; once more", flush=True)
        function(world)


def codes(lines, *steps):
    """What each of the steps returned, in the order they were made."""
    return [int(line[1]) for line in lines if line[0] in steps]


def word(lines, first):
    """The rest of the only line that begins so."""
    found = [line[1:] for line in lines if line[0] == first]
    assert len(found) == 1, lines
    return found[0]


def slowest(lines):
    """Milliseconds of the slowest step."""
    return max(int(line[2]) for line in lines if len(line) == 3 and line[2].isdigit())
