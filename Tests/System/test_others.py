# SPDX-License-Identifier: Apache-2.0
"""What su, sudo, cron and a finger do with other people's keychains, even where an
administrator put our lines into their stacks: nothing that a password of the keychain's owner did
not do."""

import contextlib
import sqlite3
import subprocess
import sys

import pytest

import world
from conftest import ALICE, BOB

STACK = f"""auth required pam_unix.so
auth optional {world.MODULE} unlock
account required pam_unix.so
session optional pam_keyinit.so force revoke
session optional {world.MODULE}
"""
CRON = STACK.replace("auth required pam_unix.so", "auth required pam_permit.so")
# A password that was not right, and then a finger that was.
FINGER = STACK.replace("auth required pam_unix.so",
                       "auth [success=1 default=ignore] pam_unix.so nodelay\n"
                       "auth required pam_permit.so")


def keybag(who=ALICE):
    """What opens the user's keychain; None where there is none."""
    file = world.STATE / str(world.pwd.getpwnam(who[0]).pw_uid) / "login.keychain"
    if not file.exists():
        return None
    with contextlib.closing(sqlite3.connect(file)) as database:
        return sorted(database.execute("SELECT name, hex(value) FROM keybag"))


def is_open(who=ALICE):
    return "“login”: unlocked" in world.as_user(who[0], world.CONTROL, "status").stdout


def end_logins():
    for who in (ALICE, BOB):
        world.run("pkill", "-KILL", "-u", who[0], check=False)
    world.wait_for(lambda: not any(n.startswith("unlock:") for n in world.names_of_keys()),
                   "the logins' end")


@contextlib.contextmanager
def session(way, *names, password="", options=""):
    """`options`: of the module."""
    stack = {"sudo": STACK, "cron": CRON}[way]
    world.write_service(
        f"keychain-test-{way}", stack.replace(str(world.MODULE), f"{world.MODULE} {options}"))
    host = subprocess.Popen([sys.executable, world.TOP / "Tests/System/pam_host.py", way, *names],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    host.stdin.write(password + "\n")
    host.stdin.flush()
    assert host.stdout.readline() == "open\n"
    yield
    host.stdin.close()
    assert host.wait(world.PATIENCE) == 0
    host.stdout.close()


def su(who, passwords, stack, caller=None):
    world.write_service("su-l", stack)
    command = ["su", "-l", who[0]]
    if caller:
        command = ["setpriv", "--reuid", caller[0], "--regid", caller[0], "--init-groups", *command]
    return world.Terminal(command, passwords)


# None, a provisional one, a proven one, and one whose password was changed.
LIVES = ("none", "provisional", "proven", "changed")


@pytest.fixture(params=LIVES)
def life(request, login, daemon):
    yield lead(request.param, login)
    world.make_account(*ALICE)
    (world.pathlib.Path("/etc/pam.d/su-l")).unlink(missing_ok=True)


def lead(life, login):
    for _ in range(LIVES.index(life)):
        login().run("keychainctl status")
        end_logins()
    if life == "changed":
        shell = login()
        world.write_service("passwd", f"password required pam_unix.so\n"
                            f"password optional {world.MODULE}\naccount required pam_unix.so\n")
        assert shell.run("passwd", [ALICE[1], "another horse 3", "another horse 3"]).status == 0
        end_logins()
    return life


def test_sudo_with_its_caller_s_password_changes_no_keychain(life, login):
    login(BOB).run("keychainctl status")
    before = keybag(), keybag(BOB)
    with session("sudo", BOB[0], ALICE[0], password=BOB[1]):
        assert not is_open(ALICE)
        assert (keybag(), keybag(BOB)) == before
    assert (keybag(), keybag(BOB)) == before


def test_a_session_of_cron_changes_no_keychain(life):
    before = keybag()
    with session("cron", ALICE[0]):
        assert not is_open()
    assert keybag() == before


def test_root_s_su_changes_no_keychain(life):
    before = keybag()
    shell = su(ALICE, (), STACK.replace("auth required pam_unix.so",
                                        "auth sufficient pam_rootok.so"))
    assert "“login”: unlocked" not in shell.run("keychainctl status").text
    shell.close()
    assert keybag() == before


def test_su_with_a_wrong_password_changes_no_keychain(life):
    before = keybag()
    with pytest.raises((PermissionError, world.pexpect.exceptions.EOF)):
        su(ALICE, ("not the password",), STACK.replace("pam_unix.so", "pam_unix.so nodelay", 1),
           caller=BOB)
    assert not is_open()
    assert keybag() == before


def test_su_with_the_owner_s_password_is_the_owner_s_login(login, daemon):
    lead("proven", login)
    shell = su(ALICE, (ALICE[1],), STACK, caller=BOB)
    assert "“login”: unlocked" in shell.run("keychainctl status").text
    shell.close()
    assert keybag(BOB) is None


def test_a_wrong_password_before_a_finger_opens_nothing_that_is_proven(login, daemon):
    lead("proven", login)
    before = keybag()
    shell = su(ALICE, ("not the password",), FINGER, caller=BOB)
    assert "login's password is not the keychain's" in shell.run("keychainctl status").text
    assert keybag() == before
    # Let in by the keychain's own password, and gone with the next login.
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    shell.close()
    end_logins()
    shell = login()
    assert "“login”: unlocked" in shell.run("keychainctl status").text
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", ["not the password"]).status == 6


def test_a_wrong_password_before_a_finger_locks_no_user_out_of_a_new_keychain(login, daemon):
    shell = su(ALICE, ("not the password",), FINGER, caller=BOB)
    assert "“login”: unlocked" in shell.run("keychainctl status").text
    shell.close()
    end_logins()
    assert "“login”: unlocked" in login().run("keychainctl status").text
    end_logins()
    assert "“login”: unlocked" in login().run("keychainctl status").text
    assert "was provisional" in daemon.log()
