# SPDX-License-Identifier: Apache-2.0
"""keychain-worker, of which each user who is served has one: when it begins and ends, what becomes
of its user's programs and of other users' when it is killed or hangs, and what it has of others."""

import contextlib
import os
import pathlib
import socket
import subprocess
import time

import pytest

import wire
import world
from conftest import ALICE, BOB
from test_attacks import speak_as
from test_daemon import memory_of
from test_several_keychains import SERVICE, keep, units  # noqa: F401 (fixture)

ADD = "printf {} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me"
SOCKET = world.RUN / "worker.sock"
# Seconds in which what takes no time is done on a busy machine: no pause is over by then.
SOON = 20
# The time after which a worker without use ends.
IDLE = 60
WAITING = 16
NO_ACCOUNT = 3_000_000
ASKS = """import sys
sys.path.insert(0, sys.argv[1])
import wire
client = wire.Client()
for _ in sys.stdin:
    try:
        print(client.ask(wire.READ_STATUS), flush=True)
    except (EOFError, OSError):
        print("hung up", flush=True)
"""
# Says how many of its connections are closed, first and then; and who of the others is greeted.
WAITS = """import select, sys
sys.path.insert(0, sys.argv[1])
import wire
def closed(seconds):
    found, _, _ = select.select(held, [], [], seconds)
    for each in found:
        held.remove(each)
        try:
            assert each.recv(1) == b""
        except ConnectionResetError:
            pass
    return len(found)
held = [wire.connect() for _ in range(int(sys.argv[2]))]
print(closed(20), closed(2), flush=True)
sys.stdin.readline()
print(len([wire.hello_of(each) for each in held]), flush=True)
"""
ANSWERED = "b''"


@pytest.fixture(scope="module", autouse=True)
def with_tools(tools):
    pass


class Program:
    """One of a user's, which asks again and again on one connection, or does something else."""

    def __init__(self, who, code=ASKS, *words):
        user = world.pwd.getpwnam(who[0])
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-B", "-c", code, world.TOOLS, *words], text=True, cwd="/",
            user=user.pw_uid, group=user.pw_gid, extra_groups=[], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)

    def hears(self):
        return self.process.stdout.readline().strip()

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.hears()

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def program():
    started = []

    def start(who, code=ASKS, *words):
        started.append(Program(who, code, *words))
        assert code != ASKS or started[-1].ask() == ANSWERED
        return started[-1]

    yield start
    for each in started:
        each.end()


def reads(shell):
    return shell.run(GET + " </dev/null").text.strip()


def connected_as(uid):
    """A connection that says nothing."""
    os.seteuid(uid)
    try:
        return wire.connect()
    finally:
        os.seteuid(0)


# When it begins and ends.

def test_each_user_who_is_served_has_one_that_has_the_user_s_number_for_a_name(shells, daemon):
    for name, _ in (ALICE, BOB):
        pid = daemon.worker(name)
        comm = pathlib.Path(f"/proc/{pid}/comm").read_text()
        assert comm == f"kc:{world.number_of(name)}\n"
    assert daemon.worker(ALICE[0]) != daemon.worker(BOB[0])
    # The one that starts them is keychaind's child, and they are its children.
    starting = {world.parent_of(pid) for pid in daemon.workers().values()}
    assert [world.parent_of(pid) for pid in starting] == [daemon.pid]


def test_a_user_who_asks_for_nothing_has_none(login, daemon):
    login()
    daemon.worker(ALICE[0])
    # What looks after files that are there since the start ends in a moment.
    world.wait_for(lambda: world.number_of(BOB[0]) not in daemon.workers(), "it to end")
    daemon.worker(BOB[0], start=True)


def test_a_number_without_an_account_has_none_and_is_answered(daemon):
    said = speak_as(NO_ACCOUNT, """
with wire.connect() as connection:
    connection.sendall(wire.frame(wire.READ_ANYTHING, wire.hello_of(connection)))
    print(wire.refusal(wire.answer(connection)))
""")
    assert said == [str(wire.REFUSED_NOT_ENTITLED)]
    assert NO_ACCOUNT not in daemon.workers()


def test_one_that_is_not_needed_ends_and_a_login_or_a_connection_keeps_one(login, program, daemon):
    login()
    asking = program(BOB)
    kept = {world.number_of(name): daemon.worker(name) for name in (ALICE[0], BOB[0])}
    unneeded = world.number_of("daemon")
    first = daemon.worker("daemon", start=True)
    began = time.monotonic()
    world.wait_for(lambda: unneeded not in daemon.workers(), "it to end", IDLE + world.PATIENCE)
    assert IDLE - 5 < time.monotonic() - began
    assert kept.items() <= daemon.workers().items()
    assert asking.ask() == ANSWERED
    # It comes back with the next connection.
    assert daemon.worker("daemon", start=True) != first


