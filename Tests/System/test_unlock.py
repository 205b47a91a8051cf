# SPDX-License-Identifier: Apache-2.0
"""Unlocking and locking by hand."""

import os
import pathlib
import signal

import pytest

import wire
import world
from conftest import ALICE, BOB

ADD = ("add", "generic-password", "--service", "mail", "--account", "me")
GET = ("get", "generic-password", "--service", "mail")


def control(who, *words, **options):
    return world.as_user(who[0], world.CONTROL, *words, **options)


def make(who):
    made = control(who, "create", "login", "--password-stdin", input=who[1] + "\n" + who[1] + "\n")
    assert made.returncode == 0, made


def test_a_keychain_that_was_locked_by_hand_opens_again_with_its_password(login):
    shell = login()
    shell.run("printf s3cret | keychainctl " + " ".join(ADD))
    assert shell.run("keychainctl lock").status == 0
    assert shell.run("keychainctl " + " ".join(GET)).status == 4
    assert shell.run("keychainctl unlock", ["not it"]).status == 6
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_after_first_unlock_items_stay_open_when_the_keychain_is_locked(login):
    shell = login()
    shell.run("printf s3cret | keychainctl " + " ".join(ADD) + " --accessible after-first-unlock")
    assert shell.run("keychainctl lock").status == 0
    assert shell.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_locking_one_login_closes_the_keychain_in_all(login):
    first, second = login(), login()
    first.run("printf s3cret | keychainctl " + " ".join(ADD))
    assert second.run("keychainctl lock").status == 0
    assert first.run("keychainctl " + " ".join(GET)).status == 4


def test_a_long_answer_ends_where_the_keychain_is_locked_meanwhile(login, tools):
    shell, other = login(), login()
    client = f"/usr/bin/python3 -B {world.TOOLS}/client.py"
    assert "<filled>" in shell.run(f"{client} fill:long:16").text
    for is_locked, end in ((False, "<all in "), (True, "<24>")):
        shell.send(f"{client} slow:long")
        shell.terminal.expect("<begun>")
        if is_locked:
            assert other.run("keychainctl lock").status == 0
        shell.send("")
        shell.terminal.expect_exact(end)
        shell.terminal.expect_exact(shell.PROMPT)


def said_so_far(path):
    """What a program in the background wrote; nothing before its shell has made the file."""
    path = pathlib.Path(path)
    return path.read_text() if path.exists() else ""


def leader_of_login():
    """The process that opened the only session there is."""
    record, = world.RUN.glob("users/*/session:*")
    return int(record.read_bytes().split(b"\n")[-8])


def hang_up(shell):
    shell.terminal.sendline("exit")


def kill_leader(shell):
    os.kill(leader_of_login(), signal.SIGKILL)


def wait_for_time(shell):
    """The keychain was in use last when the answer began."""


@pytest.mark.parametrize("end", [hang_up, kill_leader, wait_for_time])
def test_a_long_answer_ends_with_the_login_and_with_the_time_of_the_unlock(login, tools, end):
    shell = login()
    client = f"/usr/bin/python3 -B {world.TOOLS}/client.py"
    assert "<filled>" in shell.run(f"{client} fill:long:16").text
    # A program that outlives the login; nothing comes in before the test says so.
    pipe, said = (f"/tmp/keychain-test-{name}-{os.getpid()}" for name in ("pipe", "said"))
    try:
        assert shell.run(f"mkfifo {pipe}").status == 0
        if end is wait_for_time:
            assert shell.run("keychainctl settings --lock-after-idle 2s").status == 0
        shell.send(f"setsid {client} slow:long <{pipe} >{said} 2>&1 &")
        with open(pipe, "w") as go_on:
            world.wait_for(lambda: "<begun>" in said_so_far(said), "the answer")
            end(shell)
            world.wait_for(lambda: " unlock:" not in world.keys_of_daemon(), "the unlock to end")
            go_on.write("\n")
        world.wait_for(lambda: said_so_far(said).count(">") > 1, "the answer's end")
        assert pathlib.Path(said).read_text().split()[-1] == "<24>"
    finally:
        for path in (pipe, said):
            pathlib.Path(path).unlink(missing_ok=True)


def test_guessing_passwords_gets_slower(login):
    shell = login()
    shell.run("keychainctl lock")
    words = [shell.run("keychainctl unlock", ["wrong"]).text for _ in range(6)]
    assert any("too many" in each for each in words)


def test_a_keychain_of_one_s_own_pays_for_no_guess_at_another(login):
    shell = login()
    assert shell.run("keychainctl create own --no-recovery-key", ["own words", "own words"]).status == 0
    shell.run("keychainctl lock")
    words = []
    for _ in range(6):
        # Were the guesses forgotten by it, none would ever be one too many.
        shell.run("keychainctl unlock own", ["own words"])
        words.append(shell.run("keychainctl unlock", ["wrong"]).text)
    assert any("too many" in each for each in words)


def guess_three_times(shell):
    """Through the socket that programs without rights offer passwords at."""
    shell.run("keychainctl lock")
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    for _ in range(3):
        done = world.as_user(
            ALICE[0], "/usr/bin/python3", "-B", world.TOOLS / "attacker.py", "login_socket",
            str(world.RUN / "offer.sock"), "3", str(uid), ALICE[0], "guess")
        assert done.stdout.strip() == "accepted", done
        # A request waits until the guess was looked at.
        shell.run("keychainctl " + " ".join(GET))


def guesses_count(shell):
    """Two wrong ones more prove nothing by themselves: three are looked at without a pause."""
    guess_three_times(shell)
    assert any("too many" in shell.run("keychainctl unlock", ["wrong"]).text for _ in range(2))


def test_guesses_count_wherever_they_are_made(login, tools):
    guesses_count(login())


def test_a_password_that_pam_has_verified_is_looked_at_whatever_was_guessed(login, tools):
    shell = login()
    shell.run("printf s3cret | keychainctl " + " ".join(ADD))
    guesses_count(shell)
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    frame = wire.login_frame(3, uid, account=ALICE[0], password=ALICE[1], leader=os.getpid())
    assert wire.login_reply(str(world.RUN / "login.sock"), frame) == "accepted"
    assert shell.run("keychainctl " + " ".join(GET)).text.strip() == "s3cret"


def test_a_second_keychain_has_a_password_of_its_own(login):
    shell = login()
    assert shell.run("keychainctl create work --no-recovery-key", ["work words", "work words"]).status == 0
    add = "printf s3cret | keychainctl " + " ".join(ADD) + " --keychain work"
    assert shell.run(add).status == 0
    assert shell.run("keychainctl lock work").status == 0
    assert shell.run("keychainctl " + " ".join(GET) + " --keychain work").status == 4
    status = shell.run("keychainctl status").text
    assert "“login”: unlocked" in status and "“work”: unlocked" not in status
    assert shell.run("keychainctl create work --no-recovery-key", ["again", "again"]).status == 9


def test_no_unlock_of_one_user_serves_another(login, daemon):
    login().run("printf s3cret | keychainctl " + " ".join(ADD))
    assert control(BOB, *GET).returncode == 3
    assert control(BOB, "unlock", "--password-stdin", input=ALICE[1] + "\n").returncode == 3


def test_a_keychain_name_that_is_a_path_is_refused(login):
    shell = login()
    for name in ("../login", "/etc/passwd", ".hidden", "a/b", "x" * 65):
        assert shell.run(f"keychainctl create '{name}' --no-recovery-key", ["pw", "pw"]).status in (1, 2), name
