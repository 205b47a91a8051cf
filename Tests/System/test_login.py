# SPDX-License-Identifier: Apache-2.0
"""What real logins do to the login keychain."""

import json
import time

import pytest

import world
from conftest import ALICE, BOB

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me"
# Where no user can be asked.
ALONE = f"setsid -w {GET} </dev/null 2>&1"


def test_the_first_login_makes_the_keychain_and_opens_it(login, daemon):
    shell = login()
    assert "“login”: unlocked" in shell.run("keychainctl status").text
    assert shell.run(ADD).status == 0
    assert shell.run(GET).text.strip() == "s3cret"
    assert "made the login keychain" in daemon.log()


def test_the_second_login_opens_what_the_first_made(login, daemon):
    first = login()
    assert first.run(ADD).status == 0
    first.close()
    assert login().run(GET).text.strip() == "s3cret"
    assert daemon.log().count("made the login keychain") == 1


def test_a_wrong_password_gets_neither_a_login_nor_a_keychain(login, daemon):
    with pytest.raises(PermissionError):
        login((ALICE[0], "not the password"))
    assert "login of uid" not in daemon.log()
    assert not list(world.STATE.glob("*/login.keychain"))


def test_nothing_is_open_after_the_logout(login):
    shell = login()
    shell.run(ADD)
    shell.close()
    world.wait_for(lambda: not any(name.startswith(("unlock:", "session:"))
                                   for name in world.names_of_keys() + world.names_of_records()),
                   "the session's keys to go")
    refused = world.as_user(ALICE[0], world.CONTROL, *GET.split()[1:])
    assert refused.returncode == 4, refused
    assert "s3cret" not in refused.stdout + refused.stderr


def test_one_of_two_logins_ends_and_the_other_stays_open(login):
    first, second = login(), login()
    assert first.run(ADD).status == 0
    first.close()
    assert second.run(GET).text.strip() == "s3cret"


def test_a_killed_login_closes_what_it_opened(login, sshd):
    shell = login()
    shell.run(ADD)
    leader = world.run("pgrep", "-f", f"sshd: {ALICE[0]} \\[priv\\]", check=False).stdout.split()
    if not leader:
        leader = world.run("pgrep", "-f", f"{ALICE[0]} .priv.").stdout.split()
    for pid in leader:
        world.run("kill", "-KILL", pid)
    world.wait_for(lambda: world.as_user(ALICE[0], world.CONTROL, *GET.split()[1:]).returncode == 4,
                   "the keychain to lock")


def test_linking_the_session_keyring_elsewhere_keeps_nothing_open(login):
    shell = login()
    shell.run(ADD)
    # pam_keyinit has linked the user keyring the other way; a ring of rings is refused.
    assert shell.run("keyctl unlink @u @s; keyctl link @s @u").status == 0
    shell.close()
    world.wait_for(lambda: world.as_user(ALICE[0], world.CONTROL, *GET.split()[1:]).returncode == 4,
                   "the keychain to lock")
    world.as_user(ALICE[0], "keyctl", "clear", "@u")


def test_another_user_finds_nothing(login):
    shell = login()
    shell.run(ADD)
    other = login(BOB)
    found = other.run(GET)
    assert found.status == 3 and "s3cret" not in found.text
    assert other.run(f"ls {world.STATE}/$(id -u {ALICE[0]})").status != 0


def test_becoming_another_user_opens_nothing_of_that_user_s(login):
    login().run(ADD)
    login(BOB)
    # As root on Bob's behalf, with Bob's session keyring inherited, as su and sudo do.
    seen = world.run("setpriv", "--reuid", ALICE[0], "--regid", ALICE[0], "--init-groups",
                     world.CONTROL, "status", check=False)
    assert "session: unknown" in seen.stdout


def test_a_restarted_daemon_keeps_what_is_unlocked(login, daemon):
    shell = login()
    shell.run(ADD)
    daemon.restart()
    assert shell.run(GET).text.strip() == "s3cret"


def test_a_program_that_runs_on_reads_on_after_a_restart(login, daemon):
    shell = login()
    shell.run("security add-generic-password -s mail -a me -w s3cret")
    shell.run("mkfifo words; security -i <words >said 2>&1 & exec 3>words")
    find = "echo find-generic-password -s mail -w >&3"
    heard = "until grep -c s3cret said | grep -qx {}; do sleep 0.05; done"
    shell.run(f"{find}; {heard.format(1)}")
    daemon.restart()
    # The connection that it had has ended, and the first request goes on another.
    shell.run(find)
    assert shell.run("exec 3>&-; wait; cat said; rm said words").text.count("s3cret") == 2