def test_all_end_at_once_with_a_keychaind_that_is_killed(shells, daemon):
    assert len(daemon.workers()) >= 2
    daemon.process.kill()
    daemon.process.wait()
    world.wait_for(lambda: not world.workers(), "the workers to end", SOON)
    assert shells[0].run(GET).status == 1
    daemon.start()
    assert [reads(shell) for shell in shells] == ["of-alice", "of-bob"]


def test_all_end_with_a_keychaind_that_stops(shells, daemon):
    assert daemon.stop() == 0
    assert not world.workers()
    assert "crashed" not in daemon.log()


# Killed, and hung.

def test_after_a_kill_the_user_s_keychain_is_still_open(shells, program, daemon):
    cut_off = program(ALICE)
    for _ in range(2):
        before = daemon.kill_worker(ALICE[0])
        assert reads(shells[0]) == "of-alice"
        assert daemon.worker(ALICE[0]) != before
    assert cut_off.ask() == "hung up"
    assert daemon.process.poll() is None


def test_one_that_was_killed_disturbs_no_other_user_s_connection(shells, program, daemon):
    other, before = program(BOB), daemon.worker(BOB[0])
    for _ in range(3):
        daemon.kill_worker(ALICE[0])
        began = time.monotonic()
        assert other.ask() == ANSWERED and reads(shells[1]) == "of-bob"
        assert time.monotonic() - began < SOON
    assert daemon.worker(BOB[0]) == before


def test_one_that_is_killed_again_and_again_is_started_after_longer_and_longer_pauses(
        shells, daemon):
    """At once, then after 1, 2, 4 s and so on."""
    pauses = []
    for _ in range(5):
        daemon.kill_worker(ALICE[0])
        began = time.monotonic()
        daemon.worker(ALICE[0])
        pauses.append(time.monotonic() - began)
        began = time.monotonic()
        assert reads(shells[1]) == "of-bob"
        assert time.monotonic() - began < SOON
        assert reads(shells[0]) == "of-alice"
    assert pauses[-1] > 3 and pauses[-1] > min(pauses[:2]) + 2, pauses


def test_one_that_is_killed_while_nothing_is_open_waits_too_and_a_login_waits_for_none_of_it(
        login, daemon):
    pauses = []
    for _ in range(5):
        began = time.monotonic()
        assert world.as_user(ALICE[0], world.CONTROL, "list-keychains").returncode == 0
        pauses.append(time.monotonic() - began)
        daemon.kill_worker(ALICE[0])
    assert pauses[-1] > 3 and pauses[-1] > min(pauses[:2]) + 2, pauses
    world.as_user(ALICE[0], world.CONTROL, "list-keychains")
    daemon.kill_worker(ALICE[0])
    # The next pause is one of sixteen seconds.
    began = time.monotonic()
    shell = login()
    assert "“login”: unlocked" in shell.run("keychainctl status").text
    assert time.monotonic() - began < 14


def test_one_that_hangs_keeps_no_other_user_waiting(shells, login, program, daemon):
    other = program(BOB)
    hung = daemon.worker(ALICE[0])
    with world.stopped(hung), connected_as(world.number_of(ALICE[0])):
        began = time.monotonic()
        assert other.ask() == ANSWERED and reads(shells[1]) == "of-bob"
        assert login(BOB).run(GET).text.strip() == "of-bob"
        assert world.run(world.CONTROL, "status").returncode == 0
        assert time.monotonic() - began < 2 * SOON
    assert reads(shells[0]) == "of-alice"


def test_of_those_who_wait_for_one_that_hangs_there_are_so_many_and_no_more(
        shells, program, daemon):
    hung = daemon.worker(ALICE[0])
    with world.stopped(hung):
        waiting = program(ALICE, WAITS, str(WAITING + 1))
        assert waiting.hears() == "1 0"
        assert reads(shells[1]) == "of-bob"
    assert waiting.ask() == str(WAITING)


# What it is started by.

def test_no_user_reaches_its_socket(daemon):
    assert oct(SOCKET.stat().st_mode & 0o777) == "0o600" and SOCKET.stat().st_uid == 0
    code = ("import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)"
            f".connect('{SOCKET}')")
    assert "PermissionError" in world.as_user(ALICE[0], "/usr/bin/python3", "-c", code).stderr


