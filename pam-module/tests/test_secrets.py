# SPDX-License-Identifier: Apache-2.0
"""Where the password is, and for how long; what the module may call at all."""

from fake_daemon import FakeDaemon, refused
from registry import codes, test
from world import PASSWORD

COMPLEMENT = "scan=" + bytes(255 - byte for byte in PASSWORD.encode()).hex()


def service(world, options=""):
    world.service(world.any_password, world.line("auth", options=options),
                  world.line("session", options=options))


def found(lines):
    return codes(lines, "found")


@test("one copy is kept, and none once the session is open")
def _(world):
    service(world)
    with FakeDaemon(world.socket) as daemon:
        lines = world.host(COMPLEMENT, "authenticate", COMPLEMENT, "open", COMPLEMENT)
    assert daemon.requests[0]["password"] == PASSWORD
    assert found(lines) == [0, 1, 0], lines


@test("none is left where the daemon is dead, refuses or never answers")
def _(world):
    service(world, "timeout_ms=50")
    assert found(world.host("authenticate", COMPLEMENT, "open", COMPLEMENT)) == [1, 0]
    for settings in ({"answer": refused(1)}, {"answer": None}):
        with FakeDaemon(world.socket, **settings):
            lines = world.host("authenticate", COMPLEMENT, "open", COMPLEMENT)
        assert found(lines) == [1, 0], lines


@test("none is left where no session follows, in any order")
def _(world):
    service(world)
    with FakeDaemon(world.socket):
        for steps in (("end",), ("refresh",), ("close",), ("user=root", "open"),
                      ("user=kc-nobody-of-this-name", "open"), ("user=kc-bob", "open")):
            lines = world.host("authenticate", COMPLEMENT, *steps, COMPLEMENT)
            assert found(lines) == [1, 0], (steps, lines)


@test("the kept copy lies in locked memory that no core dump contains")
def _(world):
    service(world)
    lines = world.host("memory", "authenticate", "memory", "end", "memory")
    before, kept, after = (tuple(map(int, line[1:])) for line in lines if line[0] == "memory")
    # (kB locked, mappings left out of core dumps)
    assert kept[0] > before[0] and kept[1] > before[1], lines
    assert after == before, lines


@test("no log line holds a password, not even with debug")
def _(world):
    world.login_service("debug unlock")
    seen = 0
    for settings in ({}, {"answer": refused(1)}, {"answer": b"\xff" * 40}):
        with FakeDaemon(world.socket, **settings):
            lines = world.host("authenticate", "refresh", "open", "close")
        text = "\n".join(" ".join(line) for line in lines)
        assert PASSWORD not in text and str(len(PASSWORD)) not in [
            part for line in lines if line[0] in ("log", "message") for part in line]
        seen += text.count("log ")
    assert seen > 0