@pytest.mark.parametrize("how", ["stopped", "hung", "hung for its user alone"])
def test_a_login_waits_at_most_two_and_a_half_seconds_for_a_daemon_that_is(how, login, daemon):
    login().close()
    usual = login().seconds
    if how == "stopped":
        daemon.stop()
    else:
        hung = daemon.pid if how == "hung" else daemon.worker(ALICE[0])
        world.os.kill(hung, world.signal.SIGSTOP)
    shell = login()
    assert shell.seconds < usual + 2.5 + world.PATIENCE / 3
    began = time.monotonic()
    result = shell.run(GET)
    assert result.status == 1 and "does not answer" in result.text
    assert time.monotonic() - began < world.PATIENCE


def test_a_login_while_the_daemon_starts_opens_the_keychain_until_its_end(login, daemon):
    """As at a machine's start: the socket takes connections, and answers come too late."""
    with world.stopped(daemon.pid):
        shell = login()
    world.wait_for(lambda: "“login”: unlocked" in shell.run("keychainctl status").text,
                   "the keychain to open")
    assert shell.run(ADD).status == 0 and shell.run(GET).text.strip() == "s3cret"
    shell.close()
    world.wait_for(lambda: world.as_user(ALICE[0], world.CONTROL, *GET.split()[1:]).returncode == 4,
                   "the keychain to lock")


def test_a_daemon_killed_in_the_middle_leaves_a_clear_word(login, daemon):
    shell = login()
    shell.run(ADD)
    daemon.stop(world.signal.SIGKILL)
    result = shell.run(GET)
    assert result.status == 1 and "does not answer" in result.text
    daemon.start()
    assert shell.run(GET).text.strip() == "s3cret"


def test_a_login_by_public_key_stays_locked_and_says_why(login, sshd, tmp_path):
    login().run(ADD)
    key = tmp_path / "key"
    world.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    home = world.pathlib.Path(world.pwd.getpwnam(ALICE[0]).pw_dir)
    (home / ".ssh").mkdir(exist_ok=True)
    (home / ".ssh/authorized_keys").write_text(key.with_suffix(".pub").read_text())
    world.run("pkill", "-KILL", "-u", ALICE[0], check=False)
    world.wait_for(lambda: not any(n.startswith("unlock:") for n in world.names_of_keys()),
                   "the first login's end")
    shell = login(ALICE, "-i", str(key), password=False)
    status = shell.run("keychainctl status").text
    assert "locked" in status and "password" in status
    assert shell.run(GET).status == 4
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"
    (home / ".ssh/authorized_keys").unlink()


def test_a_keyboard_interactive_login_stays_locked_until_it_is_unlocked(
        login, tmp_path_factory):
    login().run(ADD)
    world.run("pkill", "-KILL", "-u", ALICE[0], check=False)
    server = world.SSHServer(tmp_path_factory.mktemp("kbd"), "keychain-test-kbd",
                             interactive=True).start()
    try:
        shell = login(server=server)
        assert shell.run(GET).status == 4
        assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
        assert shell.run(GET).text.strip() == "s3cret"
    finally:
        server.stop()


PASSWD_STACK = f"""auth required pam_unix.so
account required pam_unix.so
password required pam_unix.so
password optional {world.MODULE} timeout_ms=2000
"""
NEW = "another horse 3"


@pytest.fixture
def first_password_again():
    yield
    world.make_account(*ALICE)


def end_logins():
    world.run("pkill", "-KILL", "-u", ALICE[0], check=False)
    world.wait_for(lambda: not any(n.startswith("unlock:") for n in world.names_of_keys()),
                   "the logins' end")


def test_the_keychain_follows_a_password_that_its_owner_changes(login, first_password_again):
    shell = login()
    shell.run(ADD)
    world.write_service("passwd", PASSWD_STACK)
    assert shell.run("passwd", [ALICE[1], NEW, NEW]).status == 0
    end_logins()
    assert login((ALICE[0], NEW)).run(GET).text.strip() == "s3cret"


