# SPDX-License-Identifier: Apache-2.0
"""Credentials that systemd gives the service, and that open a keychain."""

import os

import pytest

from test_protectors import (  # noqa: F401 (fixtures)
    GET, PASSWORDS, enter, identifier, shell, unlocks_at_login)

ADD = "keychainctl protector add credential --name disk"


@pytest.fixture
def given(tmp_path, daemon):
    """Starts the daemon anew with these credentials, as systemd lays them out."""
    folder = tmp_path / "credentials"
    folder.mkdir(mode=0o700)

    def give(mode=0o400, **secrets):
        for file in folder.iterdir():
            file.unlink()
        for name, secret in secrets.items():
            (folder / f"keychain.{name}").write_bytes(secret)
            (folder / f"keychain.{name}").chmod(mode)
        daemon.stop()
        daemon.start(environment={"CREDENTIALS_DIRECTORY": str(folder)})

    return give


def test_a_credential_opens_the_keychain_at_a_login_without_a_password(shell, given, daemon):
    given(disk=os.urandom(32))
    assert shell.run(ADD + " --at-login", PASSWORDS).status == 0
    assert "credential, “disk”, opens at a login" in shell.run("keychainctl protector list").text
    number = identifier(shell, "credential")
    assert shell.run(f"keychainctl protector test {number}").status == 0
    enter("door")
    (opened,) = unlocks_at_login(daemon)
    assert opened["outcome"] == "allowed"


def test_it_opens_after_a_restart_with_the_same_one_and_with_no_other(shell, given):
    secret = os.urandom(4096)
    given(disk=secret)
    assert shell.run(ADD, PASSWORDS).status == 0
    test = f"keychainctl protector test {identifier(shell, 'credential')}"
    given(disk=secret, other=os.urandom(32))
    assert shell.run(test).status == 0
    given(disk=secret[:-1] + bytes([secret[-1] ^ 1]))
    refused = shell.run(test)
    assert refused.status == 1 and "not what this protector was made with" in refused.text
    given(other=secret)
    refused = shell.run(test)
    assert refused.status == 1 and "no such thing" in refused.text


@pytest.mark.parametrize("secret, mode", [(b"a" * 31, 0o400), (b"a" * 32, 0o444), (b"", 0o400)])
def test_what_could_be_guessed_or_read_is_no_credential(secret, mode, shell, given):
    given(disk=secret, mode=mode)
    refused = shell.run(ADD, PASSWORDS)
    assert refused.status == 1 and "no such thing" in refused.text


def test_a_name_of_no_credential_is_none(shell, given):
    given(disk=os.urandom(32))
    refused = shell.run(ADD.replace("disk", "../disk"), PASSWORDS)
    assert refused.status == 1 and "no such thing" in refused.text
    assert shell.run(GET).text.strip() == "s3cret"
