# SPDX-License-Identifier: Apache-2.0
"""Programs that bring org.freedesktop.secrets as much as it takes, and more: one case each, named on the
command line. Says what is wrong and ends with 1."""

import os
import sys
import time

import dbus
import dbus.lowlevel
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

from secrets_client import (
    COLLECTION, ITEM, LOGIN, NAME, PROMPT, ROOT, SERVICE, SESSION, Peer, eventually, expect, resident, secret)

PORTAL = ("/org/freedesktop/portal/desktop", "org.freedesktop.impl.portal.Secret")
REFUSED = "org.freedesktop.DBus.Error.LimitsExceeded"
PER_PEER, UNKNOWN, PER_PROGRAM = 64, 16, 256


class Calls:
    """Calls that are on their way, and how they ended: None, or the name of an error."""

    def __init__(self):
        self.sent, self.ended = 0, []

    def send(self, peer, count, path, interface, member, signature, *arguments):
        for _ in range(count):
            self.sent += 1
            peer.bus.call_async(
                NAME, path, interface, member, signature, arguments, lambda *told: self.ended.append(None),
                lambda error: self.ended.append(error.get_dbus_name()), timeout=60)
        peer.bus.flush()

    def search(self, peer, count):
        self.send(peer, count, ROOT, SERVICE, "SearchItems", "a{ss}",
                  dbus.Dictionary({"none": "such"}, signature="ss"))

    def await_ends(self, count, seconds=30, moment=0.5):
        """Waits until so many have ended, and a moment for more."""
        deadline = time.monotonic() + seconds
        while len(self.ended) < count and time.monotonic() < deadline:
            self.dispatch()
        until = time.monotonic() + moment
        while time.monotonic() < until:
            self.dispatch()

    @staticmethod
    def dispatch():
        GLib.MainContext.default().iteration(False) or time.sleep(0.005)


def calls():
    """While the keychain does not answer, calls stay under way."""
    peers = [Peer() for _ in range(6)]
    for peer in peers:
        peer.search(none="such")
    print("<ready>", flush=True)
    input()
    calls = Calls()
    # Of a program that is not known yet.
    stranger = Peer()
    calls.search(stranger, UNKNOWN + 3)
    calls.await_ends(3)
    expect(calls.ended, [REFUSED] * 3, "calls of a stranger beyond 16")
    calls.search(peers[0], PER_PEER + 3)
    calls.await_ends(6)
    expect(calls.ended, [REFUSED] * 6, "calls of a program beyond 64")
    # One more on each connection: once it is refused, those before it are under way.
    for peer in peers[1:4]:
        calls.search(peer, PER_PEER + 1)
    calls.await_ends(9)
    expect(calls.ended, [REFUSED] * 9, "256 calls of a program")
    calls.search(peers[4], 1)
    calls.search(peers[0], 1)
    calls.await_ends(11)
    expect(calls.ended, [REFUSED] * 11, "calls beyond 256")
    print("<full>", flush=True)
    calls.await_ends(calls.sent)
    expect(calls.ended[11:], [None] * (UNKNOWN + PER_PROGRAM), "what was taken")
    peers[5].search(none="such")


