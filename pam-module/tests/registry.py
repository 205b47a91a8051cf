# SPDX-License-Identifier: Apache-2.0
"""Tests are functions with a sentence; `run_all` prints one line for each."""

import traceback

TESTS = []
SUCCESS, PERM_DENIED, SESSION_ERR, AUTHTOK_ERR, IGNORE = 0, 6, 14, 20, 25


class Skip(Exception):
    """Says why a test cannot run here."""


def test(sentence):
    def add(function):
        TESTS.append((sentence, function))
        return function

    return add


def run_all(world, only):
    passed = failed = 0
    for sentence, function in TESTS:
        if only and only not in sentence:
            continue
        try:
            function(world)
        except Skip as reason:
            print(f"skip {sentence}: {reason}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL {sentence}", flush=True)
            traceback.print_exc()
        else:
            passed += 1
            print(f"ok   {sentence}", flush=True)
        world.kind = "plain"
    return passed, failed


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
