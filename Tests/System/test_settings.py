# SPDX-License-Identifier: Apache-2.0
"""What the owner of a keychain and the machine's administrator say about closing it."""

import hashlib
import json
import pathlib
import re
import sqlite3
import time

import pytest

import world
from conftest import ALICE
from test_locking import (  # noqa: F401
    GET, LOCKED, logind, reads, server, session, status, wait_until_closed)

BOUNDS = pathlib.Path("/etc/keychain/locking.conf")
SETTINGS = "keychainctl settings "


@pytest.fixture
def shell(login):
    shell = login()
    added = shell.run("printf mail-s3cret | keychainctl add generic-password --service mail"
                      " --account me")
    assert added.status == 0
    return shell


@pytest.fixture
def bounds(daemon):
    def write(text):
        BOUNDS.write_text(text)
        daemon.restart()

    yield write
    BOUNDS.unlink(missing_ok=True)


def is_open(shell):
    return "mail-s3cret" in shell.run(GET.format("mail")).text


def state(shell):
    """Without using it."""
    return status(shell)["state"]


def unlocks_in_the_kernel():
    """Their timeouts, in words of /proc/keys."""
    serials = re.findall(r"(\d+) .* unlock:", world.keys_of_daemon())
    # Each number sees its own.
    lines = [line for number in world.numbers()
             for line in world.as_number(number, "cat", "/proc/keys").stdout.splitlines()]
    return [line.split()[3] for line in lines if int(line.split()[0], 16) in map(int, serials)]


def test_without_settings_time_closes_nothing(shell):
    shown = shell.run(SETTINGS).text
    assert "lock after idle: never" in shown and "lock after: never" in shown
    assert "lock on sleep: yes" in shown and "lock with the screen: yes" in shown
    assert unlocks_in_the_kernel() == ["perm"]


def test_an_idle_keychain_closes_and_says_why(shell):
    assert shell.run(SETTINGS + "--lock-after-idle 4s").status == 0
    world.wait_for(lambda: state(shell) == "lockedAfterFirstUnlock", "the keychain to close")
    assert status(shell)["reason"] == "timedOut"
    assert shell.run(GET.format("mail")).status == LOCKED
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert is_open(shell)


def test_use_keeps_it_open_and_looking_at_the_status_does_not(shell):
    shell.run(SETTINGS + "--lock-after-idle 3s")
    began = time.monotonic()
    while time.monotonic() < began + 5:
        assert is_open(shell)
    world.wait_for(lambda: state(shell) != "unlocked", "the keychain to close")


def test_no_use_keeps_it_open_beyond_the_whole_time(shell):
    assert shell.run(SETTINGS + "--lock-after 3s").status == 0
    world.wait_for(lambda: not is_open(shell), "the keychain to close")
    assert status(shell)["reason"] == "timedOut"


def test_an_unlock_whose_time_is_over_leaves_the_kernel_unasked(shell):
    """By the daemon: the kernel's timeouts follow a clock that is set."""
    shell.run(SETTINGS + "--lock-after 12s")
    assert unlocks_in_the_kernel() == ["perm"]
    world.wait_for(lambda: unlocks_in_the_kernel() == [], "the daemon")
    assert not is_open(shell)


def test_the_time_goes_on_over_a_restart(shell, daemon):
    # From the login's unlock on.
    shell.run(SETTINGS + "--lock-after 20s --lock-after-idle 1d")
    daemon.restart()
    assert is_open(shell)
    world.wait_for(lambda: not is_open(shell), "the keychain to close")


def test_settings_hold_for_the_next_unlock_too(shell):
    shell.run(SETTINGS + "--lock-after 1h")
    shell.run("keychainctl lock")
    shell.run("keychainctl unlock", [ALICE[1]])
    assert status(shell)["settings"]["lockAfter"] == 3600


def test_to_keep_it_open_longer_asks_its_user(shell):
    assert shell.run(SETTINGS + "--lock-after 1h").status == 0
    alone = shell.run(f"setsid -w {SETTINGS} --lock-after never </dev/null 2>&1")
    assert alone.status == LOCKED, alone
    assert shell.run(SETTINGS + "--lock-after 2h", [ALICE[1]]).status == 0
    assert shell.run(SETTINGS + "--lock-after never", ["not it"] * 3).status == 6
    assert status(shell)["settings"]["lockAfter"] == 7200


def test_what_is_open_stays_open_when_its_end_is_taken_away(shell):
    shell.run(SETTINGS + "--lock-after 1h")
    assert shell.run(SETTINGS + "--lock-after never", [ALICE[1]]).status == 0
    assert "lockAfter" not in status(shell)["settings"]
    assert is_open(shell)


def test_a_locked_keychain_s_settings_stay(shell):
    shell.run("keychainctl lock")
    assert shell.run(SETTINGS + "--lock-after 1h").status == LOCKED
    assert shell.run(SETTINGS + "work --lock-after 1h").status == 3


