# SPDX-License-Identifier: Apache-2.0
"""PAM modules that sleep, crash, or talk without end: they get their question refused,
and hurt no other login."""

import pathlib
import time

import pytest

import world
from conftest import ALICE, BOB
from test_desktop import processes
from test_presence import ADD, GET

PERSON = "correct horse 1"
CAROL, DAVE = ("kc-carol", PERSON), ("kc-dave", PERSON)
HOW = pathlib.Path("/run/hostile")
SERVICE = pathlib.Path("/etc/pam.d/keychain-presence")
PASSCODE = pathlib.Path("/etc/pam.d/keychain-passcode")
FAILED, NOT_ALLOWED_TO_ASK = 6, 4


@pytest.fixture
def hostile():
    """Who is asked by which misbehaviour."""
    HOW.mkdir(exist_ok=True)
    module = HOW / "pam_hostile.so"
    world.run("gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", "-o", module,
              pathlib.Path(__file__).with_name("pam_hostile.c"))
    for name, password in (CAROL, DAVE):
        world.make_account(name, password)
    usual = SERVICE.read_text()
    SERVICE.write_text(f"auth required {module} {HOW}\naccount required pam_permit.so\n")

    def chosen(who, how):
        (HOW / who[0]).write_text(how)

    yield chosen
    SERVICE.write_text(usual)


def helpers(daemon):
    """Those that the daemon waits for, and what started them for it."""
    starters = [entry.name for entry in processes("keychain-starter")
                if world.parent_of(entry.name) == daemon.pid]
    return [entry for entry in processes("keychain-auth")
            if str(world.parent_of(entry.name)) in starters]


def resident(pid):
    line, = [line for line in open(f"/proc/{pid}/status") if line.startswith("VmRSS")]
    return int(line.split()[1])


def logged_in(login, who):
    shell = login(who)
    assert shell.run(ADD).status == 0
    return shell


def refused(shell, how, hostile, who):
    """How long it took until the question that such a module asks was refused."""
    hostile(who, how)
    began = time.monotonic()
    answered = shell.run(GET, ["guess"] * 60)
    assert answered.status in (FAILED, NOT_ALLOWED_TO_ASK), (how, answered)
    assert "bank-s3cret" not in answered.text, how
    return time.monotonic() - began


def test_a_sleeping_module_is_ended_after_a_minute_and_the_others_do_no_harm_meanwhile(
        login, hostile, daemon):
    sleeper = logged_in(login, ALICE)
    hostile(ALICE, "sleep")
    sleeper.send(GET + "; echo \"<status $?>\"")
    asleep, = world.wait_for(lambda: helpers(daemon), "the module to fall asleep")
    began = time.monotonic()
    # No more than three questions each: beyond, the baseline's limit answers.
    plan = {BOB: ("abort", "segfault", "exit"), CAROL: ("leave", "stack", "huge"),
            DAVE: ("crowd", "unreadable", "forty")}
    before = resident(daemon.pid)
    for who, misbehaviours in plan.items():
        shell = logged_in(login, who)
        own = daemon.worker(who[0])
        own_before = resident(own)
        for how in misbehaviours:
            assert refused(shell, how, hostile, who) < world.PATIENCE, how
            world.wait_for(lambda: set(helpers(daemon)) <= {asleep}, "the others to end")
        assert shell.run("keychainctl status").status == 0
        assert daemon.worker(who[0]) == own and resident(own) < own_before + 16 * 1024
    assert resident(daemon.pid) < before + 16 * 1024
    sleeper.terminal.expect(r"<status (\d+)>", timeout=60 + world.PATIENCE)
    lasted = time.monotonic() - began
    assert int(sleeper.terminal.match.group(1)) == FAILED and 55 < lasted
    assert not helpers(daemon) and daemon.process.poll() is None


def test_a_module_that_never_stops_ends_with_the_program_that_asked(login, hostile, daemon):
    shell = logged_in(login, ALICE)
    for how in "sleep", "endless":
        hostile(ALICE, how)
        shell.send(GET)
        world.wait_for(lambda: helpers(daemon), "the module to be asked")
        asking, = processes("keychainctl")
        world.os.kill(int(asking.name), 9)
        world.wait_for(lambda: not helpers(daemon), "the module to be ended")
        shell.terminal.expect("Killed")
        shell.terminal.expect_exact(shell.PROMPT)
    assert daemon.process.poll() is None
    SERVICE.write_text("auth required pam_unix.so\naccount required pam_unix.so\n")
    assert "bank-s3cret" in shell.run(GET, [ALICE[1]]).text


def test_twenty_rounds_are_asked_and_no_more(login, hostile):
    shell = logged_in(login, ALICE)
    hostile(ALICE, "twenty-one")
    answered = shell.run(GET, ["guess"] * 21)
    assert answered.status == FAILED and "bank-s3cret" not in answered.text
    assert "Password 20:" in answered.text and "Password 21:" not in answered.text
    time.sleep(2.1)
    hostile(ALICE, "twenty")
    answered = shell.run(GET, ["guess"] * 20)
    assert answered.status == 0 and "bank-s3cret" in answered.text


def test_a_module_that_answers_for_another_user_proves_nothing(login, hostile):
    shell = logged_in(login, ALICE)
    refused(shell, "another", hostile, ALICE)
    hostile(ALICE, "twenty")
    assert "bank-s3cret" in shell.run(GET, ["guess"] * 20).text


@pytest.fixture
def services():
    """PAM's services, to be changed. PAM's `other`, which lets everybody in, takes no service's place."""
    other, cached = pathlib.Path("/etc/pam.d/other"), 2.1
    kept = {path: path.read_text() for path in (SERVICE, PASSCODE, other)}
    other.write_text("auth required pam_permit.so\naccount required pam_permit.so\n")

    def become(text, *paths):
        for path in paths:
            path.unlink() if text is None else path.write_text(text)
        time.sleep(cached)

    yield become
    for path, text in kept.items():
        path.write_text(text)


MISSING = "auth required pam_nowhere.so\naccount required pam_permit.so\n"


@pytest.mark.parametrize("text", [None, MISSING], ids=["no file", "no module"])
def test_where_no_service_can_ask_nothing_opens_and_no_user_is_locked_out(login, services, text):
    shell = logged_in(login, ALICE)
    services(text, SERVICE, PASSCODE)
    answered = shell.run(GET)
    assert answered.status == FAILED and "bank-s3cret" not in answered.text
    added = shell.run(ADD.replace("bank", "shop"))
    assert added.status == FAILED and shell.run(GET.replace("bank", "shop")).status == 3


def test_a_service_that_disappears_while_it_is_believed_to_be_there_opens_nothing(login, services):
    shell = logged_in(login, ALICE)
    for path in SERVICE, PASSCODE:
        path.unlink()
    answered = shell.run(GET)
    assert answered.status == FAILED and "bank-s3cret" not in answered.text


def test_without_the_service_for_presence_the_password_shows_it(login, services):
    shell = logged_in(login, ALICE)
    services(None, SERVICE)
    assert "bank-s3cret" in shell.run(GET, [ALICE[1]]).text
