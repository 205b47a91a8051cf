# SPDX-License-Identifier: Apache-2.0
"""security, macOS' command line, beside a real daemon."""

import pytest

import world
from conftest import ALICE

LOCKED, NOT_FOUND, DUPLICATE, WRONG = 36, 44, 45, 51


@pytest.fixture
def shell(login):
    return login()


def test_a_password_comes_back_and_is_there_once(shell):
    add = "security add-generic-password -a ci -s registry -w s3cret"
    assert shell.run(add).status == 0
    assert shell.run(add).status == DUPLICATE
    found = shell.run("security find-generic-password -a ci -s registry -w")
    assert (found.status, found.text.strip()) == (0, "s3cret")
    assert shell.run("security find-generic-password -s nothing -w").status == NOT_FOUND
    assert shell.run("security delete-generic-password -s registry").status == 0


def test_a_keychain_of_its_own_is_locked_and_unlocked(shell):
    for line, status in (
            ("create-keychain -p secret build.keychain", 0),
            ("add-generic-password -a ci -s build -w token build.keychain", 0),
            ("set-keychain-settings -t 600 -l build.keychain", 0),
            ("lock-keychain build.keychain", 0),
            ("find-generic-password -s build -w build.keychain", LOCKED),
            ("unlock-keychain -p wrong build.keychain", WRONG),
            ("unlock-keychain -p secret build.keychain", 0),
            ("find-generic-password -s build -w build.keychain", 0)):
        done = shell.run(f"security {line}")
        assert done.status == status, (line, done)
    shown = shell.run("security show-keychain-info build.keychain 2>&1")
    assert "lock-on-sleep use-lock-interval timeout=600s" in shown.text


def test_a_script_that_gave_the_password_has_the_keychain_stay_open_longer(shell):
    """Without a question, as in a job of CI."""
    looser = "security set-keychain-settings build.keychain </dev/null"
    alone = f"setsid -w {looser}"
    assert shell.run("security create-keychain -p secret build.keychain").status == 0
    assert shell.run("setsid -w keychainctl settings build --lock-on-sleep no </dev/null").status != 0
    assert shell.run(alone).status == LOCKED
    assert shell.run(looser).status == 0
    assert shell.run("security set-keychain-settings -t 600 build.keychain </dev/null").status == 0
    # What was given before a lock counts no longer.
    assert shell.run("security lock-keychain build.keychain").status == 0
    assert shell.run("keychainctl unlock build", ["secret"]).status == 0
    assert shell.run(f"{looser} 2>&1 | cat", [ALICE[1]]).text.count("keep a keychain open") == 1
    # The login keychain's is the user's own.
    assert shell.run(f"security unlock-keychain -p '{ALICE[1]}'").status == 0
    assert shell.run("setsid -w security set-keychain-settings </dev/null").status == LOCKED


def test_what_another_program_keeps_is_not_read_where_no_user_can_be_asked(shell):
    assert shell.run("printf x | keychainctl add generic-password --service other").status == 0
    read = shell.run("setsid -w security find-generic-password -s other -w </dev/null")
    assert read.status == LOCKED, read
    assert "x" not in read.text.split()


def test_a_key_that_was_imported_is_an_identity_of_this_program(shell):
    shell.run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30"
              " -keyout k.pem -out c.pem -subj /CN=Machine 2>/dev/null; cat k.pem c.pem > b.pem")
    imported = shell.run("security import b.pem")
    assert (imported.status, imported.text.strip()) == (0, "1 identity imported.")
    assert '"Machine"' in shell.run("security find-identity").text
    exported = shell.run("security export -t privKeys | openssl pkey -pubout | sha256sum")
    assert exported.text == shell.run("openssl pkey -in k.pem -pubout | sha256sum").text
