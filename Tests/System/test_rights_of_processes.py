# SPDX-License-Identifier: Apache-2.0
"""What code gets that took a process of the service over, tried with that process itself: its number,
rights and descriptors. Of a worker's user it gets what the user's programs get by asking, and of others
nothing. (keychain-import, keychain-tpm and keychain-fido: test_foreign_files, test_confined_devices.)"""

import contextlib
import errno
import os
import pathlib
import random
import signal
import socket
import struct

import pytest

import world
from conftest import ALICE, BOB
from graphical import processes
from takeover import LIBC, Taken
from traced import amd64, call_numbers, status

pytestmark = amd64

GET = "keychainctl get generic-password --service mail --account me </dev/null"
HERE = -100  # AT_FDCWD
NUMBERS = range(0x7B000000, 0x7B010000)
REFUSED, NOT_PERMITTED = -errno.EACCES, -errno.EPERM
WRITING = os.O_WRONLY | os.O_CREAT
# keyctl(2).
READ, DESCRIBE, SET_RIGHTS, LINK, UPDATE, REVOKE, CLEAR, CHOWN, TIMEOUT, INVALIDATE = (
    11, 6, 5, 8, 2, 3, 7, 4, 15, 21)


@pytest.fixture
def numbers():
    return call_numbers()


def uid(who):
    return world.number_of(who[0])


def folder(who):
    return world.folder_of(who[0])


def number(who):
    return world.worker_number(who[0])


def records(who):
    return world.RUN / "users" / str(uid(who))


def children(daemon, name):
    return [int(entry.name) for entry in processes(name) if world.parent_of(entry.name) == daemon.pid]


@contextlib.contextmanager
def taken(pid, numbers):
    """Gives what calls by their name, and tells the kernel's answer."""
    with Taken(pid) as process:
        yield lambda name, *arguments: process.call(numbers[name], *arguments)


def of_bob(daemon):
    """Processes and files that the worker of another user has nothing to do with."""
    worker = daemon.worker(BOB[0])
    return worker, [folder(BOB) / name for name in os.listdir(folder(BOB))] + [
        records(BOB) / name for name in os.listdir(records(BOB))]


# A worker.

