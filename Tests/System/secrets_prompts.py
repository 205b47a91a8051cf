# SPDX-License-Identifier: Apache-2.0
"""A program that calls org.freedesktop.secrets where its user may be asked, or is not there: one case each,
named on the command line. Says what is wrong and ends with 1."""

import os
import sys
import time

import dbus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

from secrets_client import (
    COLLECTION, ITEM, LOGIN, MEMORY, PROMPT, PROPERTIES, ROOT, SERVICE, Peer, completed, decrypt, encrypted,
    eventually, expect, guarded, unlocked)

WORK = ROOT + "/collection/work"


def told(peer, path, interface, name):
    return peer.call(path, PROPERTIES, "Get", "ss", interface, name)


# New collections.

def create(peer, label, alias=""):
    properties = {COLLECTION + ".Label": dbus.String(label, variant_level=1)} if label is not None else {}
    return peer.call(ROOT, SERVICE, "CreateCollection", "a{sv}s", dbus.Dictionary(properties, signature="sv"),
                     alias)


def refused(peer, alias, **properties):
    wanted = {f"{COLLECTION}.{name}": value for name, value in properties.items()}
    return peer.error(ROOT, SERVICE, "CreateCollection", "a{sv}s", dbus.Dictionary(wanted, signature="sv"),
                      alias)


def creates():
    """Where the user chooses a password: the name is made of the label."""
    peer = Peer()
    label = dbus.String("x", variant_level=1)
    expect(create(peer, "Another", "default"), (LOGIN, "/"), "a taken alias")
    expect(told(peer, LOGIN, COLLECTION, "Label"), "login", "the label of what has the alias")
    for wanted, alias, properties in (
            ("InvalidArgs", "", {"Other": label}), ("InvalidArgs", "", {"Locked": label}),
            ("InvalidArgs", "", {"Label": dbus.UInt32(1, variant_level=1)}),
            ("InvalidArgs", "a-b", {"Label": label}), ("InvalidArgs", "a" * 65, {"Label": label}),
            ("LimitsExceeded", "", {"Label": dbus.String("x" * 4097, variant_level=1)}),
            ("NotSupported", "login", {"Label": label}), ("NotSupported", "session", {"Label": label})):
        expect(refused(peer, alias, **properties), wanted, (alias, properties))
    made = []
    peer.bus.add_signal_receiver(made.append, "CollectionCreated", SERVICE)
    for label, alias, element in (("Mein Schlüssel", "mine", "Mein_5fSchl_5f_5fssel"),
                                  ("Mein Schlüssel", "", "Mein_5fSchl_5f_5fssel_5f1"),
                                  ("login", "", "login_5f1"), (None, "", "collection")):
        path = f"{ROOT}/collection/{element}"
        collection, prompt = create(peer, label, alias)
        expect(collection, "/", "a collection that is not there yet")
        expect(completed(peer, prompt), (False, path), "the new collection")
        shown = told(peer, path, COLLECTION, "Label")
        expect(shown, element if label is None else label, "its label")
        expect(told(peer, path, COLLECTION, "Locked"), False, "its lock")
        item = peer.create(peer.session(), collection=path, kind="new")
        expect(peer.search(kind="new")[0][0], item, "an item in it")
        peer.call(item, ITEM, "Delete")
        expect(path in told(peer, ROOT, SERVICE, "Collections"), True, "collections")
        eventually(lambda: GLib.MainContext.default().iteration(False) or path in made, "CollectionCreated")
    path = f"{ROOT}/collection/Mein_5fSchl_5f_5fssel"
    expect(peer.call(ROOT, SERVICE, "ReadAlias", "s", "mine"), path, "its alias")
    expect(create(peer, "Another", "mine"), (path, "/"), "an alias that is taken now")
    expect(told(peer, path, COLLECTION, "Label"), "Mein Schlüssel", "the label of what has the alias")
    expect(list(told(peer, ROOT, SERVICE, "Collections"))[0], LOGIN, "the first of all collections")


def creates_login():
    """Of a user who has no keychain: the default one is `login`, whatever its label."""
    peer = Peer()
    expect(peer.call(ROOT, SERVICE, "ReadAlias", "s", "default"), "/", "the alias")
    expect(list(told(peer, ROOT, SERVICE, "Collections")), [MEMORY], "collections")
    collection, prompt = create(peer, "Default keyring", "default")
    expect((collection, completed(peer, prompt)), ("/", (False, LOGIN)), "the new collection")
    expect(told(peer, LOGIN, COLLECTION, "Label"), "Default keyring", "its label")
    expect(peer.call(ROOT, SERVICE, "ReadAlias", "s", "default"), LOGIN, "the alias")


