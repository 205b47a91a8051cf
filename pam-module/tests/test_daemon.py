# SPDX-License-Identifier: Apache-2.0
"""Whatever the daemon does, or a program that pretends to be it, the login goes on, and soon."""

import os
import shutil
import socket
import struct

from fake_daemon import (ACCEPTED, MAGIC, VERSION, FakeDaemon, accepted_with_notice, after, drip,
                         refused)
from registry import SESSION_ERR, SUCCESS, codes, slowest, test
from world import ALICE, BOB

LIMIT = 2500


def login(world, options=""):
    """A login where everything of ours is optional, then one that insists."""
    world.login_service(options)
    lines = in_time(world, "authenticate", "open", "close", "descriptors")
    assert codes(lines, "authenticate", "open", "close") == [SUCCESS] * 3, lines
    world.service(world.line("session", "required", "required " + options))
    return codes(in_time(world, "open"), "open")


def in_time(world, *steps):
    """Asks once more where it took too long: the machine may have been busy, the module is not."""
    lines = world.host(*steps)
    if slowest(lines) >= LIMIT:
        lines = world.host(*steps)
    assert slowest(lines) < LIMIT, lines
    return lines


def expect_no_harm(world):
    assert login(world) == [SESSION_ERR]


def header(magic=MAGIC, version=VERSION, verb=0x8001, count=0):
    return struct.pack("<IHHI", magic, version, verb, count)


@test("daemon alive: accepted")
def _(world):
    with FakeDaemon(world.socket):
        assert login(world) == [SUCCESS]


@test("daemon answers late but in time: accepted")
def _(world):
    with FakeDaemon(world.socket, answer=after(1)):
        assert login(world) == [SUCCESS]


@test("daemon never started: no socket, no folder")
def _(world):
    expect_no_harm(world)
    os.rename(world.run, world.run + ".away")
    try:
        expect_no_harm(world)
    finally:
        os.rename(world.run + ".away", world.run)


@test("daemon dead: a socket that no process listens at")
def _(world):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(world.socket)
    listener.close()
    os.chmod(world.socket, 0o600)
    try:
        expect_no_harm(world)
    finally:
        os.unlink(world.socket)


@test("daemon hung: accepts, reads, never answers")
def _(world):
    with FakeDaemon(world.socket, answer=None):
        expect_no_harm(world)


@test("daemon hung: accepts and reads nothing")
def _(world):
    with FakeDaemon(world.socket, reads=False):
        expect_no_harm(world)


@test("daemon hung: its queue is full")
def _(world):
    with FakeDaemon(world.socket, accepts=False):
        expect_no_harm(world)


@test("daemon slow: a byte now and then")
def _(world):
    with FakeDaemon(world.socket, answer=drip):
        expect_no_harm(world)


def waited(lines):
    """Milliseconds of each step that may tell the daemon something."""
    return [int(line[2]) for line in lines if line[0] in ("authenticate", "open", "close")]


def offering(world):
    world.service(world.any_password, world.line("auth", options="unlock"), world.line("session"))


@test("daemon hung: a login that offers and opens waits once, though an answer came in between")
def _(world):
    offering(world)
    with FakeDaemon(world.socket, answer=None) as daemon:
        lines = world.host("authenticate", "open", "close")
    assert sum(waited(lines)) < LIMIT and waited(lines)[0] >= 1900, lines
    # Told all the same.
    assert [request["verb"] for request in daemon.requests] == ["offer", "open", "close"]
    late = iter([None, ACCEPTED, None])

    def answer(connection):
        text = next(late)
        if text is not None:
            connection.sendall(text)

    with FakeDaemon(world.socket, answer=answer):
        lines = world.host(*["authenticate"] * 3, answers=("a password",) * 3)
    assert waited(lines)[0] >= 1900 and sum(waited(lines)) < LIMIT, lines


@test("daemon slow: its answers in time cost a login no more than one that never comes")
def _(world):
    offering(world)
    for seconds in (1.9, 1.2):
        with FakeDaemon(world.socket, answer=after(seconds)):
            lines = world.host("authenticate", "open", "close")
        assert waited(lines)[0] >= seconds * 1000 - 100 and sum(waited(lines)) < LIMIT, lines


@test("a shorter timeout is kept")
def _(world):
    world.login_service("timeout_ms=100")
    with FakeDaemon(world.socket, answer=None):
        assert slowest(world.host("open")) < 1000


@test("daemon hangs up without an answer, or within one")
def _(world):
    for answer in (b"", ACCEPTED[:5], header(verb=0x8002, count=2) + b"\1"):
        with FakeDaemon(world.socket, answer=answer):
            expect_no_harm(world)


@test("daemon lies: lengths, versions, verbs, refusals without a reason")
def _(world):
    for answer in (
            header(count=0xFFFFFFFF), header(count=4084) + b"x" * 4084, header(count=3) + b"abc",
            header(count=2) + b"\1\0", header(magic=MAGIC ^ 1), header(version=2), header(verb=1),
            header(verb=0x8003), header(verb=0x8002), refused(0), b"\xff" * 4096):
        with FakeDaemon(world.socket, answer=answer):
            expect_no_harm(world)


@test("daemon of another version, by its reply or by its reason: the log says which is older")
def _(world):
    for answer, older in ((header(version=2, count=0xFFFF), "the pam_keychain.so of this program"),
                          (refused(9), "the pam_keychain.so of this program"),
                          (refused(8), "it is older than pam_keychain.so")):
        world.login_service()
        with FakeDaemon(world.socket, answer=answer):
            lines = world.host("authenticate", "open")
        assert codes(lines, "open") == [SUCCESS], lines
        assert any(older in " ".join(line) for line in lines if line[0] == "log"), lines


