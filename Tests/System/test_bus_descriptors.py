# SPDX-License-Identifier: Apache-2.0
"""Descriptors that a bus or a program on it passes to keychain-secrets: open files of a file system that does not
answer. To close one would hang the thread that does, beyond any signal."""

import pathlib
import pwd
import re
import shlex
import shutil
import threading
import time

import pytest

import world
from conftest import ALICE
from fuse_server import FileSystem
from test_secret_service import PATIENCE, heard_through, programs  # noqa: F401 (a fixture)

# As the kernel cuts the name off.
PROGRAM = "keychain-secre"
# What an answer may take on a busy machine.
SOON = 20


@pytest.fixture
def shell(login, programs):
    shell = login(ALICE)
    shutil.copy(world.TOP / "Tests/System/portal_client.py", world.TOOLS)
    assert shell.run("rm -rf ~/.local/share/dbus-1; keychainctl secrets enable").status == 0
    return shell


def on_a_bus(shell, *commands):
    """What the commands say, as words in angle brackets, each after its own."""
    said = shell.run(f"cd; dbus-run-session -- sh -c {shlex.quote('; '.join(commands))}", seconds=PATIENCE)
    return re.findall("<([^>]*)>", said.text)


def client(*steps):
    return f"/usr/bin/python3 -B {world.TOOLS}/portal_client.py {' '.join(steps)}"


STORE = "printf mine | secret-tool store --label=L kind mail"
LOOKUP = f'echo "<$(timeout {SOON} secret-tool lookup kind mail)>"'


def test_a_file_with_a_message_is_never_opened_and_other_programs_are_served(shell):
    with FileSystem(user=ALICE[0], programs=(PROGRAM,)) as files:
        said = on_a_bus(shell, STORE, LOOKUP, client(f"hung:{files.socket}", f"hung:{files.socket}"), LOOKUP)
        assert said == ["mine", "pong True", "pong True", "mine"], files.held()
        assert files.held() == []


def test_a_file_in_a_pipe_s_place_keeps_the_portal_waiting_and_no_other_program(shell):
    with FileSystem(user=ALICE[0], programs=(PROGRAM,)) as files:
        # More than are open at once, of more than one connection.
        asks = [client("portal", f"asks:{files.socket}:40", "wait:3") for _ in range(2)]
        said = on_a_bus(shell, STORE, LOOKUP, *asks, LOOKUP, LOOKUP)
        assert said == ["mine", "asked", "asked", "mine", "mine"], files.held()
        held = files.wait_held()
        assert held and len(held) <= 64 and all(who.startswith(PROGRAM) for _, who, _ in held)


def test_a_file_of_a_program_that_is_not_the_portal_takes_none_of_the_portal_s_room(shell):
    with FileSystem(user=ALICE[0], programs=(PROGRAM,)) as files:
        asks = [client(f"asks:{files.socket}:40", "wait:1") for _ in range(2)]
        # The next one calls in the portal's place, and does not run its file.
        said = on_a_bus(shell, STORE, *asks, client("portal", "direct:org.example.One"), LOOKUP)
        assert said == ["asked", "asked", "AccessDenied", "mine"], files.held()
        assert files.held() == []


def test_once_such_files_are_closed_the_portal_s_calls_have_room_again(shell):
    home = pathlib.Path(pwd.getpwnam(ALICE[0]).pw_dir)
    full, answered = home / "full", home / "answered"
    shell.run("rm -f ~/full ~/answered")
    ask = client("portal", "direct:org.example.One")
    with FileSystem(user=ALICE[0], programs=(PROGRAM,)) as files:
        def answer():
            world.wait_for(full.exists, "the calls")
            files.release()
            answered.touch()

        answering = threading.Thread(target=answer)
        answering.start()
        asks = [client("portal", f"asks:{files.socket}:16", "wait:2") for _ in range(5)]
        # Each is closed by a thread of its own.
        again = (f"for n in $(seq 150); do said=$({ask}); test \"$said\" = '<LimitsExceeded>' || break; "
                 "sleep 0.2; done; echo \"$said\"")
        said = on_a_bus(shell, STORE, *asks, ask, "touch ~/full",
                        "for n in $(seq 600); do test -e ~/answered && break; sleep 0.1; done", again, LOOKUP)
        answering.join()
        assert said == ["asked"] * 5 + ["LimitsExceeded", "AccessDenied", "mine"], said
        assert len(files.held()) == 64


def test_a_file_that_a_bus_hands_out_as_a_process_does_not_reach_the_daemon(login, programs, daemon):
    daemon_s = ("keychaind", "keychain-worker", "kc:")
    with FileSystem(user=ALICE[0], programs=daemon_s) as files:
        assert not heard_through(login, daemon, f"hands:{files.socket}:own")
        assert files.held() == []
        began = time.monotonic()
        daemon.restart()
        assert time.monotonic() - began < SOON