def creates_none():
    """Where the user says no."""
    peer = Peer()
    collection, prompt = create(peer, "Never", "mine")
    expect((collection, completed(peer, prompt)), ("/", (True, "/")), "a no")
    expect(ROOT + "/collection/Never" in told(peer, ROOT, SERVICE, "Collections"), False, "collections")
    expect(peer.call(ROOT, SERVICE, "ReadAlias", "s", "mine"), "/", "the alias")


def creates_for_no_one():
    """Where no user can be asked."""
    expect(refused(Peer(), ""), "Failed", "with no user there")


# Aliases.

def set_alias(peer, alias, path):
    return peer.error(ROOT, SERVICE, "SetAlias", "so", alias, dbus.ObjectPath(path))


def read_alias(peer, alias):
    return peer.call(ROOT, SERVICE, "ReadAlias", "s", alias)


def sets_aliases():
    peer = Peer()
    for wanted, alias, path in (("InvalidArgs", "a-b", WORK), ("InvalidArgs", "", WORK),
                                ("NotSupported", "mine", MEMORY)):
        expect(set_alias(peer, alias, path), wanted, (alias, path))
    expect((set_alias(peer, "mine", WORK), read_alias(peer, "mine")), (None, WORK), "a new alias")
    item = peer.create(peer.session(), collection=ROOT + "/aliases/mine", kind="alias")
    expect(item.startswith(WORK + "/"), True, item)
    peer.call(item, ITEM, "Delete")
    expect((set_alias(peer, "mine", LOGIN), read_alias(peer, "mine")), (None, LOGIN), "another collection")
    for number in range(31):
        expect(set_alias(peer, f"more_{number}", WORK), None, "32 aliases")
    expect(set_alias(peer, "too_many", WORK), "LimitsExceeded", "an alias more")
    expect((set_alias(peer, "mine", "/"), read_alias(peer, "mine")), (None, "/"), "a removed alias")
    expect(peer.error(ROOT + "/aliases/mine", PROPERTIES, "GetAll", "s", COLLECTION), "NoSuchObject", "its path")
    expect(set_alias(peer, "too_many", WORK), None, "room for another alias")
    # All programs' new secrets go there: the user is asked.
    expect((set_alias(peer, "default", WORK), read_alias(peer, "default")), (None, WORK), "the default one")
    expect(peer.error(WORK, COLLECTION, "Delete"), "NotSupported", "deleting the default one")


def sets_no_default():
    peer = Peer()
    began = time.monotonic()
    expect((set_alias(peer, "default", WORK), read_alias(peer, "default")), ("AccessDenied", LOGIN), "a no")
    expect(time.monotonic() - began < 15, True, "the call waits")


# Budgets.

def refused_twice(what):
    """A program whose user said no twice hears what it would hear with no user there; once is not enough."""
    peer = Peer()
    item = peer.create(peer.session(), kind="kept", label="kept") if what == "item" else None
    calls = {
        "unlock": (ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath(LOGIN)]),
        "create": (ROOT, SERVICE, "CreateCollection", "a{sv}s", dbus.Dictionary({}, signature="sv"), ""),
        "collection": (WORK, COLLECTION, "Delete"), "item": (item, ITEM, "Delete"),
    }
    nothing = {"unlock": None, "create": "Failed", "collection": "AccessDenied", "item": "IsLocked"}[what]

    def prompt():
        """None where none is offered."""
        try:
            told = peer.call(*calls[what])
        except dbus.DBusException as error:
            expect(error.get_dbus_name().rsplit(".", 1)[1], nothing, "with no prompt")
            return None
        told = told[1] if isinstance(told, tuple) else told
        return None if told == "/" else told

    offered = []
    for _ in range(2):
        # There is a pause after each no.
        eventually(lambda: offered.append(prompt()) or offered[-1], "a prompt")
        expect(completed(peer, offered[-1])[0], True, "a no")
    until = time.monotonic() + 3
    while time.monotonic() < until:
        expect(prompt(), None, "after the second no")
        time.sleep(0.2)