def strangers():
    """Programs that are not known yet have as many calls together as one program."""
    Peer().search(none="such")
    print("<ready>", flush=True)
    input()
    calls, peers = Calls(), [Peer() for _ in range(PER_PROGRAM // UNKNOWN + 1)]
    for peer in peers:
        calls.search(peer, UNKNOWN)
    calls.await_ends(UNKNOWN)
    expect(calls.ended, [REFUSED] * UNKNOWN, "calls of strangers beyond 256")
    print("<full>", flush=True)
    calls.await_ends(calls.sent)
    expect(calls.ended[UNKNOWN:], [None] * PER_PROGRAM, "what was taken")


def descriptors():
    """Calls that bring one, of programs that are not the desktop's portal: none is taken."""
    Peer().search(none="such")
    print("<ready>", flush=True)
    input()
    calls, connections = Calls(), [Peer() for _ in range(5)]
    with open("/dev/null", "w") as file:
        for peer in connections:
            calls.send(peer, UNKNOWN, *PORTAL, "RetrieveSecret", "osha{sv}",
                       dbus.ObjectPath(PORTAL[0] + "/request/1_1/t"), "org.example.One",
                       dbus.types.UnixFd(file), dbus.Dictionary({}, signature="sv"))
    print("<full>", flush=True)
    calls.await_ends(calls.sent)
    expect(calls.ended, ["org.freedesktop.DBus.Error.AccessDenied"] * calls.sent, "the portal's call")
    calls.send(connections[0], 1, ROOT, SERVICE, "ReadAlias", "s", "default")
    calls.await_ends(calls.sent)
    expect(calls.ended[-1], None, "room for calls")


def bytes_under_way():
    """Of a program's calls 80 MiB, each with what is copied out of it."""
    peers = [Peer() for _ in range(4)]
    sessions = [peer.session() for peer in peers]
    print("<ready>", flush=True)
    input()
    calls = Calls()
    # Without a moment for more: the bridge waits five seconds for a keychain that takes nothing.
    for number, (peer, session) in enumerate(zip(peers, sessions)):
        calls.send(peer, 1, LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b",
                   peer.properties(kind="long", number=str(number)), secret(session, bytes(12 << 20)), False)
    calls.await_ends(1, moment=0)
    expect(calls.ended, [REFUSED], "the fourth of 12 MiB")
    # What a call does not need counts, too.
    calls.send(peers[0], 1, ROOT, SERVICE, "OpenSession", "sv", "plain", dbus.ByteArray(24 << 20))
    calls.await_ends(2, moment=0)
    expect(calls.ended, [REFUSED] * 2, "one more of 24 MiB")
    if resident(peers[0]) > 160:
        sys.exit(f"{resident(peers[0])} MiB")
    print("<full>", flush=True)
    calls.await_ends(5)
    expect(calls.ended[2:], [None] * 3, "what was taken")
    for item in peers[0].search(kind="long")[0]:
        peers[0].call(item, ITEM, "Delete")


def busy(count):
    """One of several programs: tells how many calls of so many are refused, and whether the others come to an end."""
    peers = [Peer() for _ in range(-(-int(count) // PER_PEER))]
    for peer in peers:
        peer.search(none="such")
    print("<ready>", flush=True)
    input()
    calls = Calls()
    # One more on each connection: once it is refused, those before it are under way.
    for peer in peers:
        calls.search(peer, min(int(count), PER_PEER) + (int(count) > 1))
    calls.await_ends(len(peers), moment=0)
    refused = len(calls.ended)
    expect(calls.ended, [REFUSED] * refused, "what is refused")
    print(f"<{refused}>", flush=True)
    input()
    calls.await_ends(calls.sent)
    expect(calls.ended[refused:], [None] * (calls.sent - refused), "what was taken")
    print("<done>", flush=True)


def secrets():
    """GetSecrets gives 32 MiB and no more."""
    peer = Peer()
    session = peer.session()
    items = [peer.create(session, bytes(12 << 20), kind="large", number=str(number)) for number in range(3)]
    found = peer.call(ROOT, SERVICE, "GetSecrets", "aoo", items[:2], session)
    expect({len(value[2]) for value in found.values()}, {12 << 20}, "24 MiB")
    expect(peer.error(ROOT, SERVICE, "GetSecrets", "aoo", items, session), "LimitsExceeded", "36 MiB")
    expect(peer.error(ROOT, SERVICE, "GetSecrets", "aoo", [dbus.ObjectPath("/a")] * 1001, session),
           "LimitsExceeded", "1,001 paths")
    for item in items:
        peer.call(item, ITEM, "Delete")


def prompts():
    """A program has 16 that it has not called for. They go with it."""
    peer = Peer()

    def offered(peer):
        return peer.call(ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath(LOGIN)])[1]

    prompts = [offered(peer) for _ in range(16)]
    expect(len(set(prompts)) == 16 and "/" not in prompts, True, prompts)
    expect(peer.error(ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath(LOGIN)]), "LimitsExceeded", "17 prompts")
    other = Peer()
    expect(offered(other).startswith(ROOT + "/prompt/"), True, "another connection's")
    peer.call(prompts[0], PROMPT, "Dismiss")
    expect(peer.error(prompts[0], PROMPT, "Dismiss"), "UnknownMethod", "the end of a prompt")
    # It counts until the signal of its end was sent.
    eventually(lambda: not peer.error(ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath(LOGIN)]), "room for one more")
    before = resident(peer)
    for _ in range(40):
        many = Peer()
        for _ in range(16):
            offered(many)
        many.bus.close()
    if resident(peer) > before + 8:
        sys.exit(f"640 prompts whose program has gone: {before} MiB became {resident(peer)}")
    eventually(lambda: other.error(prompts[1], PROMPT, "Dismiss") == "AccessDenied", "another's prompt")


def crowd(connections, sessions):
    """A process of a crowd: so many connections, with so many sessions each. Tells how many were given and how
    often the end of that was the limit; then, for each line, uses all of them, closes or opens one."""
    peers, given, refused = [], [], 0
    for _ in range(int(connections)):
        peers.append(Peer())
        for _ in range(int(sessions)):
            try:
                given.append((peers[-1], peers[-1].session()))
            except dbus.DBusException as error:
                expect(error.get_dbus_name(), REFUSED, "a session that is not given")
                refused += 1
    print(f"<{len(given)} {refused}>", flush=True)
    for line in sys.stdin:
        if line.strip() == "use":
            item = peers[0].create(given[0][1], replace=True, kind="crowd")
            for peer, session in given:
                value = peer.call(item, ITEM, "GetSecret", "o", session)
                expect(bytes(value[2]), b"s3cret", "the secret in a session that was given long ago")
            print("<used>", flush=True)
        elif line.strip() == "close":
            peer, session = given.pop()
            peer.call(session, SESSION, "Close")
            print("<closed>", flush=True)
        elif line.strip() == "open":
            given.append((peers[0], peers[0].session()))
            print("<opened>", flush=True)


if __name__ == "__main__":
    DBusGMainLoop(set_as_default=True)
    {case.__name__: case for case in (
        calls, strangers, descriptors, bytes_under_way, busy, secrets, prompts, crowd)}[sys.argv[1]](*sys.argv[2:])
