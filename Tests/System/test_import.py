# SPDX-License-Identifier: Apache-2.0
"""keychainctl import beside a running daemon."""

import json
import re

import pytest

from conftest import ALICE
from test_policies import admin


@pytest.fixture
def shell(login):
    return login()


MANY = """python3 -c 'print("name,password"); [print(f"many {n},secret {n}") for n in range(500)]' >many.csv"""


def imported(shell):
    # On a terminal a progress bar stands between.
    said = shell.run("keychainctl import csv many.csv --yes --json 2>/dev/null")
    assert said.status == 0, said
    return json.loads(said.text)


def test_each_of_many_is_added_once_and_an_import_taken_back(shell):
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


FEW = """printf 'name,password\\none,1\\ntwo,2\\nthree,3\\nfour,4\\n' >few.csv"""
ASKS = """rules:
  - id: test.adding-asks
    require: presence
    operations: add
"""


def questions(text):
    """How many there are before each answer, and behind the last."""
    return [part.count("wants to") for part in re.split("assword[^\\n]*: ?", text)]


def test_where_adding_asks_each_time_one_answer_serves_an_import(shell, admin):
    admin(ASKS)
    assert shell.run(FEW).status == 0
    said = shell.run("keychainctl import csv few.csv --yes", [ALICE[1]])
    assert said.status == 0 and "Added: 4." in said.text, said
    assert questions(said.text) == [1, 0], said
    # The next import asks anew.
    assert shell.run("keychainctl delete generic-password --service two").status == 0
    said = shell.run("keychainctl import csv few.csv --yes", [ALICE[1]])
    assert said.status == 0 and "Added: 1." in said.text, said
    assert questions(said.text) == [1, 0], said
