# SPDX-License-Identifier: Apache-2.0
"""keychainctl import beside a running daemon."""

import json

import pytest

from conftest import ALICE


@pytest.fixture
def shell(login):
    return login()


MANY = """python3 -c 'print("name,password"); [print(f"many {n},secret {n}") for n in range(500)]' >many.csv"""


def imported(shell):
    said = shell.run("keychainctl import csv many.csv --yes --json")
    assert said.status == 0, said
    return json.loads(said.text)


def test_many_are_added_at_once_and_each_of_them_once(shell):
    assert shell.run(MANY).status == 0
    first = imported(shell)
    assert (first["added"], first["same"], first["different"]) == (500, 0, [])
    again = imported(shell)
    assert (again["added"], again["same"], again["different"]) == (0, 500, [])
    assert shell.run("keychainctl get 'many 499'").text.strip() == "secret 499"
    undone = shell.run(f"keychainctl import --undo {first['number']}")
    assert "Deleted: 500." in undone.text


def test_a_locked_keychain_is_told_before_anything_is_read(shell):
    assert shell.run(MANY).status == 0
    assert shell.run("rm -rf .local/state/keychain/imports; keychainctl lock").status == 0
    for words in ("--yes", "--dry-run"):
        said = shell.run(f"keychainctl import csv many.csv {words}")
        assert said.status == 4 and "locked" in said.text and "To add" not in said.text, said
    assert shell.run("ls .local/state/keychain/imports").status != 0
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert imported(shell)["added"] == 500
