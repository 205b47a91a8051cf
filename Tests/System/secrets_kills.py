# SPDX-License-Identifier: Apache-2.0
"""A program that calls each member of org.freedesktop.secrets that needs no user while the service, or the
keychain behind it, is killed: before it has heard of the call, while it does it, and when it has answered. What
was answered holds; a call that was not is refused as it is said to be, and was done or was not.

Its starter stops and kills the keychain: each line that it says is such a word, and it goes on with the next
line from there. It stops and kills the service itself. Says what is wrong and ends with 1."""

import os
import signal
import sys
import time

import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

from secrets_client import (
    COLLECTION, ITEM, LOGIN, NAME, PROPERTIES, ROOT, SERVICE, SESSION, Peer, expect, secret)

INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
# What libraries hear of a service that is gone, and what is said of a keychain that does not answer.
ENDED = {"org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.ServiceUnknown"}
UNDONE = {"org.freedesktop.DBus.Error.Failed"}
PATIENCE = 30


def starter(word):
    print(f"<{word}>", flush=True)
    sys.stdin.readline()


def pid(peer):
    return int(peer.bus.call_blocking(
        "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", (NAME,)))


class Case:
    """A connection with what a call needs, and the call."""

    def __init__(self, member):
        self.peer = Peer()
        self.session = self.peer.session()
        self.item = self.peer.create(self.session, b"before", kind="kill", label="before")
        self.other = self.peer.session()
        self.member = member

    def call(self):
        """Where, which types and arguments; and, of one that changes something, what is seen of it then."""
        pairs, path = dbus.Dictionary({"kind": "kill"}, signature="ss"), dbus.ObjectPath
        value = secret(self.session, b"after")
        label = dbus.String("after", variant_level=1)
        return {
            (SERVICE, "OpenSession"): (ROOT, "sv", ("plain", dbus.String("", variant_level=1))),
            (SERVICE, "CreateCollection"): (ROOT, "a{sv}s", (dbus.Dictionary({}, signature="sv"), "default")),
            (SERVICE, "SearchItems"): (ROOT, "a{ss}", (pairs,)),
            (SERVICE, "Unlock"): (ROOT, "ao", ([path(LOGIN)],)),
            (SERVICE, "Lock"): (ROOT, "ao", ([path(ROOT + "/collection/session")],)),
            (SERVICE, "GetSecrets"): (ROOT, "aoo", ([path(self.item)], path(self.session))),
            (SERVICE, "ReadAlias"): (ROOT, "s", ("default",)),
            (SERVICE, "SetAlias"): (ROOT, "so", ("killed", path(LOGIN))),
            (COLLECTION, "Delete"): (LOGIN, "", ()),
            (COLLECTION, "SearchItems"): (LOGIN, "a{ss}", (pairs,)),
            (COLLECTION, "CreateItem"): (LOGIN, "a{sv}(oayays)b", (
                self.peer.properties(kind="new", label="after"), value, False)),
            (ITEM, "Delete"): (self.item, "", ()),
            (ITEM, "GetSecret"): (self.item, "o", (path(self.session),)),
            (ITEM, "SetSecret"): (self.item, "(oayays)", (value,)),
            (SESSION, "Close"): (self.other, "", ()),
            (PROPERTIES, "Get"): (LOGIN, "ss", (COLLECTION, "Label")),
            (PROPERTIES, "GetAll"): (self.item, "s", (ITEM,)),
            (PROPERTIES, "Set"): (self.item, "ssv", (ITEM, "Label", label)),
            (INTROSPECTABLE, "Introspect"): (LOGIN, "", ()),
        }[self.member]

    def send(self):
        """The end of the call, once there is one: the error's name, or None."""
        self.ends = []
        place, signature, arguments = self.call()
        self.peer.bus.call_async(NAME, place, *self.member, signature, arguments, lambda *told: self.ends.append(None),
                                 lambda error: self.ends.append(error.get_dbus_name()), timeout=PATIENCE)
        self.peer.bus.flush()

    def end(self):
        deadline = time.monotonic() + PATIENCE
        while not self.ends:
            expect(time.monotonic() < deadline, True, f"{self.member} is answered")
            GLib.MainContext.default().iteration(False) or time.sleep(0.002)
        return self.ends[0]

    def check(self, end):
        """What is there, by the service that the bus starts anew."""
        peer = again()
        session = peer.session()
        done, seen = end is None, peer.search(kind="kill")[0]
        change = self.member[1] if self.member in CHANGES else None
        new = peer.search(kind="new")[0]
        expect(len(new) in ({1} if done else {0, 1}) if change == "CreateItem" else not new, True, "new items")
        gone = self.item not in seen
        expect(gone if change == "Delete" and done else True, True, "a deleted item")
        if not gone:
            value = bytes(peer.call(self.item, ITEM, "GetSecret", "o", session)[2])
            label = peer.call(self.item, PROPERTIES, "Get", "ss", ITEM, "Label")
            for member, found, before, after in (("SetSecret", value, b"before", b"after"),
                                                 ("Set", label, "before", "after")):
                wanted = {before} if change != member else {after} if done else {before, after}
                expect(found in wanted, True, f"{found!r} after {self.member}, which ended with {end}")
        else:
            expect(change, "Delete", "what took the item away")
        alias = peer.call(ROOT, SERVICE, "ReadAlias", "s", "killed")
        wanted = {"/"} if change != "SetAlias" else {LOGIN} if done else {"/", LOGIN}
        expect(alias in wanted, True, f"{alias} after {self.member}")
        if alias != "/":
            peer.call(ROOT, SERVICE, "SetAlias", "so", "killed", dbus.ObjectPath("/"))
        for item in {*seen, *new}:
            peer.call(item, ITEM, "Delete")