@pytest.mark.parametrize("words", ["--lock-after 0s", "--lock-after 5", "--lock-on-sleep on"])
def test_what_makes_no_sense_changes_nothing(words, shell):
    assert shell.run(SETTINGS + words).status not in (0, 1)


def test_settings_that_were_written_into_the_file_are_not_believed(shell, daemon):
    shell.run(SETTINGS + "--lock-after 1h")
    shell.run("keychainctl lock")
    daemon.stop()
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    with sqlite3.connect(world.STATE / f"{uid}/login.keychain") as file:
        value, = file.execute("SELECT value FROM keybag WHERE name = 'settings'").fetchone()
        forged = bytes([0] * 9) + value[9:41]
        forged += hashlib.blake2b(forged, digest_size=16).digest()
        file.execute("UPDATE keybag SET value = ? WHERE name = 'settings'", (forged,))
    daemon.start()
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    # The strictest there are: a minute without use.
    world.wait_for(lambda: state(shell) != "unlocked", "the keychain to close", 90)
    assert status(shell)["reason"] == "timedOut"


# The screen and sleep


def test_who_wants_it_keeps_a_keychain_open_behind_the_screen_and_in_sleep(
        session, logind, daemon):
    wanted = "--lock-with-screen no --lock-on-sleep no"
    assert session.run(SETTINGS + wanted, [ALICE[1]]).status == 0
    logind.session("c1", "SetLockedHint", True)
    world.wait_for(lambda: "the screen of session c1" in daemon.log(), "the daemon")
    logind.signal("PrepareForSleep", "b", True)
    world.wait_for(lambda: logind.inhibitors() == [], "the daemon")
    assert reads(session) == ["mail", "sync", "wifi"]
    assert "screenLocked" not in json.dumps(status(session))


# The administrator's


def test_the_administrator_s_bounds_count_where_they_are_tighter(shell, bounds):
    bounds("lock-after 1h\nlock-after-idle 10m\n")
    shell.run("keychainctl lock")
    shell.run("keychainctl unlock", [ALICE[1]])
    assert status(shell)["settings"]["lockAfterIdle"] == 600
    assert shell.run(SETTINGS + "--lock-after-idle 2m").status == 0
    assert status(shell)["settings"] == {
        "lockAfter": 3600, "lockAfterIdle": 120, "lockOnSleep": True, "lockWithScreen": True}
    assert shell.run(SETTINGS + "--lock-after-idle never", [ALICE[1]]).status == 0
    assert status(shell)["settings"]["lockAfterIdle"] == 600


def test_bounds_that_come_later_bind_what_is_open(shell, daemon, bounds):
    assert is_open(shell)
    BOUNDS.write_text("lock-after 1s\n")
    world.wait_for(lambda: not is_open(shell), "the keychain to close")


def test_bounds_that_can_t_be_understood_change_nothing_and_are_told(shell, daemon, bounds):
    bounds("lock-after 1h\n")
    BOUNDS.write_text("lock-after 1h\nlock-afterwards 8h\n")
    world.wait_for(lambda: "locking.conf:2: unknown setting or value: write lock-after-idle" in daemon.log(),
                   "the daemon to say so")
    assert status(shell)["settings"]["lockAfter"] == 3600
    daemon.stop()
    before = daemon.log()
    daemon.start()
    assert daemon.process.wait(world.PATIENCE) == 1
    assert "locking.conf:2" in daemon.log().removeprefix(before)
    BOUNDS.write_text("")
    daemon.start()
    assert is_open(shell)


def test_bounds_that_workers_could_not_read_change_nothing_and_are_told(shell, daemon, bounds):
    bounds("lock-after 1h\n")
    BOUNDS.chmod(0o600)
    BOUNDS.write_text("lock-after 8h\n")
    world.wait_for(lambda: "locking.conf: can't be read" in daemon.log(), "a worker to say so")
    assert status(shell)["settings"]["lockAfter"] == 3600
    daemon.stop()
    daemon.start()
    assert daemon.process.wait(world.PATIENCE) == 1
    assert "locking.conf: must be readable by all (chmod a+r)" in daemon.log()


def test_bounds_that_others_could_have_written_are_none(daemon, bounds):
    daemon.stop()
    BOUNDS.write_text("lock-after 1h\n")
    BOUNDS.chmod(0o666)
    daemon.start()
    assert daemon.process.wait(world.PATIENCE) == 1 and "only root can write" in daemon.log()


def test_the_administrator_closes_keychains_behind_the_screen_whatever_their_owners_say(
        session, logind, daemon):
    session.run(SETTINGS + "--lock-with-screen no", [ALICE[1]])
    BOUNDS.write_text("lock-with-screen yes\n")
    try:
        world.wait_for(lambda: status(session)["settings"]["lockWithScreen"], "the bounds")
        logind.session("c1", "SetLockedHint", True)
        wait_until_closed(session)
    finally:
        BOUNDS.unlink()