def calls_refused(what):
    """Calls that ask by themselves say the same after a no, in the pause that follows one, and after two."""
    peer = Peer()
    session = peer.session()
    item = peer.create(session, kind="guarded") if what == "secret" else None
    call, nothing = {
        "secret": (lambda: peer.error(item, ITEM, "GetSecret", "o", session), "IsLocked"),
        "alias": (lambda: set_alias(peer, "default", WORK), "AccessDenied"),
    }[what]
    # Longer than the pause after a no, so that the second question is put.
    until = time.monotonic() + 6
    while time.monotonic() < until:
        expect(call(), nothing, what)
        time.sleep(0.2)


def unlocks_over(window):
    """With the window's number as the words say it."""
    peer = Peer()
    done, prompt = peer.call(ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath(LOGIN)])
    expect(list(done), [], "what is open before")
    expect(completed(peer, prompt, window), (False, [LOGIN]), "the end of the prompt")


# Secrets.

def encrypts():
    """A rule lets no secret travel in clear."""
    peer = Peer()
    plain, (key, path) = peer.session(), encrypted(peer)
    item = peer.create(plain, kind="transfer")
    expect(peer.search(kind="transfer"), ([item], []), "a search, which has no secret in it")
    expect(peer.error(item, ITEM, "GetSecret", "o", plain), "AccessDenied", "in clear")
    expect(dict(peer.call(ROOT, SERVICE, "GetSecrets", "aoo", [item], plain)), {}, "several in clear")
    _, initial, value, _ = peer.call(item, ITEM, "GetSecret", "o", path)
    expect(decrypt(key, bytes(initial), bytes(value)), b"s3cret", "encrypted")
    expect(list(peer.call(ROOT, SERVICE, "GetSecrets", "aoo", [item], path)), [item], "several encrypted")


def open_first():
    """A collection's search names what is open first, whatever its rank: there are clients that take the first."""
    peer = Peer()
    session = peer.session()
    locked = peer.create(session, kind="ranked", label="kept")
    found = peer.create(session, kind="ranked", more="x")
    pairs = dbus.Dictionary({"kind": "ranked"}, signature="ss")
    expect(peer.search(kind="ranked"), ([found], [locked]), "the service's search")
    expect(peer.call(LOGIN, COLLECTION, "SearchItems", "a{ss}", pairs), [found, locked], "the collection's search")


def asked_for():
    """GetSecret itself asks for the proof, which then serves other connections."""
    peer = Peer()
    item, = guarded(peer, peer.session(), 1)
    for number in range(10):
        other = Peer()
        value = other.call(item, ITEM, "GetSecret", "o", other.session())
        expect(bytes(value[2]), b"s3cret", f"reading it {number} times before")
        expect(other.search(kind="guarded"), ([item], []), "a search")


def unlocks_without_attributes():
    """An item that has no attributes is as locked as others."""
    peer = Peer()
    session = peer.session()
    item = peer.create(session)
    expect(told(peer, item, ITEM, "Locked"), True, "its lock")
    expect(dict(peer.call(ROOT, SERVICE, "GetSecrets", "aoo", [item], session)), {}, "its secret")
    expect(unlocked(peer, [item]), (False, [item]), "what was unlocked")
    expect(told(peer, item, ITEM, "Locked"), False, "its lock after that")
    expect(list(peer.call(ROOT, SERVICE, "GetSecrets", "aoo", [item], session)), [item], "its secret after that")


def answered_late():
    """The call ends after 20 seconds; the question stands, and its answer serves the next try."""
    peer = Peer()
    session = peer.session()
    item, = guarded(peer, session, 1)
    began = time.monotonic()
    expect(peer.error(item, ITEM, "GetSecret", "o", session), "IsLocked", "before the answer")
    expect(18 < time.monotonic() - began < 25, True, f"it took {time.monotonic() - began:.1f} s")
    eventually(lambda: peer.search(kind="guarded") == ([item], []), "the answer")
    expect(bytes(peer.call(item, ITEM, "GetSecret", "o", session)[2]), b"s3cret", "after the answer")


def deletes_item():
    peer = Peer()
    item = peer.create(peer.session(), kind="kept", label="kept")
    prompt = peer.call(item, ITEM, "Delete")
    expect(peer.search(kind="kept"), ([], [item]), "before the prompt")
    expect(completed(peer, prompt), (False, ""), "the end of the prompt")
    expect(peer.search(kind="kept"), ([], []), "after it")
    expect(peer.error(item, PROPERTIES, "GetAll", "s", ITEM), "NoSuchObject", "its path")


