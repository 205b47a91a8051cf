# SPDX-License-Identifier: Apache-2.0
"""Programs that a deputy asks for: a second program of the same user gains nothing by it.

The deputy is Python here, installed where the deputy is, with its file's group: whatever such a
program says, the daemon believes the kernel."""

import grp
import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess
import time

import pytest

import wire
import world
from conftest import ALICE, BOB
from test_prompters import Terminal

PYTHON = pathlib.Path("/usr/bin/python3").resolve()
DEPUTY = world.PREFIX / "libexec/keychain/keychain-secrets"
GROUP = "_keychain-secrets"
BAD_REQUEST, NOT_ENTITLED, NOT_PROVEN, NOT_ASKED, NO_SUCH_KEYCHAIN, NO_SUCH_PEER = \
    1, 20, 21, 23, 40, 66
PRESENCE = 2
SLEEP = "/usr/bin/sleep"


@pytest.fixture(scope="module", autouse=True)
def deputy_program(prepared, tools):
    shutil.copy(world.TOP / "Tests/System/deputy.py", world.TOOLS)
    try:
        grp.getgrnam(GROUP)
    except KeyError:
        world.run("groupadd", "--system", GROUP)
    kept = DEPUTY.with_suffix(".kept")
    if DEPUTY.exists():
        DEPUTY.rename(kept)
    install(DEPUTY, grp.getgrnam(GROUP).gr_gid, 0o2755)
    # The daemon looks at the file now and then.
    time.sleep(2)
    yield
    DEPUTY.unlink()
    if kept.exists():
        kept.rename(DEPUTY)


def install(path, group, mode):
    shutil.copy(PYTHON, path)
    os.chown(path, 0, group)
    os.chmod(path, mode)


