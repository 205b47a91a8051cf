# SPDX-License-Identifier: Apache-2.0
"""Without the daemon: the library in the asking program, on the user's own files."""

import pytest

import world
from conftest import ALICE

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me"


@pytest.fixture
def shell(login):
    """A login in which programs are told to keep their own keychain."""
    shell = login()
    shell.run("export KEYCHAIN_HOME=~/keychains; rm -rf ~/keychains; keyctl clear @u")
    yield shell
    shell.run("keyctl clear @u")


def test_a_program_simply_works_and_status_says_what_that_is_worth(shell):
    assert shell.run(ADD).status == 0
    assert shell.run(GET).text.strip() == "s3cret"
    status = shell.run("keychainctl status").text
    assert "embedded" in status and "not protected by a password" in status


def test_a_protected_keychain_locks_and_opens_in_every_process_of_the_user(shell):
    shell.run(ADD)
    assert shell.run("keychainctl set-password", ["own words", "own words"]).status == 0
    assert shell.run("keychainctl lock").status == 0
    assert shell.run(GET).status == 4
    assert shell.run("keychainctl unlock", ["own words"]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"
    shell.run("keychainctl lock")


def test_presence_is_proven_by_the_user_s_own_password(shell):
    shell.run(ADD)
    shell.run("keychainctl set-password", ["own words", "own words"])
    bank = "generic-password --service bank"
    added = shell.run(f"printf b4nk | keychainctl add {bank} --flags user-presence")
    assert added.status == 0, added
    right = shell.run(f"keychainctl get {bank}", [ALICE[1]])
    assert right.status == 0 and "b4nk" in right.text
    wrong = shell.run(f"keychainctl get {bank}", ["no"] * 3)
    assert wrong.status == 6 and "b4nk" not in wrong.text
    shell.run("keychainctl lock")


def test_an_item_that_asks_for_presence_needs_a_password_first(shell):
    added = shell.run("printf x | keychainctl add generic-password --service bank"
                      " --flags user-presence")
    assert added.status == 6, added


def test_one_key_a_keychain_in_the_user_s_keyring(shell):
    shell.run(ADD)
    shell.run("keychainctl set-password", ["own words", "own words"])
    for _ in range(3):
        assert shell.run("keychainctl unlock", ["own words"]).status == 0
    assert shell.run("keyctl show @u").text.count("user: keychain:") == 1
    shell.run("keychainctl lock; keyctl clear @u")


def test_where_the_package_is_installed_a_missing_daemon_is_said_and_nothing_else_is_used(
        login, daemon):
    shell = login()
    daemon.stop()
    refused = shell.run(GET)
    assert refused.status == 1 and "does not answer" in refused.text
    assert shell.run("ls ~/.local/share/keychain").status != 0
