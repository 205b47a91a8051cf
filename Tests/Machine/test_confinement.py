# SPDX-License-Identifier: Apache-2.0
"""Our own programs under their AppArmor profiles: what each is for goes on, which `guest` holds in
every test, and what it is not for does not."""

import json

import pytest
from conftest import ALICE

PROFILES = {"keychain-import", "keychain-tpm", "keychain-fido", "keychain-prompter",
            "keychain-secrets"}
ADD = "printf kept | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail </dev/null"
SECRETS = ("busctl --user call org.freedesktop.secrets /org/freedesktop/secrets"
           " org.freedesktop.Secret.Service ")


def confined(guest, program):
    """Under which profiles it runs."""
    return set(guest.run(f"find /proc -mindepth 2 -maxdepth 2 -name exe -lname '{program}'"
                         " -printf '%h/attr/current\\n' 2>/dev/null | xargs cat").text.splitlines())


@pytest.mark.short
def test_our_programs_do_their_work_under_their_profiles(guest):
    told = json.loads(guest.run("aa-status --json").text)["profiles"]
    assert {name: told.get(name) for name in PROFILES} == dict.fromkeys(PROFILES, "enforce")

    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD).status == 0
    # keychain-import: a backup, and back.
    assert console.run("keychainctl backup mine.backup", [ALICE[1]]).status == 0
    assert console.run("keychainctl restore mine.backup", [ALICE[1]]).status == 0
    assert console.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert console.run(GET).text.strip() == "kept"
    # keychain-fido, of which no device is here.
    added = console.run("keychainctl protector add fido2", [ALICE[1]] * 2)
    assert added.status != 0 and "does not answer, or refused" not in added.text, added.text
    # keychain-prompter, on another terminal and on this one.
    other = guest.consoles[1].login(*ALICE)
    other.send("keychainctl prompter")
    other.terminal.expect("waiting")
    assert confined(guest, "/usr/libexec/keychain/keychain-prompter") == {
        "keychain-prompter (enforce)"}
    other.terminal.send("\x03")
    other.terminal.expect_exact(other.PROMPT)
    assert console.run("keychainctl add generic-password --service bank --flags user-presence <<<x"
                       ).status == 0
    assert console.run("keychainctl get generic-password --service bank", [ALICE[1]]).status == 0
    # keychain-secrets, on the user's bus.
    assert console.run("keychainctl secrets enable").status == 0
    alias = console.run(SECRETS + "ReadAlias s default")
    assert alias.status == 0 and "/org/freedesktop/secrets/collection/" in alias.text, alias.text
    found = console.run(SECRETS + "SearchItems 'a{ss}' 0")
    assert found.status == 0, found.text
    assert confined(guest, "/usr/libexec/keychain/keychain-secrets") == {
        "keychain-secrets (enforce)"}
    console.logout()


@pytest.mark.short
def test_under_its_profile_a_program_writes_and_starts_nothing_of_the_machine_s(guest):
    """As root, in the place of each program."""
    for profile in sorted(PROFILES):
        for command in "echo >/etc/keychain-test", "/bin/true":
            done = guest.run(f"aa-exec -p {profile} -- /bin/sh -c '{command}'", check=False)
            assert done.status != 0 and "ermission denied" in done.text, (profile, command, done)
    assert guest.run("test -e /etc/keychain-test", check=False).status == 1
    assert len(guest.denials()) >= len(PROFILES)
    # These were meant.
    guest.run("dmesg --clear")
