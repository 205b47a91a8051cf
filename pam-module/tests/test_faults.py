# SPDX-License-Identifier: Apache-2.0
"""Every call of the module to the system, and for memory, fails once; and the sanitizers and
valgrind watch a whole life of the module."""

import shutil
import time

from fake_daemon import FakeDaemon, refused
from registry import AUTHTOK_ERR, PERM_DENIED, SESSION_ERR, SUCCESS, Skip, codes, slowest, test, word
from test_secrets import COMPLEMENT, found
from world import ALICE, NUMBER

STEPS = ("authenticate", "establish", "refresh", "authenticate", "open", "change", "close")
SANITIZED = {"ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0", "UBSAN_OPTIONS": "halt_on_error=1"}


def service(world):
    world.service(
        world.any_password, world.line("auth"), "account required pam_permit.so",
        "session required pam_permit.so", world.line("session"),
        "password required pam_permit.so", world.line("password"))


def fail_each(world, before=(), number_told=0):
    service(world)
    environment = SANITIZED if world.kind == "sanitized" else None
    number = total = 0
    while number <= total:
        with FakeDaemon(world.socket, number=number_told):
            lines = world.host(*before, "descriptors", f"fail={number}", *STEPS, "calls", "fail=-1",
                               "descriptors", answers=("a password",) * 2, environment=environment)
        assert codes(lines, *set(STEPS)) == [SUCCESS] * len(STEPS), (number, lines)
        assert slowest(lines) < 2500, (number, lines)
        counts = codes(lines, "descriptors")
        assert counts[0] == counts[1], (number, lines)
        total = max(total, int(word(lines, "calls")[0]))
        number += 1
    # Far fewer, and the faults would not be where they should be.
    assert total > 60, total


def live_tickets():
    """Serials of the tickets that have neither been revoked nor ended with their session."""
    with open("/proc/keys") as keys:
        lines = [line.split(None, 8) for line in keys]
    return {int(line[0], 16) for line in lines
            if line[8].startswith("keychain:ticket") and not set("RD") & set(line[1])}


@test("whichever call fails, no password is left after open_session, and no ticket after the end")
def _(world):
    service(world)
    survived, number, total = [], 0, 0
    while number <= total:
        with FakeDaemon(world.socket) as daemon:
            lines = world.host("authenticate", f"fail={number}", "open", COMPLEMENT, "keys",
                               "close", "calls", "fail=-1", "last-ticket")
        assert found(lines) == [0], (number, lines)
        if lines[-1][0] == "ticket" and lines[-1][1] != "0" and lines[-1][-1] != "gone":
            survived.append(number)
        # Others on this machine may have tickets too.
        made = {request["ticket"] for request in daemon.requests} | {
            int(line[1]) for line in lines if line[0] == "ticket" and line[1].isdigit()}
        for _ in range(200):
            if not live_tickets() & made:
                break
            time.sleep(0.01)
        assert not live_tickets() & made, (number, lines)
        total = max(total, int(word(lines, "calls")[0]))
        number += 1
    assert total > 40, total
    # Where revoking fails, or seeing that it is a ticket: the end of its session ends it.
    assert len(survived) <= 2, survived


@test("whichever call fails, each function returns what its table allows")
def _(world):
    options = "debug required strict"
    world.service(
        world.any_password, world.line("auth", options=options),
        world.line("session", "required", options), "session required pam_permit.so",
        world.line("password", "required", options), "password required pam_permit.so")
    # Where a session was not opened libpam itself denies closing it.
    allowed = {"open": {SUCCESS, SESSION_ERR}, "change": {SUCCESS, AUTHTOK_ERR},
               "close": {SUCCESS, PERM_DENIED}}
    number = total = 0
    while number <= total:
        with FakeDaemon(world.socket, answer=refused(4)):
            lines = world.host(f"fail={number}", *STEPS, "calls", answers=("a password",) * 2)
        for step in set(STEPS):
            assert set(codes(lines, step)) <= allowed.get(step, {SUCCESS}), (number, lines)
        total = max(total, int(word(lines, "calls")[0]))
        number += 1
    assert total > 60, total


@test("each call of the module fails once: the login goes on, nothing leaks")
def _(world):
    fail_each(world)


@test("the same where the session keyring is the user's own already")
def _(world):
    fail_each(world, (f"keyring-of={ALICE}",))


@test("the same where the ticket is to be a number's")
def _(world):
    fail_each(world, number_told=NUMBER)


@test("the same under the address and undefined-behaviour sanitizers")
def _(world):
    world.kind = "sanitized"
    fail_each(world)


@test("the sanitizers find nothing in a whole life of the module")
def _(world):
    world.kind = "sanitized"
    service(world)
    for settings in ({}, {"answer": b"\xff" * 4096}, {"answer": None}):
        with FakeDaemon(world.socket, **settings):
            world.host(*STEPS, *STEPS, answers=("a password",) * 4, environment=SANITIZED)


@test("valgrind finds nothing in a whole life of the module")
def _(world):
    if not shutil.which("valgrind"):
        raise Skip("not installed")
    service(world)
    with FakeDaemon(world.socket):
        world.host(*STEPS, *STEPS, answers=("a password",) * 4, wrap=(
            "valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full",
            "--errors-for-leak-kinds=definite", "--child-silent-after-fork=yes"))