def keeps_item():
    """Where the user says no."""
    peer = Peer()
    item = peer.create(peer.session(), kind="kept", label="kept")
    expect(completed(peer, peer.call(item, ITEM, "Delete")), (True, ""), "a no")
    expect(item in peer.search(kind="kept")[1], True, "the item after it")


def keeps_item_of_no_one():
    peer = Peer()
    item = peer.create(peer.session(), kind="kept", label="kept")
    expect(peer.error(item, ITEM, "Delete"), "IsLocked", "with no user there")


# Collections that have not been open since the machine's start.

def restart():
    print("<ready>", flush=True)
    eventually(lambda: os.path.exists(os.path.expanduser("~/restarted")), "the restart")


def stands_in():
    peer = Peer()
    session = peer.session()
    peer.create(session, b"less", kind="standing", number="1", more="x")
    best = peer.create(session, b"best", kind="standing", number="2")
    restart()
    (_, (found,)), (_, (missing,)) = peer.search(kind="standing"), peer.search(kind="nothing")
    older = peer.search(kind="the oldest")[1][0]
    # They come after two that are used again, and the oldest makes room for the last.
    for number in range(61):
        peer.search(kind=f"search {number}")
    expect(told(peer, older, ITEM, "Locked"), True, "the oldest of 64")
    peer.search(kind="standing"), peer.search(kind="nothing")
    expect(told(peer, found, ITEM, "Locked"), True, "a search's own")
    dismissed, opened = unlocked(peer, [found, missing])
    expect((dismissed, opened), (False, [found]), "what was unlocked")
    expect(bytes(peer.call(found, ITEM, "GetSecret", "o", session)[2]), b"best", "the best match")
    expect(told(peer, found, ITEM, "Attributes"), {"kind": "standing", "number": "2"}, "its attributes")
    expect(peer.error(missing, ITEM, "GetSecret", "o", session), "NoSuchObject", "of no match")
    expect(peer.error(missing, PROPERTIES, "GetAll", "s", ITEM), "NoSuchObject", "of no match")
    expect(peer.search(kind="standing")[0][0], best, "a search that is told the items themselves")
    other = Peer()
    expect(other.error(found, ITEM, "GetSecret", "o", other.session()), "NoSuchObject", "another peer")


def stands_in_for_none():
    """The user has unlocked the collection, although no item matches: that is no refusal."""
    peer = Peer()
    peer.create(peer.session(), kind="standing")
    restart()
    missing = peer.search(kind="nothing")[1]
    expect(unlocked(peer, missing), (False, []), "what was unlocked")
    expect(told(peer, LOGIN, COLLECTION, "Locked"), False, "the collection")
    expect(peer.search(kind="nothing"), ([], []), "the same search again")


def stands_in_no_more():
    """Of 65 searches the first is forgotten."""
    peer = Peer()
    peer.create(peer.session(), kind="standing")
    restart()
    names = [peer.search(kind=f"search {number}")[1][0] for number in range(65)]
    expect(len(set(names)), 65, "stand-ins")
    expect(peer.error(names[0], PROPERTIES, "GetAll", "s", ITEM), "NoSuchObject", "the first of 65")
    expect(told(peer, names[1], ITEM, "Locked"), True, "the second of 65")


def saves_and_reads():
    """Ten of each, every one on a connection of its own, of which the first has the keychain opened."""
    for number in range(10):
        peer = Peer()
        if number == 0:
            expect(unlocked(peer, [LOGIN]), (False, [LOGIN]), "the collection")
        peer.create(peer.session(), str(number).encode(), kind="many", number=str(number))
    for number in range(10):
        peer = Peer()
        found, locked = peer.search(kind="many", number=str(number))
        expect((len(found), len(locked)), (1, 0), "what is found")
        value = peer.call(found[0], ITEM, "GetSecret", "o", peer.session())
        expect(bytes(value[2]), str(number).encode(), "a secret")


if __name__ == "__main__":
    DBusGMainLoop(set_as_default=True)
    case, *words = sys.argv[1:]
    if case not in globals():
        sys.exit(f"there is no case {case}")
    globals()[case](*words)
