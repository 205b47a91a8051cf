# SPDX-License-Identifier: Apache-2.0
"""What the design takes for granted about the kernel's keyrings. Where one of these fails, this
kernel keeps a promise less, and docs/design/sessions.md is to be read again before anything else."""

import os
import subprocess

import pytest

import world
from conftest import ALICE, BOB

TICKET = "ticket=$(keyctl add user keychain:ticket ticket-payload @s);" \
         " keyctl setperm $ticket 0x0b3f0000;"


def uid(who):
    return world.pwd.getpwnam(who[0]).pw_uid


def in_session_of(who, command, before=TICKET):
    """A session keyring as pam_keychain makes it: root puts the ticket in, the user runs on."""
    script = f"{before} keyctl chown @s {uid(who)};" \
             f" export ticket; exec setpriv --reuid {uid(who)} --regid {uid(who)} --clear-groups" \
             f" sh -c '{command}'"
    return subprocess.run(["keyctl", "session", "-", "sh", "-c", script], text=True,
                          capture_output=True, env={**os.environ}, cwd="/", timeout=world.PATIENCE)


def test_a_key_that_can_be_searched_can_be_read_without_the_right_to_read():
    # possessor: view and search; nothing for any other process.
    before = "ticket=$(keyctl add user some:key not-so-secret @s);" \
             " keyctl setperm $ticket 0x09000000;"
    assert in_session_of(ALICE, "keyctl print $ticket", before).stdout.strip() == "not-so-secret"


@pytest.mark.parametrize("attempt", [
    "keyctl update $ticket other", "keyctl revoke $ticket", "keyctl setperm $ticket 0x3f3f3f3f",
    "keyctl chown $ticket $(id -u)", "keyctl link $ticket @u", "keyctl timeout $ticket 1",
])
def test_the_user_of_a_session_cannot_change_its_ticket(attempt):
    done = in_session_of(ALICE, f"{attempt} 2>&1; echo status $?; keyctl print $ticket")
    assert "status 0" not in done.stdout and "ticket-payload" in done.stdout, done


def test_its_user_can_drop_it_and_put_another_of_the_same_name_in_its_place():
    done = in_session_of(
        ALICE, "keyctl unlink $ticket @s && keyctl add user keychain:ticket forged @s")
    planted = done.stdout.strip().splitlines()[-1]
    assert done.returncode == 0 and planted.isdigit()


def test_another_session_of_the_same_user_cannot_read_the_ticket_but_root_can():
    held = subprocess.Popen(
        ["keyctl", "session", "-", "sh", "-c",
         f"{TICKET} echo $ticket; exec setpriv --reuid {uid(ALICE)} --clear-groups cat"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    serial = next(line.strip() for line in held.stdout if line.strip().isdigit())
    assert world.as_user(ALICE[0], "keyctl", "print", serial).returncode != 0
    assert world.as_user(BOB[0], "keyctl", "print", serial).returncode != 0
    assert world.run("keyctl", "print", serial).stdout.strip() == "ticket-payload"
    held.stdin.close()
    held.wait(world.PATIENCE)
    world.wait_for(lambda: world.run("keyctl", "print", serial, check=False).returncode != 0,
                   "the ticket to go with the last process of its session")


def test_a_new_session_of_root_does_not_possess_root_s_user_keyring():
    serial = world.run("keyctl", "add", "user", "keychain-test:unpossessed", "x", "@u").stdout.strip()
    try:
        # What an owner may do who does not possess: look at it.
        done = world.run("keyctl", "session", "-", "keyctl", "print", serial, check=False)
        assert done.returncode != 0
        seen = world.run("keyctl", "session", "-", "keyctl", "rdescribe", serial)
        assert "keychain-test:unpossessed" in seen.stdout
    finally:
        world.run("keyctl", "unlink", serial, "@u")


def test_a_key_past_its_time_cannot_be_read():
    serial = world.run("keyctl", "add", "user", "keychain-test:timed", "x", "@u").stdout.strip()
    try:
        world.run("keyctl", "timeout", serial, "1")
        done = world.wait_for(
            lambda: (lambda r: r if r.returncode else None)(
                world.run("keyctl", "print", serial, check=False)), "the kernel's timeout", 5)
        assert "expired" in done.stderr.lower()
    finally:
        world.run("keyctl", "unlink", serial, "@u", check=False)


def test_a_child_of_another_user_inherits_the_session_keyring():
    before = TICKET + f" setpriv --reuid {uid(BOB)} --clear-groups keyctl print $ticket;"
    assert "ticket-payload" in in_session_of(ALICE, "true", before).stdout


def test_root_reads_root_s_keyrings_without_a_single_capability(daemon, login):
    login()
    world.wait_for(lambda: any(n.startswith("unlock:") for n in world.names_of_keys()),
                   "the unlock")
    serial = next(line.split()[0] for line in world.keys_of_daemon().splitlines()
                  if "unlock:" in line)
    bare = world.run("setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--no-new-privs",
                     "sh", "-c", f"grep CapEff /proc/self/status; keyctl pipe {serial} | wc -c",
                     check=False)
    assert "CapEff:\t0000000000000000" in bare.stdout
    # So what lies there is sealed: one half of the key dies with the session, one with the boot.
    assert int(bare.stdout.split()[-1]) > 0


def test_an_unlock_in_the_keyring_opens_nothing_without_the_vault_key(daemon, login):
    shell = login()
    shell.run("printf s3cret | keychainctl add generic-password --service mail")
    daemon.stop()
    key = world.RUN / f"private/vault-key-{world.number_of(ALICE[0])}"
    assert key.stat().st_mode & 0o777 == 0o600 and key.parent.stat().st_mode & 0o777 == 0o700
    key.unlink()
    daemon.start()
    assert shell.run("keychainctl get generic-password --service mail").status == 4