CHANGES = {(SERVICE, "SetAlias"), (COLLECTION, "CreateItem"), (ITEM, "Delete"), (ITEM, "SetSecret"),
           (PROPERTIES, "Set")}
MEMBERS = [
    *((SERVICE, member) for member in ("OpenSession", "CreateCollection", "SearchItems", "Unlock", "Lock",
                                       "GetSecrets", "ReadAlias", "SetAlias")),
    *((COLLECTION, member) for member in ("Delete", "SearchItems", "CreateItem")),
    *((ITEM, member) for member in ("Delete", "GetSecret", "SetSecret")), (SESSION, "Close"),
    *((PROPERTIES, member) for member in ("Get", "GetAll", "Set")), (INTROSPECTABLE, "Introspect")]


def again():
    """A new connection, once what was killed is there again."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            peer = Peer()
            peer.call(ROOT, SERVICE, "ReadAlias", "s", "default")
            return peer
        except dbus.DBusException as error:
            expect(time.monotonic() < deadline, True, f"it came back: {error}")
            time.sleep(0.02)


def kill(case):
    """Waits until the bus knows that the service is gone."""
    service = pid(case.peer)
    os.kill(service, signal.SIGKILL)


# The service.

def unheard(case):
    service = pid(case.peer)
    os.kill(service, signal.SIGSTOP)
    case.send()
    os.kill(service, signal.SIGKILL)
    end = case.end()
    expect(end in ENDED, True, f"{case.member} ends with {end}")
    return end


def under_way(case):
    """The keychain has the request, where there is one, and does it when the service is gone."""
    starter("stop")
    service = pid(case.peer)
    case.send()
    time.sleep(0.02)
    os.kill(service, signal.SIGKILL)
    end = case.end()
    starter("continue")
    expect(end is None or end in ENDED, True, f"{case.member} ends with {end}")
    return end


def answered(case):
    case.send()
    end = case.end()
    kill(case)
    return end


# The keychain.

def keychain_under_way(case):
    starter("stop")
    case.send()
    time.sleep(0.02)
    starter("kill")
    end = case.end()
    expect(end is None or end in UNDONE or case.is_refused(end), True, f"{case.member} ends with {end}")
    return end


def keychain_answered(case):
    case.send()
    end = case.end()
    starter("kill")
    return end


if __name__ == "__main__":
    DBusGMainLoop(set_as_default=True)
    Case.is_refused = lambda self, end: self.member == (COLLECTION, "Delete") and end.endswith("NotSupported")
    for moment in (unheard, under_way, answered, keychain_under_way, keychain_answered):
        for member in MEMBERS:
            print(moment.__name__, *member, flush=True)
            case = Case(member)
            end = moment(case)
            if member == (COLLECTION, "Delete") and moment in (answered, keychain_answered):
                expect(end.endswith("NotSupported"), True, "the deletion of login")
            elif moment in (answered, keychain_answered):
                expect(end, None, f"{member} is answered")
            case.check(end)
    print("<done>", flush=True)