class Running:
    """A program of a user, outside any login."""

    def __init__(self, who, *command):
        user = pwd.getpwnam(who[0])
        self.process = subprocess.Popen(
            ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups",
             *[str(word) for word in command]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @property
    def pid(self):
        return self.process.pid

    def hears(self):
        """What it says next, between < and >."""
        line = self.process.stdout.readline()
        found = re.fullmatch(r"<(.*)>\n", line)
        assert found, line + self.process.stdout.read()
        return found.group(1)

    def goes_on(self, text=""):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def ends(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def start(login):
    """Starts programs, which end with the test; the user has logged in."""
    login(ALICE)
    started = []

    def run(*command, who=ALICE):
        started.append(Running(who, *command))
        return started[-1]

    yield run
    for program in started:
        program.ends()


@pytest.fixture
def deputy(start):
    return lambda *steps, who=ALICE: start(DEPUTY, "-B", world.TOOLS / "deputy.py", *steps, who=who)


def named(answer):
    """The program's name as the deputy was told it."""
    handle, name = answer.split(" ")
    assert int(handle) > 0
    return name


def now():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def held_by(daemon, peer):
    """How many descriptors of that process, and of the file that deputy.py sends, the daemon and its
    workers have."""
    found = 0
    for process in (pathlib.Path(f"/proc/{pid}") for pid in daemon.processes()):
        for descriptor in (process / "fd").iterdir():
            try:
                file = os.readlink(descriptor)
                told = (process / "fdinfo" / descriptor.name).read_text()
            except FileNotFoundError:
                continue
            found += file == "/etc/hostname" or f"\nPid:\t{peer.pid}\n" in told
    return found


@pytest.fixture
def peer(start):
    """A program that the deputy may ask for."""
    program = start(SLEEP, "600")
    world.wait_for(lambda: os.readlink(f"/proc/{program.pid}/exe") == SLEEP, "the program")
    return program


def test_a_peer_has_its_own_items_under_its_own_name(deputy, peer, start):
    other = start("/usr/bin/tail", "-f", "/dev/null")
    world.wait_for(lambda: "tail" in os.readlink(f"/proc/{other.pid}/exe"), "the other")
    asked = deputy(f"introduce:{peer.pid}", f"introduce:{other.pid}", "add:0:mail", "read:0:mail",
                   "quiet:1:mail", "read:0:mail")
    assert named(asked.hears()) == "exe:" + SLEEP
    assert named(asked.hears()).startswith("exe:/usr/bin/")
    assert asked.hears() == "done"
    assert asked.hears() == "secret of mail"
    assert asked.hears() == str(wire.REFUSED_NOT_FOUND)
    assert asked.hears() == "secret of mail"


def test_a_program_without_the_group_is_no_deputy(start, peer):
    asked = start(PYTHON, "-B", world.TOOLS / "deputy.py", f"introduce:{peer.pid}")
    # The kernel refuses the descriptor, or the daemon the program.
    line = asked.process.stdout.readline()
    assert f"<{NOT_ENTITLED}>" in line or "Traceback" in line, line
    asked = start(PYTHON, "-B", world.TOOLS / "deputy.py", "introduce:none", "handle:7")
    assert asked.hears() == str(NOT_ENTITLED)
    assert asked.hears() == str(NOT_ENTITLED)


def test_what_others_change_is_told_to_a_deputy_itself_and_to_no_other(start, deputy, peer):
    asked = deputy(f"introduce:{peer.pid}", "watch:0")
    named(asked.hears())
    assert asked.hears() == str(NOT_ENTITLED)
    asked = start(PYTHON, "-B", world.TOOLS / "deputy.py", "watching")
    assert asked.hears() == str(NOT_ENTITLED)
    asked = deputy("watching")
    # A refusal would be a number.
    assert asked.hears() == "done"


def test_a_copy_of_the_deputy_is_no_deputy(start, deputy, peer):
    home = pathlib.Path(pwd.getpwnam(ALICE[0]).pw_dir)
    copied = start("cp", DEPUTY, home / "keychain-secrets")
    assert copied.process.wait() == 0
    mine = start("chmod", "2755", home / "keychain-secrets")
    assert mine.process.wait() == 0
    asked = start(home / "keychain-secrets", "-B", world.TOOLS / "deputy.py", "introduce:none")
    assert asked.hears() == str(NOT_ENTITLED)
    # Nor is the installed one where it may not take its group.
    asked = start("setpriv", "--no-new-privs", DEPUTY, "-B", world.TOOLS / "deputy.py",
                  "introduce:none")
    assert asked.hears() == str(NOT_ENTITLED)


def test_a_deputy_whose_file_lost_its_group_is_none(deputy, peer):
    os.chmod(DEPUTY, 0o755)
    try:
        asked = deputy("introduce:none")
        assert asked.hears() == str(NOT_ENTITLED)
    finally:
        os.chmod(DEPUTY, 0o2755)


def test_a_peer_that_becomes_another_program_gets_nothing(deputy, start):
    shell = start("/bin/sh", "-c", f"read go && exec {SLEEP} 600")
    asked = deputy(f"introduce:{shell.pid}", "add:0:mail", "pause", "read:0:mail")
    assert named(asked.hears()) == "exe:" + str(pathlib.Path("/bin/sh").resolve())
    assert asked.hears() == "done"
    assert asked.hears() == "paused"
    shell.goes_on()
    world.wait_for(lambda: os.readlink(f"/proc/{shell.pid}/exe") == SLEEP, "the other program")
    asked.goes_on()
    assert asked.hears() == str(NOT_ENTITLED)


def test_a_peer_that_has_ended_gets_nothing(deputy, start):
    asked = deputy("pause", "introduce:" + str(gone(start)))
    assert asked.hears() == "paused"
    asked.goes_on()
    # Its number is no process's any more.
    assert "ProcessLookupError" in asked.process.stdout.read()


def gone(start):
    ended = start("/usr/bin/true")
    ended.process.wait()
    return ended.pid


def test_a_peer_that_ends_later_gets_nothing(deputy, peer):
    asked = deputy(f"introduce:{peer.pid}", "add:0:mail", "pause", "read:0:mail")
    assert named(asked.hears()) == "exe:" + SLEEP
    assert asked.hears() == "done"
    assert asked.hears() == "paused"
    peer.process.kill()
    peer.process.wait()
    asked.goes_on()
    assert asked.hears() == str(NOT_ENTITLED)


def test_a_process_that_began_after_its_connection_was_heard_of_is_another(deputy, start):
    before = now()
    time.sleep(0.05)
    peer = start(SLEEP, "600")
    world.wait_for(lambda: os.readlink(f"/proc/{peer.pid}/exe") == SLEEP, "the program")
    asked = deputy(f"introduce:{peer.pid}:{before}", f"introduce:{peer.pid}:{now()}")
    assert asked.hears() == str(NOT_ENTITLED)
    assert named(asked.hears()) == "exe:" + SLEEP


def test_a_handle_means_nothing_to_another_deputy(deputy, peer):
    first = deputy(f"introduce:{peer.pid}", "pause")
    handle = first.hears().split()[0]
    assert first.hears() == "paused"
    other = deputy(f"handle:{handle}", "handle:7")
    assert other.hears() == str(NO_SUCH_PEER)
    assert other.hears() == str(NO_SUCH_PEER)


def test_a_handle_lives_as_long_as_the_deputy_has_a_connection(deputy, peer):
    asked = deputy(f"introduce:{peer.pid}", "again", "drop", "add:0:mail", "forget:0", "read:0:mail")
    assert named(asked.hears()) == "exe:" + SLEEP
    assert asked.hears() == "done"
    assert asked.hears() == "done"
    assert asked.hears() == str(NO_SUCH_PEER)


def test_a_process_of_another_user_is_no_peer(deputy, start):
    bobs = start(SLEEP, "600", who=BOB)
    roots = subprocess.Popen([SLEEP, "600"])
    # Root's by its file: its real user is the deputy's.
    setuid = world.PREFIX / "bin/asleep"
    install(setuid, 0, 0o755)
    shutil.copy(SLEEP, setuid)
    os.chmod(setuid, 0o4755)
    try:
        raised = start(setuid, "600")
        world.wait_for(lambda: os.readlink(f"/proc/{raised.pid}/exe") == str(setuid), "it")
        asked = deputy(*(f"introduce:{pid}" for pid in (bobs.pid, roots.pid, raised.pid)))
        assert [asked.hears() for _ in range(3)] == [str(NOT_ENTITLED)] * 3
    finally:
        roots.kill()
        roots.wait()
        setuid.unlink()


def test_a_program_with_rights_of_its_own_has_no_name(deputy, start):
    lent = world.PREFIX / "bin/lent"
    shutil.copy(SLEEP, lent)
    os.chown(lent, 0, grp.getgrnam(GROUP).gr_gid)
    os.chmod(lent, 0o2755)
    able = world.PREFIX / "bin/able"
    shutil.copy(SLEEP, able)
    world.run("setcap", "cap_net_raw+p", able, check=False)
    try:
        for path in (lent, able):
            program = start(path, "600")
            world.wait_for(lambda: os.readlink(f"/proc/{program.pid}/exe") == str(path), "it")
            asked = deputy(f"introduce:{program.pid}", "add:0:mail", "read:0:mail")
            if path == able and not world.run("getcap", able).stdout:
                continue
            assert named(asked.hears()) == "unknown"
            assert asked.hears() in ("done", "11")
            # Another one may have stored it: a user says yes first, in a window, and there is none.
            assert asked.hears() == str(NOT_PROVEN)
    finally:
        lent.unlink()
        able.unlink()


def test_what_is_no_process_is_no_peer_and_is_closed(deputy, daemon, peer):
    held = deputy(f"introduce:{peer.pid}", "pause")
    assert named(held.hears()) == "exe:" + SLEEP
    assert held.hears() == "paused"
    assert held_by(daemon, peer) > 0
    asked = deputy("introduce:file", "introduce:file", f"introduce:{peer.pid}", "pause")
    assert [asked.hears() for _ in range(2)] == [str(NOT_ENTITLED)] * 2
    assert named(asked.hears()) == "exe:" + SLEEP
    asked.ends()
    held.ends()
    world.wait_for(lambda: held_by(daemon, peer) == 0, "descriptors to be closed")


def test_one_descriptor_comes_with_an_introduction_and_with_nothing_else(deputy, daemon, peer):
    assert deputy(f"other:{peer.pid}").hears() == f"{BAD_REQUEST}, hung up"
    assert deputy(f"two:{peer.pid}").hears() == "hung up"
    assert deputy("introduce:none").hears() == str(BAD_REQUEST)
    world.wait_for(lambda: held_by(daemon, peer) == 0, "descriptors to be closed")


def test_a_peer_reaches_no_item_of_another_class_and_not_the_machine_s_keychain(deputy, peer):
    asked = deputy(f"introduce:{peer.pid}", "password:0", "by-reference:0", "system:0", "status:0",
                   "forbidden:0")
    assert named(asked.hears()) == "exe:" + SLEEP
    assert asked.hears() == str(NOT_ENTITLED)
    assert asked.hears() == str(NOT_ENTITLED)
    assert asked.hears() == str(NO_SUCH_KEYCHAIN)
    assert asked.hears() == "no system"
    assert asked.hears() == str(NOT_ENTITLED)


def test_the_audit_names_the_program_and_the_service_that_brought_it(deputy, peer, start):
    asked = deputy(f"introduce:{peer.pid}", "add:0:mail", "password:0")
    for _ in range(3):
        asked.hears()
    lines = [json.loads(line) for line in world.audit_text().splitlines()]
    added = [line for line in lines if line["operation"] == "add"][-1]
    assert added["program"] == "exe:" + SLEEP and added["via"] == "secret-service"
    assert added["process"] == peer.pid
    refused = [line for line in lines if line["outcome"] == "notEntitled"][-1]
    assert refused["program"] == "exe:" + SLEEP and refused["via"] == "secret-service"


def test_with_no_user_to_ask_the_answer_comes_at_once(deputy, peer):
    asked = deputy(f"introduce:{peer.pid}", f"add:0:bank:{PRESENCE}", "read:0:bank", "create:0:new")
    named(asked.hears())
    assert asked.hears() == "done"
    assert asked.hears() == str(NOT_ASKED)
    assert asked.hears() == str(NOT_ASKED)


@pytest.fixture
def desk(login, tools):
    """A terminal with a prompter, and a program of it."""
    login(ALICE)
    terminal = Terminal(ALICE[0])
    terminal.start(f"{SLEEP} 600 &")
    found = world.wait_for(
        lambda: world.run("pgrep", "-u", ALICE[0], "-x", "sleep", check=False).stdout.split(),
        "the program")
    terminal.peer = int(found[-1])
    yield terminal
    world.run("kill", "-KILL", terminal.peer, check=False)
    terminal.shell.close(force=True)


def test_a_proof_serves_the_program_and_the_item_for_a_while(desk, deputy):
    desk.prompter("honest", ALICE[1])
    asked = deputy(f"introduce:{desk.peer}", f"add:0:bank:{PRESENCE}", f"add:0:other:{PRESENCE}",
                   "read:0:bank", f"introduce:{desk.peer}", "quiet:1:bank", "quiet:1:other")
    named(asked.hears())
    assert asked.hears() == asked.hears() == "done"
    desk.hears("<asked>")
    assert asked.hears() == "secret of bank"
    named(asked.hears())
    # Over connections, and for nothing that the question did not name.
    assert asked.hears() == "secret of bank"
    assert asked.hears() == str(NOT_ASKED)


def test_a_keychain_is_opened_by_a_question_and_by_the_right_answer(desk, deputy):
    desk.prompter("honest", ALICE[1])
    locking = world.as_user(ALICE[0], world.CONTROL, "lock")
    assert locking.returncode == 0, locking
    asked = deputy(f"introduce:{desk.peer}", "unlock:0", "add:0:mail", "read:0:mail")
    named(asked.hears())
    desk.hears("<asked>")
    assert [asked.hears() for _ in range(3)] == ["done", "done", "secret of mail"]


def test_a_wrong_answer_opens_no_keychain(desk, deputy):
    desk.prompter("honest", "guess")
    assert world.as_user(ALICE[0], world.CONTROL, "lock").returncode == 0
    asked = deputy(f"introduce:{desk.peer}", "unlock:0")
    named(asked.hears())
    for _ in range(3):
        desk.hears("<asked>")
    assert asked.hears() == "21"


def test_a_new_keychain_has_the_password_that_the_user_chose(desk, deputy):
    desk.prompter("honest", "a new password")
    asked = deputy(f"introduce:{desk.peer}", "create:0:work")
    named(asked.hears())
    desk.hears("<asked>")
    assert asked.hears() == "done"
    locked = world.as_user(ALICE[0], world.CONTROL, "lock", "work")
    assert locked.returncode == 0, locked