def test_after_a_reset_by_root_the_old_password_mends_the_keychain(login, first_password_again):
    prove(login)
    world.make_account(ALICE[0], NEW)
    shell = login((ALICE[0], NEW))
    assert shell.run(ALONE).status == 4
    assert "password" in shell.run("keychainctl status").text
    assert shell.run("keychainctl unlock", [NEW]).status == 6
    mended = shell.run("keychainctl unlock", [ALICE[1]])
    assert mended.status == 0 and "next login opens it" in mended.text
    end_logins()
    shell = login((ALICE[0], NEW))
    assert shell.run(GET).text.strip() == "s3cret"
    # In step again: the old password is over.
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 6
    assert shell.run("keychainctl unlock", [NEW]).status == 0


def prove(login):
    """A keychain that two logins with the same password have opened."""
    login().run(ADD)
    end_logins()
    assert login().run(GET).text.strip() == "s3cret"
    end_logins()


def test_the_old_password_opens_a_changed_keychain_until_a_login_has_used_the_new_one(
        login, daemon, first_password_again):
    prove(login)
    shell = login()
    world.write_service("passwd", PASSWD_STACK)
    assert shell.run("passwd", [ALICE[1], NEW, NEW]).status == 0
    status = shell.run("keychainctl status").text
    assert "the old one opens it too" in status
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", [NEW]).status == 0
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    end_logins()
    shell = login((ALICE[0], NEW))
    assert "the old one opens it too" not in shell.run("keychainctl status").text
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 6


def test_a_change_that_fails_behind_us_leaves_the_old_password_working(login):
    prove(login)
    shell = login()
    # Then root takes back what pam_unix did.
    world.write_service("passwd", PASSWD_STACK + "password required pam_deny.so\n")
    assert shell.run("passwd", [ALICE[1], NEW, NEW]).status != 0
    world.make_account(*ALICE)
    end_logins()
    for _ in range(2):
        shell = login()
        assert shell.run(GET).text.strip() == "s3cret"
        end_logins()


def test_a_keychain_that_a_first_login_made_is_provisional_until_a_second(login, daemon):
    assert "Until a second one has opened it" in login().run("keychainctl status").text
    end_logins()
    assert "Until a second one" not in login().run("keychainctl status").text
    assert "a login proved the login keychain's password" in daemon.log()


def test_a_first_login_s_one_time_code_locks_no_user_out(login, daemon, first_password_again):
    # The first password was, as far as the keychain can tell, a password and a code.
    world.make_account(ALICE[0], ALICE[1] + "123456")
    shell = login((ALICE[0], ALICE[1] + "123456"))
    shell.run(ADD)
    secret = "printf deep | keychainctl add generic-password --service deep --account me"
    assert shell.run(secret + " --accessible when-passcode-set-this-device-only").status == 0
    end_logins()
    world.make_account(*ALICE)
    shell = login()
    assert shell.run(GET).text.strip() == "s3cret"
    deep = "keychainctl get generic-password --service deep"
    assert shell.run(deep).text.strip() == "deep"
    assert "was provisional" in daemon.log()
    end_logins()
    # Proven now: the next other password opens nothing.
    shell = login()
    assert "Until a second one" not in shell.run("keychainctl status").text
    end_logins()
    world.make_account(ALICE[0], NEW)
    assert login((ALICE[0], NEW)).run(ALONE).status == 4


def test_logins_and_what_they_unlocked_are_in_the_audit(login, daemon):
    shell = login()
    assert "“login”: unlocked" in shell.run("keychainctl status").text
    shell.close()
    world.wait_for(lambda: "logout" in daemon.log(), "the logout")
    daemon.stop()
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    records = [json.loads(line) for line in world.audit_text().splitlines()]
    mine = {(r["operation"], r["outcome"]) for r in records if r["user"] == uid}
    assert {("login", "allowed"), ("unlock", "allowed"), ("logout", "allowed")} <= mine, mine
    assert all(r["program"].startswith("exe:") for r in records if r["operation"] == "login")


def test_what_a_broken_first_login_left_behind_stops_no_later_one(login, daemon):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    folder = world.STATE / str(uid)
    daemon.stop()
    folder.mkdir(mode=0o700, exist_ok=True)
    left = folder / "login.device-secret"
    left.write_bytes(b"\1" * 32)
    left.chmod(0o600)
    daemon.start()
    shell = login()
    assert shell.run("keychainctl status").text.count("“login”: unlocked") == 1
    assert left.read_bytes() != b"\1" * 32
