# SPDX-License-Identifier: Apache-2.0
"""The item calls of a program that is linked with the library, against a real daemon: what the Swift
tests show in embedded mode holds here too."""

import shutil

import pytest

import world

PROGRAM = "keychain-calls"


@pytest.fixture
def shell(login):
    """A login with the program installed, root's like any other."""
    installed = world.PREFIX / "bin" / PROGRAM
    if not installed.exists():
        shutil.copy(world.TOP / ".build/release" / PROGRAM, installed)
    return login()


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_random_calls_do_what_they_do_on_a_plain_model(shell, seed):
    done = shell.run(f"{PROGRAM} random {seed} 300")
    assert done.status == 0, done


@pytest.mark.parametrize("crowd", ["threads", "processes"])
def test_eight_at_once_lose_nothing_and_never_see_half_of_a_write(shell, crowd):
    done = shell.run(f"{PROGRAM} {crowd}")
    assert done.status == 0, done