@pytest.mark.parametrize("said", [None, b"", b"x", bytes(256), b"\xff" * 256])
def test_one_that_another_program_of_root_s_starts_ends_at_once(said, daemon):
    daemon.worker(0, start=True)
    before = processes_of_workers()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
        connection.connect(str(SOCKET))
        connection.settimeout(SOON)
        try:
            if said is not None:
                connection.send(said)
            assert connection.recv(1000) == b""
        except (BrokenPipeError, ConnectionResetError):
            pass
        # While the connection is there.
        world.wait_for(lambda: processes_of_workers() <= before, "it to end", SOON)
    assert daemon.process.poll() is None


def processes_of_workers():
    """Those that serve, and the one that starts them."""
    return {int(entry) for entry in os.listdir("/proc")
            if entry.isdigit() and world.runs(entry, world.WORKER)}


def test_it_does_not_start_by_hand(daemon):
    told = world.run(world.WORKER, check=False)
    assert told.returncode != 0


# What it has of others.

def test_the_machine_s_keychain_is_opened_by_root_s_alone_and_a_service_reads_it(
        shells, units, daemon):  # noqa: F811
    shop = units()
    keep(shop.group)
    assert shop.get().stdout == "db-s3cret"
    own = world.number_of(SERVICE)
    assert own != 0 and daemon.worker(own)
    files = {user: files_of(pid) for user, pid in daemon.workers().items()}
    assert {0, own, world.number_of(ALICE[0])} <= files.keys()
    for user, opened in files.items():
        folders = {path.relative_to(world.STATE).parts[0] for path in opened
                   if path.is_relative_to(world.STATE) and path.name.count(".keychain")}
        assert folders <= {str(user)}, (user, opened)
    # Nor does keychaind open any keychain.
    assert not [path for path in files_of(daemon.pid) if ".keychain" in path.name]
    daemon.kill_worker(own)
    assert shop.get().stdout == "db-s3cret"
    daemon.kill_worker(0)
    assert shop.get().stdout == "db-s3cret"


def files_of(pid):
    found = set()
    for descriptor in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.add(pathlib.Path(os.readlink(descriptor)))
        except FileNotFoundError:
            pass
    return found


@pytest.mark.skipif(len(os.sched_getaffinity(0)) not in range(2, 20),
                    reason="one core, or more than a program has connections")
def test_its_threads_follow_programs_that_keep_all_cores_busy_while_no_other_user_asks(
        shells, daemon):
    def kept():
        found = []
        for thread in os.listdir(f"/proc/{worker}/task"):
            with contextlib.suppress(ProcessLookupError):
                if len(os.sched_getaffinity(int(thread))) == 1:
                    found.append(thread)
        return found

    def until(count):
        ends = time.monotonic() + SOON
        while len(kept()) != count:
            assert time.monotonic() < ends, f"{len(kept())} instead of {count}"
            time.sleep(0.05)

    shell, other = shells
    busy = len(os.sched_getaffinity(0)) + 1
    shell.run("security add-generic-password -s busy -a me -w s3cret")
    worker = daemon.worker(ALICE[0])
    assert not kept()
    shell.run("for each in $(seq %d); do yes 'find-generic-password -s busy -w' | "
              "security -i >/dev/null 2>&1 & done" % busy)
    until(busy)
    other.run("{ (echo find-generic-password -s none; sleep 600) | security -i >/dev/null 2>&1 & }")
    until(0)
    for each in shells:
        each.run("kill -- $(jobs -p | sed s/^/-/); wait")


def test_the_memory_of_one_has_nothing_of_another_user_s(login, daemon):
    secrets = {ALICE: "find-what-is-of-alice", BOB: "find-what-is-of-bob"}
    shells = {who: login(who) for who in secrets}
    for who, shell in shells.items():
        assert shell.run(ADD.format(secrets[who])).status == 0
        assert reads(shell) == secrets[who]
    for who, other in ((ALICE, BOB), (BOB, ALICE)):
        memory = memory_of(daemon.worker(who[0]))
        assert memory.count(secrets[other].encode()) == 0
        assert memory.count(other[1].encode()) == 0
        # The search finds what is there.
        assert memory.count(str(world.STATE).encode()) > 0
    # keychaind reads neither what programs nor what logins say.
    memory = memory_of(daemon.pid)
    for who, secret in secrets.items():
        assert memory.count(secret.encode()) == memory.count(who[1].encode()) == 0
