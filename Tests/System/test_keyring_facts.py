# SPDX-License-Identifier: Apache-2.0
"""What the design takes for granted about the kernel's keyrings. Where one of these fails, this
kernel keeps a promise less, and docs/design/sessions.md is to be read again before anything else."""

import itertools
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


def test_a_number_reads_its_keyring_without_a_single_capability_and_root_with_all_does_not(
        daemon, login):
    login()
    world.wait_for(lambda: any(n.startswith("unlock:") for n in world.names_of_keys()),
                   "the unlock")
    serial = next(line.split()[0] for line in world.keys_of_daemon().splitlines()
                  if "unlock:" in line)
    own = world.as_number(world.worker_number(ALICE[0]), "sh", "-c",
                          f"grep CapEff /proc/self/status; keyctl pipe {serial} | wc -c")
    assert "CapEff:\t0000000000000000" in own.stdout
    # So what lies there is sealed: one half of the key dies with the session, one with the boot.
    assert int(own.stdout.split()[-1]) > 0
    # Root may become the number; as root it has no such right.
    assert world.run("keyctl", "pipe", serial, check=False).returncode != 0


def test_an_unlock_in_the_keyring_opens_nothing_without_the_vault_key(daemon, login):
    shell = login()
    shell.run("printf s3cret | keychainctl add generic-password --service mail")
    daemon.stop()
    key = world.RUN / f"private/vault-key-{world.number_of(ALICE[0])}"
    assert key.stat().st_mode & 0o777 == 0o600 and key.parent.stat().st_mode & 0o777 == 0o700
    key.unlink()
    daemon.start()
    assert shell.run("keychainctl get generic-password --service mail").status == 4


# Of no account. Another one each time: what a number's last session left is tidied up later.
NUMBERS = itertools.count(61_800)


def counts(script):
    """Keys and bytes that the kernel counts for a user number, each time that the script says `count`."""
    number = next(NUMBERS)
    count = f"count() {{ grep '^ *{number}:' /proc/key-users; }};"
    done = world.run("setpriv", "--reuid", number, "--regid", number, "--clear-groups",
                     "keyctl", "session", "-", "sh", "-c",
                     f"{count} ring=$(keyctl newring facts @s); count; {script}")
    lines = [line.split() for line in done.stdout.splitlines() if line.strip().startswith(f"{number}:")]
    first, *others = [[int(field.split("/")[0]) for field in line[3:5]] for line in lines]
    return [(keys - first[0], size - first[1]) for keys, size in others]


def test_a_key_counts_with_its_name_a_zero_its_content_and_four_bytes_for_its_link():
    assert counts("keyctl add user 1234567 12345678901234567890 $ring; count;"
                  " keyctl add user 1 22 $ring; count") == [(1, 32), (2, 40)]


def test_an_updated_key_counts_at_once_for_what_it_has_and_a_replaced_one_no_longer_than_a_moment():
    updated, = counts("key=$(keyctl add user name 1 $ring);"
                      " for i in $(seq 50); do keyctl update $key 1234567890; done; count")
    assert updated == (1, 4 + 1 + 10 + 4)
    replaced, = counts("for i in $(seq 50); do key=$(keyctl add user name 1234567890 @s);"
                       " keyctl link $key $ring; keyctl unlink $key @s; done; sleep 1; count")
    assert replaced == (1, 4 + 1 + 10 + 4)


def test_a_revoked_key_keeps_its_place_while_it_is_linked_and_an_invalidated_one_does_not():
    assert counts("key=$(keyctl add user name 1234567890 $ring); keyctl revoke $key; sleep 1; count;"
                  " keyctl unlink $key $ring; sleep 1; count") == [(1, 4 + 1 + 4), (0, 0)]
    assert counts("key=$(keyctl add user name 1234567890 $ring); keyctl unlink $key $ring;"
                  " keyctl invalidate $key; sleep 1; count") == [(0, 0)]


def test_a_keyring_counts_the_links_of_keys_that_were_invalidated_in_it():
    # So they are unlinked first.
    assert counts("for i in 1 2 3; do key=$(keyctl add user name$i x $ring);"
                  " keyctl invalidate $key; done; sleep 1; count") == [(0, 12)]