def test_a_worker_has_a_number_that_owns_its_user_s_files_and_no_right(shells, daemon):
    for who in ALICE, BOB:
        own = number(who)
        assert own in NUMBERS
        pid = daemon.worker(who[0])
        for thread in pathlib.Path(f"/proc/{pid}/task").iterdir():
            facts = status(f"{pid}/task/{thread.name}")
            assert facts["Uid"].split() == facts["Gid"].split() == [str(own)] * 4
            assert facts["Groups"].strip() == ""
            assert {facts[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Amb")} == {"0" * 16}
            assert facts["NoNewPrivs"] == "1"
        for place in folder(who), records(who):
            for entry in place, *place.iterdir():
                facts = entry.stat()
                assert (facts.st_uid, facts.st_gid, facts.st_mode & 0o077) == (own, own, 0), entry
    assert number(ALICE) != number(BOB)


def test_a_worker_has_no_file_but_its_user_s(shells, daemon):
    pid = daemon.worker(ALICE[0])
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(entry)
            known = ("socket:", "pipe:", "anon_inode:", "/dev/null", "/proc/", "/memfd:",
                     f"{folder(ALICE)}", f"{daemon.log_path}")
            assert target.startswith(known), target


def test_a_worker_reaches_no_file_of_others_and_no_socket_of_the_service(shells, daemon, numbers):
    worker, others = of_bob(daemon)
    home = pathlib.Path(world.pwd.getpwnam(BOB[0]).pw_dir) / "private"
    home.write_text("text")
    home.chmod(0o600)
    os.chown(home, uid(BOB), uid(BOB))
    secret = [world.STATE / "device.key", *others, records(BOB), folder(BOB), world.STATE / "audit",
              *(world.STATE / "audit").iterdir(), world.RUN / "private",
              *(world.RUN / "private").iterdir(), world.RUN / "users",
              "/etc/shadow", home, f"/proc/{worker}/mem", f"/proc/{worker}/environ",
              f"/proc/{worker}/fd", f"/proc/{daemon.pid}/mem"]
    assert len(others) >= 2
    own, = folder(ALICE).glob("login.keychain")
    with taken(daemon.worker(ALICE[0]), numbers) as call:
        assert call("openat", HERE, str(own), os.O_RDWR) >= 0
        for path in map(str, secret):
            assert call("openat", HERE, path, os.O_RDONLY) == REFUSED, path
        for path in (world.STATE / "new", world.RUN / "new", world.RUN / "users/new", folder(BOB) / "new",
                     "/etc/new", "/new"):
            assert call("openat", HERE, str(path), WRITING, 0o600) == REFUSED, path
        for path in (folder(BOB), folder(ALICE)):
            assert call("rename", str(path), str(path) + "-gone") == REFUSED
        assert call("rmdir", str(records(BOB))) == REFUSED
        assert call("unlink", str(world.STATE / "device.key")) == REFUSED
        assert call("link", str(world.STATE / "device.key"), f"{folder(ALICE)}/linked") in (
            REFUSED, NOT_PERMITTED)
        for to in 0, uid(ALICE), number(BOB):
            assert call("chown", str(own), to, to) == NOT_PERMITTED
            assert call("chown", str(folder(ALICE)), to, to) == NOT_PERMITTED
        for name in "starter.sock", "broker.sock", "audit.sock", "worker.sock", "login.sock":
            for kind in socket.SOCK_SEQPACKET, socket.SOCK_STREAM:
                made = call("socket", socket.AF_UNIX, kind, 0)
                assert made >= 0
                address = struct.pack("<H", socket.AF_UNIX) + str(world.RUN / name).encode() + b"\0"
                assert call("connect", made, address, len(address)) == REFUSED, name
                assert call("close", made) == 0
    assert shells[0].run(GET).text.strip() == "of-alice"


def test_a_worker_becomes_nothing_else_and_touches_no_other_process(shells, daemon, numbers):
    worker = daemon.worker(BOB[0])
    shell = shells[1].terminal.pid
    others = [worker, daemon.pid, 1, shell, *children(daemon, "keychain-broker"),
              *children(daemon, "keychain-starter"), *world.keepers()]
    assert len(others) == 7
    with taken(daemon.worker(ALICE[0]), numbers) as call:
        for other in 0, uid(ALICE), uid(BOB), number(BOB):
            assert call("setuid", other) == NOT_PERMITTED
            assert call("setresuid", other, other, other) == NOT_PERMITTED
            assert call("setgid", other) == NOT_PERMITTED
            assert call("setgroups", 1, struct.pack("<I", other)) == NOT_PERMITTED
        everything = struct.pack("<6I", *[0xFFFFFFFF] * 6)
        assert call("capset", struct.pack("<II", 0x20080522, 0), everything) == NOT_PERMITTED
        assert call("chroot", "/") == NOT_PERMITTED
        assert call("mount", "none", "/mnt", "tmpfs", 0, 0) == NOT_PERMITTED
        assert call("mknodat", HERE, f"{folder(ALICE)}/node", 0o20600, 0x0101) == NOT_PERMITTED
        for pid in others:
            assert call("kill", pid, 0) == NOT_PERMITTED, pid
            assert call("ptrace", 16, pid, 0, 0) == NOT_PERMITTED, pid
            vector = struct.pack("<QQ", 0x1000, 16)
            assert call("process_vm_readv", pid, vector, 1, vector, 1, 0) == NOT_PERMITTED, pid
            held = call("pidfd_open", pid, 0)
            assert held >= 0
            assert call("pidfd_send_signal", held, signal.SIGKILL, 0, 0) == NOT_PERMITTED, pid
            for each in 0, 1, 3, 4:
                assert call("pidfd_getfd", held, each, 0) == NOT_PERMITTED, pid
            assert call("close", held) == 0
    assert [shell.run(GET).text.strip() for shell in shells] == ["of-alice", "of-bob"]


def keys_of(who):
    """The worker's keyring, those below it, and their keys, as its own number sees them."""
    def listed(ring):
        return world.as_number(number(who), "keyctl", "rlist", ring).stdout.split()
    found = []
    for owner, top in world.keyrings():
        if owner == number(who):
            rings = listed(top)
            found += [top, *rings, *(key for ring in rings for key in listed(ring))]
    return [int(key) for key in found]


def ticket(shell):
    told = shell.run("keyctl search @s user keychain:ticket").text.strip()
    assert told.isdigit(), told
    return int(told)


def test_a_worker_gets_no_key_of_another_s(shells, daemon, numbers):
    own, others = keys_of(ALICE), [*keys_of(BOB), ticket(shells[1])]
    assert len(own) > 2 and len(others) > 3
    with taken(daemon.worker(ALICE[0]), numbers) as call:
        def keyctl(*arguments):
            return call("keyctl", *arguments)
        mine = keyctl(0, -4, 0)
        assert mine > 0 and all(keyctl(READ, each, bytearray(512), 512) > 0 for each in own)
        for key in others:
            for order in ((READ, key, bytearray(512), 512), (DESCRIBE, key, bytearray(512), 512),
                          (SET_RIGHTS, key, 0x3F3F3F3F), (LINK, key, mine), (UPDATE, key, b"new", 3),
                          (REVOKE, key), (CLEAR, key), (TIMEOUT, key, 1), (INVALIDATE, key),
                          (CHOWN, key, number(ALICE), 2**32 - 1)):
                assert keyctl(*order) in (REFUSED, NOT_PERMITTED, -errno.ENOTDIR), (key, order)
            assert keyctl(READ, key, bytearray(512), 512) == REFUSED
    assert [shell.run(GET).text.strip() for shell in shells] == ["of-alice", "of-bob"]


# What it may ask of keychaind, and over keychaind of the others.

class Channel:
    """The connection of a worker that stands still to keychaind, for what it would say on it."""

    def __init__(self, pid):
        self.pid = pid
        world.stop_process(pid)
        held = os.pidfd_open(pid)
        self.socket = None
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            if not os.readlink(entry).startswith("socket:"):
                continue
            found = socket.socket(fileno=copied(held, int(entry.name)))
            if found.family == socket.AF_UNIX and found.getsockname().startswith(str(world.RUN / "worker.sock")):
                self.socket = found
                break
            found.close()
        os.close(held)
        self.socket.settimeout(10)

    def say(self, kind, id=0, user=0, value=0, text=b""):
        record = struct.pack("<IHHIIII", 0x4B57434B, 1, kind, id, user, value, len(text)) + text
        self.socket.send(record.ljust(256, b"\0"))

    def ask(self, kind, **fields):
        """The answer's value and text, and the descriptor that came along."""
        id = random.randrange(1 << 31, 1 << 32)
        self.say(kind, id=id, **fields)
        while True:
            told, passed, _, _ = socket.recv_fds(self.socket, 256, 1)
            _, _, order, of, _, value, length = struct.unpack_from("<IHHIIII", told)
            if order == 17 and of == id:
                return value, told[24:24 + length].decode(), passed[0] if passed else None
            for each in passed:
                os.close(each)

    def end(self):
        self.socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def copied(held, number):
    """pidfd_getfd(2), which Python lacks."""
    copy = LIBC.syscall(438, held, number, 0)
    assert copy >= 0
    return copy


@pytest.fixture
def channel(shells, daemon):
    found = Channel(daemon.worker(ALICE[0]))
    yield found
    found.end()


def look(kind, *numbers):
    return struct.pack("<4sHHIII4x", b"KCLK", 1, kind, *numbers, *[0] * (3 - len(numbers)))


def seen(connection, record, pid=None):
    """What the broker replies to a look at the process: 1 is nothing."""
    descriptors = [] if pid is None else [os.pidfd_open(pid)]
    socket.send_fds(connection, [record], descriptors)
    for each in descriptors:
        os.close(each)
    told, passed, _, _ = socket.recv_fds(connection, 8192, 1)
    for each in passed:
        os.close(each)
    return struct.unpack_from("<H", told, 6)[0] if told else None


def test_the_broker_shows_it_its_user_s_processes_alone(channel, shells, daemon):
    own, other = (int(shell.run("echo $$").text) for shell in shells)

    def connected():
        value, _, passed = channel.ask(12)
        connection = socket.socket(fileno=passed)
        connection.settimeout(10)
        return connection

    with connected() as connection:
        assert seen(connection, look(1), own) == 2
        for pid in other, daemon.pid, daemon.worker(BOB[0]), 1:
            for kind in 1, 3, 4:
                assert seen(connection, look(kind), pid) == 1, (kind, pid)
        assert seen(connection, look(2, other)) == 1
    # However many it asks for, other users' workers have theirs.
    held = [channel.ask(12)[2] for _ in range(100)]
    assert 30 < len([each for each in held if each]) <= 64
    assert shells[1].run(GET).text.strip() == "of-bob"
    for each in filter(None, held):
        os.close(each)
    # It can't be bound anew, and what makes no sense ends it.
    for record in (look(6, uid(BOB)), look(6, 0), look(7), look(0), look(1), b"", look(2) + b"\0",
                   os.urandom(24)):
        with connected() as connection:
            connection.send(record)
            assert connection.recv(100) == b"", record
    for kind in {*range(64), 0xFFFF}:
        with connected() as connection:
            said = seen(connection, look(kind, uid(BOB), uid(BOB), uid(BOB)), daemon.worker(BOB[0]))
            assert said in (1, None), kind


def request(program, user, service=b"", account=b"", asker=b""):
    if program == 1:
        return struct.pack("<4sHHI48s256s256s", b"KCST", 3, program, user, service, account, asker)
    return struct.pack("<4sHHII", b"KCST", 3, program, user, 7)


def test_the_starter_starts_nothing_for_another_user(channel, shells, daemon):
    def told(record, descriptors):
        _, _, passed = channel.ask(13)
        with socket.socket(fileno=passed) as connection:
            connection.settimeout(10)
            socket.send_fds(connection, [record], descriptors)
            said = connection.recv(100)
            return struct.unpack_from("<H", said, 6)[0] if said else None

    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    state = os.open(world.STATE, os.O_RDONLY | os.O_DIRECTORY)
    run = os.open(world.RUN, os.O_RDONLY | os.O_DIRECTORY)
    process = os.pidfd_open(daemon.worker(BOB[0]))
    with ours, theirs:
        for user in uid(BOB), 0:
            asked = request(1, user, b"keychain-presence", BOB[0].encode())
            assert told(asked, [theirs.fileno()]) == 0x8003
        for record, descriptors in ((request(6, uid(BOB)), []), (request(6, uid(ALICE)), []),
                                    (request(7, uid(BOB)), [state, run]),
                                    (request(7, uid(ALICE)), [state, run]),
                                    (request(8, uid(ALICE)), [process])):
            assert told(record, descriptors) in (0x8001, 0x8003), record
        # In its own user's name it may ask another account of PAM, which keychain-auth refuses.
        asked = request(1, uid(ALICE), b"keychain-presence", BOB[0].encode())
        assert told(asked, [theirs.fileno()]) == 1
        ours.settimeout(world.PATIENCE)
        theirs.close()
        assert ours.recv(4096) == b""
    for each in state, run, process:
        os.close(each)
    assert number(BOB) != number(ALICE)


def test_keychaind_answers_a_worker_about_its_own_user_alone(channel, shells, daemon):
    before = daemon.worker(BOB[0])
    session = shells[1].run("echo $XDG_SESSION_ID").text.strip() or "1"
    assert channel.ask(17, text=session.encode())[0] == 0
    assert channel.ask(14)[0] == 0
    # Policies are every user's.
    assert channel.ask(8)[0] == 0
    # keychaind takes the user from the connection, not from the record.
    for kind in range(1, 64):
        if kind in (3, 4, 11):
            continue
        for user in uid(BOB), 0:
            with contextlib.suppress(OSError):
                channel.say(kind, id=user, user=user, value=1, text=BOB[0].encode())
    assert shells[1].run(GET).text.strip() == "of-bob"
    assert daemon.worker(BOB[0]) == before and daemon.process.poll() is None
    channel.end()
    world.wait_for(lambda: shells[0].run(GET).text.strip() == "of-alice", "its user to be served")


def test_keychaind_ends_a_worker_that_sends_nonsense(channel, shells, daemon):
    before = daemon.worker(BOB[0])
    channel.socket.send(os.urandom(256))
    with contextlib.suppress(OSError):
        while channel.socket.recv(256):
            pass
    # It stands still, so it does not end by itself.
    world.wait_for(lambda: not world.runs(channel.pid, world.WORKER), "its process to end")
    assert "was given up, and has not ended by itself" in daemon.log()
    assert shells[1].run(GET).text.strip() == "of-bob"
    assert daemon.worker(BOB[0]) == before and daemon.process.poll() is None


# keychaind, keychain-broker and keychain-audit.

def test_keychaind_opens_no_user_s_files_and_keys(shells, daemon, numbers):
    keys = [*keys_of(ALICE), *keys_of(BOB), ticket(shells[0])]
    files = [path for who in (ALICE, BOB) for place in (folder(who), records(who))
             for path in (place, *place.iterdir())]
    assert len(keys) > 6 and len(files) > 5
    with taken(daemon.pid, numbers) as call:
        for path in map(str, files):
            assert call("openat", HERE, path, os.O_RDONLY) == REFUSED, path
        for key in keys:
            assert call("keyctl", READ, key, bytearray(512), 512) == REFUSED
        for other in uid(ALICE), number(ALICE):
            assert call("setuid", other) == NOT_PERMITTED
        assert call("kill", daemon.worker(ALICE[0]), 0) == NOT_PERMITTED
        assert call("ptrace", 16, daemon.worker(ALICE[0]), 0, 0) == NOT_PERMITTED
    assert [shell.run(GET).text.strip() for shell in shells] == ["of-alice", "of-bob"]


def test_keychain_broker_writes_nothing_and_becomes_nothing_else(shells, daemon, numbers):
    """It may look at everything, and do nothing to it: not even to what is root's."""
    broker, = children(daemon, "keychain-broker")
    root = pathlib.Path("/etc/of-root")
    root.write_text("text")
    worker = daemon.worker(ALICE[0])
    with taken(broker, numbers) as call:
        for path in root, folder(ALICE) / "login.keychain", folder(ALICE) / "new", "/etc/new":
            for flags in os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC, WRITING:
                assert call("openat", HERE, str(path), flags, 0o600) == NOT_PERMITTED, path
                assert call("open", str(path), flags, 0o600) == NOT_PERMITTED, path
            assert call("creat", str(path), 0o600) == NOT_PERMITTED
            assert call("truncate", str(path), 0) == NOT_PERMITTED
            assert call("unlink", str(path)) == NOT_PERMITTED
            assert call("rename", str(path), "/etc/other") == NOT_PERMITTED
            assert call("chmod", str(path), 0o777) == NOT_PERMITTED
        assert call("openat", HERE, f"/proc/{worker}/mem", os.O_RDWR) == NOT_PERMITTED
        vector = struct.pack("<QQ", 0x1000, 16)
        for name in "process_vm_readv", "process_vm_writev":
            assert call(name, daemon.pid, vector, 1, vector, 1, 0) == NOT_PERMITTED
        for pid in worker, daemon.pid, 1:
            assert call("ptrace", 16, pid, 0, 0) == NOT_PERMITTED
            assert call("kill", pid, 0) == call("tkill", pid, 0) == NOT_PERMITTED
            assert call("tgkill", pid, pid, 0) == NOT_PERMITTED
        for name in "socket", "execve", "keyctl", "openat2", "io_uring_setup", "fork", "unshare", "mount":
            assert call(name, 1, 1, 0) == NOT_PERMITTED, name
        for other in uid(ALICE), number(ALICE):
            assert call("setuid", other) == NOT_PERMITTED
        # The looks that it is for.
        assert call("openat", HERE, f"/proc/{worker}/exe", os.O_RDONLY) >= 0
    assert root.read_text() == "text"
    root.unlink()
    assert shells[0].run(GET).text.strip() == "of-alice"


def test_keychain_audit_has_a_number_of_its_own_and_a_list_of_calls(shells, daemon, numbers):
    keeper, = world.keepers()
    own = world.pwd.getpwnam("_keychain-audit").pw_uid
    assert status(keeper)["Uid"].split() == [str(own)] * 4
    assert not [name for name in ("CapPrm", "CapEff") if int(status(keeper)[name], 16)]
    # What is on its list: test_audit_keeper.
    assert status(keeper)["Seccomp"] == "2"


def test_a_worker_that_was_taken_over_gives_no_file_of_roots_away(shells, daemon):
    """It may do all in its folder. What root does there, it does to files of that number alone."""
    kept = world.STATE / "kept"
    kept.write_text("of root")
    kept.chmod(0o600)
    own = folder(ALICE)
    world.as_number(number(ALICE), "ln", "-s", kept, own / "login.keychain.linked")
    daemon.restart()
    assert shells[0].run(GET).text.strip() == "of-alice"
    assert (kept.stat().st_uid, kept.read_text()) == (0, "of root")
    (own / "login.keychain.linked").unlink()
    kept.unlink()