@test("daemon refuses, for reasons known and unknown")
def _(world):
    for reason in (1, 2, 3, 4, 5, 6, 7, 8, 0xFFFF):
        with FakeDaemon(world.socket, answer=refused(reason)):
            expect_no_harm(world)


@test("a listener that is not root gets not one byte")
def _(world):
    with FakeDaemon(world.socket, owner=BOB, reads=False) as daemon:
        expect_no_harm(world)
        pending = [c for c in daemon.held if c.recv(4096, socket.MSG_DONTWAIT) != b""]
    assert not pending and daemon.connections > 0


@test("a socket that another user owns, or can reach, is not connected to")
def _(world):
    for mode, owner in ((0o600, BOB), (0o660, 0), (0o666, 0), (0o602, 0)):
        with FakeDaemon(world.socket, mode=mode) as daemon:
            os.chown(world.socket, owner, 0)
            expect_no_harm(world)
            assert daemon.connections == 0, oct(mode)


@test("a folder on the way that is not root's alone is not entered")
def _(world):
    for change in (lambda path: os.chmod(path, 0o775), lambda path: os.chmod(path, 0o757),
                   lambda path: os.chmod(path, 0o1777), lambda path: os.chown(path, BOB, 0)):
        outer = world.folder("outer")
        os.mkdir(os.path.join(outer, "inner"))
        path = os.path.join(outer, "inner", "login.sock")
        usual, world.socket = world.socket, path
        try:
            with FakeDaemon(path) as daemon:
                assert login(world) == [SUCCESS]
                before = daemon.connections
                change(outer)
                expect_no_harm(world)
                assert daemon.connections == before
        finally:
            world.socket = usual
            shutil.rmtree(outer)


@test("no link is followed, and nothing but a socket connected to")
def _(world):
    usual = world.socket
    real = os.path.join(world.run, "real.sock")
    folder = os.path.join(world.root, "link")
    with FakeDaemon(real) as daemon:
        os.symlink(real, usual)
        os.symlink(world.run, folder)
        try:
            expect_no_harm(world)
            for path in (f"{folder}/real.sock", f"{world.run}/../run/real.sock",
                         f"{world.run}//real.sock", f"{world.run}/./real.sock"):
                world.socket = path
                expect_no_harm(world)
        finally:
            world.socket = usual
            os.unlink(usual)
            os.unlink(folder)
        assert daemon.connections == 0
    with open(usual, "w"):
        pass
    os.chmod(usual, 0o600)
    try:
        expect_no_harm(world)
    finally:
        os.unlink(usual)


@test("offer.sock that is not root's is not spoken to by a locker")
def _(world):
    world.service(world.any_password, world.line("auth", options="unlock"), name="kc-locker")
    with FakeDaemon(world.offer_socket, mode=0o666) as daemon:
        os.chown(world.offer_socket, ALICE, ALICE)
        world.host(f"as={ALICE}", "authenticate", service="kc-locker")
        assert daemon.connections == 0
    with FakeDaemon(world.offer_socket, mode=0o666, owner=BOB, reads=False) as daemon:
        world.host(f"as={ALICE}", "authenticate", service="kc-locker")
        # The module leaves without an answer, maybe before the connection was accepted.
        assert daemon.accepted.wait(10) and daemon.connections == 1
        assert all(c.recv(4096, socket.MSG_DONTWAIT) == b"" for c in daemon.held)


@test("no descriptor is left over, nor one of 0-2 used where the host has closed them")
def _(world):
    world.login_service()
    standard = []

    def look(connection):
        """At the host's descriptors, while it waits for the answer."""
        pid = daemon.peers[-1][0]
        standard.append([n for n in "012" if os.path.lexists(f"/proc/{pid}/fd/{n}")])
        connection.sendall(ACCEPTED)

    with FakeDaemon(world.socket, answer=look) as daemon:
        for first in ([], ["close-standard"]):
            lines = world.host(*first, "descriptors", "open", "close", "descriptors")
            counts = codes(lines, "descriptors")
            assert counts[0] == counts[1], lines
            assert codes(lines, "open", "close") == [SUCCESS, SUCCESS]
    assert standard == [["0", "1", "2"]] * 2 + [[]] * 2


@test("what the daemon wants the user to know is said once, and not where the host wants silence")
def _(world):
    world.login_service()
    for step, expected, notice in (("open", 1, 1), ("open-silently", 0, 1), ("open", 0, 77)):
        with FakeDaemon(world.socket, answer=accepted_with_notice(notice)) as daemon:
            lines = world.host("authenticate", step)
        assert codes(lines, step) == [SUCCESS]
        said = [line for line in lines if line[0] == "message"]
        assert len(said) == expected, lines
        assert all("keychainctl unlock" in " ".join(line) for line in said)
        assert daemon.requests[0]["silent"] == (step == "open-silently")


@test("a notice of nothing, or one that is cut, is no answer")
def _(world):
    world.login_service()
    whole = accepted_with_notice(0)
    for answer in (whole, accepted_with_notice(1)[:-1]):
        with FakeDaemon(world.socket, answer=answer):
            lines = world.host("authenticate", "open")
        assert not [line for line in lines if line[0] == "message"], lines


@test("only `debug` speaks to the user, once, and not where the host wants silence")
def _(world):
    for options, step, expected in (("", "open", 0), ("debug", "open", 1),
                                    ("debug", "open-silently", 0)):
        world.login_service(options)
        lines = world.host("authenticate", step)
        assert len([line for line in lines if line[0] == "message"]) == expected, lines
