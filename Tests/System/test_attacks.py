# SPDX-License-Identifier: Apache-2.0
"""A second program of the same user, and other users: what they try, and that they get nothing."""

import os
import pathlib
import shutil

import pytest

import wire
import world
from conftest import ALICE, BOB

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = ("get", "generic-password", "--service", "mail")
TOOLS = pathlib.Path("/run/keychain-attacker")


@pytest.fixture(scope="module", autouse=True)
def tools():
    """Python and the attacker's script where every user can read them; gone with the world."""
    world.run("mount", "-t", "tmpfs", "-o", "mode=0755", "attacker",
              make_folder(TOOLS))
    for name in ("wire.py", "attacker.py"):
        shutil.copy(world.TOP / "Tests/System" / name, TOOLS)
    yield
    world.run("umount", "-l", TOOLS)
    TOOLS.rmdir()


def make_folder(path):
    path.mkdir(exist_ok=True)
    return path


def attack(*words, who=ALICE):
    done = world.as_user(who[0], "/usr/bin/python3", "-B", TOOLS / "attacker.py", *words)
    assert done.returncode == 0, done
    return done.stdout.strip()


@pytest.fixture
def victim(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


def test_nobody_speaks_through_a_trusted_program_s_connection(victim):
    assert attack("speak_through_a_trusted_program_s_connection", "/usr/bin/sleep") == "hung up"


def test_a_program_that_becomes_another_gets_nothing_in_either_name(victim):
    # READ_ANYTHING finds nothing for python; for a changed program it is not even looked for.
    said = attack("become_another_program_after_connecting").split()
    assert said in ([], ["8", str(wire.REFUSED_NOT_ENTITLED)], ["8", str(wire.REFUSED_NOT_FOUND)])


def test_a_bind_mount_does_not_lend_another_program_s_name(victim):
    enter = world.as_user(ALICE[0], "unshare", "-Urm", "true")
    if enter.returncode != 0:
        pytest.skip("no user namespaces for users here")
    seen = world.as_user(
        ALICE[0], "unshare", "-Urm", "sh", "-c",
        f"mount --bind /usr/bin/python3 {world.CONTROL} &&"
        f" {world.CONTROL} -B {TOOLS / 'attacker.py'} read_anything")
    assert seen.stdout.strip() == str(wire.REFUSED_NOT_ENTITLED), seen


def test_a_copy_of_a_program_is_another_program(victim):
    home = pathlib.Path(world.pwd.getpwnam(ALICE[0]).pw_dir)
    shutil.copy(world.CONTROL, home / "copy")
    found = world.as_user(ALICE[0], home / "copy", *GET)
    assert found.returncode == 3 and "s3cret" not in found.stdout


def test_a_frame_is_heard_once(victim):
    assert attack("replay_a_frame") == "first True, again False"


def test_a_frame_of_one_connection_means_nothing_on_another(victim):
    assert attack("replay_on_another_connection") == "answered False"


def test_only_the_installed_prompter_may_be_one(victim):
    assert attack("register_as_prompter") == str(wire.REFUSED_NOT_ENTITLED)
    assert attack("attach_as_prompter") == str(wire.REFUSED_NOT_ENTITLED)


def test_the_installed_prompter_knows_no_question_that_was_not_asked(victim):
    asked = victim.run(f"{world.PREFIX}/libexec/keychain/keychain-prompter --challenge " + "00" * 16)
    assert asked.status != 0


def test_nobody_traces_the_daemon(victim, daemon):
    assert attack("trace", str(daemon.pid)) == "Operation not permitted"
    assert world.as_user(ALICE[0], "cat", f"/proc/{daemon.pid}/environ").returncode != 0


def test_nobody_traces_the_prompter(victim):
    victim.run("(script -qc 'keychainctl prompter' /dev/null >/dev/null 2>&1 < /dev/zero &)")
    pid = world.wait_for(lambda: world.run("pgrep", "keychain-prompt", check=False).stdout.split(),
                         "the prompter to start")[0]
    assert attack("trace", pid) == "Operation not permitted"
    world.run("kill", "-KILL", pid)


def test_no_key_of_the_kernel_gives_a_program_a_secret(victim):
    got = eval(victim.run(f"/usr/bin/python3 -B {TOOLS / 'attacker.py'} read_every_key").text)
    # The ticket may be read in its own session: it opens nothing without the daemon's half.
    assert all(name.startswith("keychain:ticket") for name in got), got
    assert attack("read_every_key") == "[]"
    assert attack("read_every_key", who=BOB) == "[]"


def test_the_login_socket_is_root_s(victim):
    tried = world.as_user(ALICE[0], "/usr/bin/python3", "-B", TOOLS / "attacker.py",
                          "login_socket", world.RUN / "login.sock", "1", "0", "root", "x")
    assert tried.returncode != 0 and "Permission denied" in tried.stderr


def test_even_an_open_login_socket_hears_only_root(victim, daemon):
    os.chmod(world.RUN / "login.sock", 0o666)
    uid = str(world.pwd.getpwnam(ALICE[0]).pw_uid)
    assert attack("login_socket", str(world.RUN / "login.sock"), "3", uid, ALICE[0],
                  ALICE[1]) == "None"


def test_the_offer_socket_takes_a_user_s_own_password_only(victim):
    offers = str(world.RUN / "offer.sock")
    uid = str(world.pwd.getpwnam(ALICE[0]).pw_uid)
    victim.run("keychainctl lock")
    assert attack("login_socket", offers, "3", uid, ALICE[0], ALICE[1], who=BOB) != "accepted"
    assert attack("login_socket", offers, "1", uid, ALICE[0], ALICE[1]) != "accepted"
    assert attack("login_socket", offers, "3", uid, ALICE[0], "guess") == "accepted"
    assert victim.run("keychainctl " + " ".join(GET)).status == 4
    assert attack("login_socket", offers, "3", uid, ALICE[0], ALICE[1]) == "accepted"
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_a_login_needs_a_ticket_that_the_module_made_and_its_own_process(daemon):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    path = str(world.RUN / "login.sock")
    forged = world.run("keyctl", "add", "user", "keychain:other", "x", "@s").stdout.strip()
    for ticket, leader in ((int(forged), os.getpid()), (2**31 - 1, os.getpid()), (0, 1)):
        said = wire.login_reply(path, wire.login_frame(
            1, uid, ticket=ticket, leader=leader, account=ALICE[0], password=ALICE[1]))
        assert said not in ("accepted", None), (ticket, leader)
    assert "made the login keychain" not in daemon.log()


def test_a_login_over_the_user_s_key_quota_goes_on_without_a_ticket(daemon):
    # What the module sends where the kernel gives it no key: the leader's life is the session's.
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    said = wire.login_reply(str(world.RUN / "login.sock"), wire.login_frame(
        1, uid, ticket=0, leader=os.getpid(), account=ALICE[0], password=ALICE[1]))
    assert said == "accepted"
    world.wait_for(lambda: any(n.startswith("unlock:-") for n in world.names_of_keys()),
                   "the unlock")


def test_a_login_under_another_account_s_name_is_refused(daemon):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    said = wire.login_reply(str(world.RUN / "login.sock"), wire.login_frame(
        1, uid, ticket=1, leader=os.getpid(), account=BOB[0], password=BOB[1]))
    assert said not in ("accepted", None)


@pytest.mark.parametrize("noise", [b"", b"\0" * 11, b"\xff" * 4096, b"KCF1" + b"\xff" * 36])
def test_noise_on_the_sockets_hurts_nobody(noise, victim, daemon):
    for name in ("keychain.sock", "login.sock", "offer.sock"):
        with wire.connect(str(world.RUN / name)) as connection:
            if name == "keychain.sock":
                wire.hello_of(connection)
            connection.sendall(noise)
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"
    assert daemon.process.poll() is None


def test_one_user_s_connections_leave_room_for_others(victim, daemon, login):
    held = []
    uid = world.pwd.getpwnam(BOB[0]).pw_uid
    # As Bob, from this process: many connections that say nothing.
    os.seteuid(uid)
    try:
        for _ in range(200):
            held.append(wire.connect())
    finally:
        os.seteuid(0)
    assert victim.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"
    for connection in held:
        connection.close()
