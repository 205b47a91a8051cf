# SPDX-License-Identifier: Apache-2.0
"""Security keys that open a keychain. In the place of the keys that are plugged in the private world
has some in software, behind libfido2: its keychain-fido is the tests' own, and all else the
product's."""

import pathlib
import shutil

import pytest

import world
from conftest import ALICE
from test_protectors import (  # noqa: F401 (fixtures)
    GET, PASSWORDS, by_key, enter, identifier, rule, shell, typed, unlocks_at_login)

ADD_KEY = "keychainctl protector add fido2"
UNLOCK = "keychainctl unlock --security-key"
PROGRAM = world.PREFIX / "libexec/keychain/keychain-fido"
SOFTWARE = world.TOP / ".build/release/keychain-fido-soft"
KEYS = pathlib.Path("/etc/keychain/software-keys")


@pytest.fixture
def plug(tmp_path, daemon):
    """Plugs in these keys, a line each, and no others."""
    shutil.copy2(PROGRAM, tmp_path / "kept")
    PROGRAM.unlink()
    shutil.copy(SOFTWARE, PROGRAM)

    def plug(*keys):
        KEYS.write_text("".join(key + "\n" for key in keys))

    yield plug
    shutil.copy2(tmp_path / "kept", PROGRAM)
    KEYS.unlink(missing_ok=True)


def is_open(shell):
    return shell.run(GET).text.strip() == "s3cret"


def test_a_touch_opens_the_keychain_of_the_key_s_owner(shell, plug):
    plug("one touched")
    added = shell.run(ADD_KEY, PASSWORDS)
    assert added.status == 0 and "twice" in added.text, added
    assert "fido2" in shell.run("keychainctl protector list").text
    shell.run("keychainctl lock")
    plug("another touched", "one touched")
    assert shell.run(UNLOCK).status == 0
    assert is_open(shell)


def test_another_key_an_untouched_one_and_none_open_nothing(shell, plug):
    plug("one touched")
    assert shell.run(ADD_KEY, PASSWORDS).status == 0
    number = identifier(shell, "fido2")
    shell.run("keychainctl lock")
    plug("another touched")
    refused = shell.run(UNLOCK)
    assert refused.status == 1 and "not what this protector was made with" in refused.text
    plug("one left")
    assert shell.run(UNLOCK).status == 6
    plug()
    refused = shell.run(f"keychainctl protector test {number}")
    assert refused.status == 1 and "FIDO2 key" in refused.text
    assert shell.run(GET).status == 4


def test_a_key_with_a_pin_wants_it_each_time(shell, plug):
    plug("one touched 4711")
    added = typed(shell, ADD_KEY + " --pin", ALICE[1], "4711", ALICE[1])
    assert added.status == 0, added
    assert "with its PIN" in shell.run("keychainctl protector list").text
    shell.run("keychainctl lock")
    wrong = typed(shell, UNLOCK, "4712")
    assert wrong.status == 6 and "PIN" in wrong.text, wrong
    assert shell.run(GET).status == 4
    assert typed(shell, UNLOCK, "4711").status == 0
    assert is_open(shell)


def test_a_key_that_was_removed_opens_nothing(shell, plug):
    plug("one touched")
    assert shell.run(ADD_KEY, PASSWORDS).status == 0
    number = identifier(shell, "fido2")
    assert shell.run(f"keychainctl protector remove {number}", [ALICE[1]]).status == 0
    shell.run("keychainctl lock")
    assert shell.run(UNLOCK).status == 3


def test_no_key_is_plugged_in_here(shell):
    refused = shell.run(ADD_KEY, PASSWORDS)
    assert refused.status == 1 and "one FIDO2 key" in refused.text


# Logins without a password.


def test_at_a_login_at_the_machine_a_touch_is_enough_and_is_presence(shell, plug, rule, daemon):
    plug("one touched")
    assert shell.run(ADD_KEY + " --at-login", PASSWORDS).status == 0
    rule("require: presence, operations: unlock")
    enter("door")
    plug("one left")
    enter("door")
    found = [record["outcome"] for record in unlocks_at_login(daemon)]
    assert found == ["allowed", "authenticationFailed"]


def test_a_login_from_afar_is_not_opened_by_a_touch_here(shell, plug, by_key, daemon):
    plug("one touched")
    assert shell.run(ADD_KEY + " --at-login", PASSWORDS).status == 0
    assert by_key().run(GET).status == 4
    (refused,) = unlocks_at_login(daemon)
    assert refused["because"] == ["base.unlock-touch-here"]


def test_no_pin_is_typed_at_a_login(shell):
    assert shell.run(ADD_KEY + " --at-login --pin").status == 2
