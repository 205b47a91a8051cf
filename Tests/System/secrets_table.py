# SPDX-License-Identifier: Apache-2.0
"""Every member of org.freedesktop.secrets, called wrongly in each way that there is: one case each, named on
the command line. What is wrong in several ways is refused for the first of them: types, sizes, path, session,
lock."""

import sys
from xml.etree import ElementTree

import dbus
from dbus.mainloop.glib import DBusGMainLoop

from secrets_client import (
    COLLECTION, ENCRYPTED, ITEM, LOGIN, MEMORY, PROMPT, PROPERTIES, ROOT, SERVICE, SESSION, Peer, expect, secret)

INTROSPECTABLE = "org.freedesktop.DBus.Introspectable"
NOWHERE = "0" * 32
MISSING = {
    "collection": ROOT + "/collection/none", "item": f"{LOGIN}/{NOWHERE}", "session": f"{ROOT}/session/{NOWHERE}",
    "prompt": f"{ROOT}/prompt/{NOWHERE}",
}
GONE = {"collection": "NoSuchObject", "item": "NoSuchObject", "session": "UnknownMethod", "prompt": "UnknownMethod"}


def path(text):
    return dbus.ObjectPath(text)


def strings(**pairs):
    return dbus.Dictionary(pairs, signature="ss")


def properties(interface, **values):
    return dbus.Dictionary({f"{interface}.{name}": value for name, value in values.items()}, signature="sv")


def variant(text):
    return dbus.String(text, variant_level=1)


# Interface and member: the types, arguments that are meant well, and those that are too large. Where a session is
# an argument, it is asked for by a path.
def members(session):
    long, none = "x" * 4097, path("/")
    many = dbus.Dictionary({str(number): "x" for number in range(65)}, signature="ss")
    heavy = dbus.Dictionary({f"{number}": "x" * 4000 for number in range(9)}, signature="ss")
    wide = [strings(**{"x" * 257: "x"}), strings(x=long), many, heavy]
    paths = dbus.Array([path("/a")] * 1001, signature="o")
    item = properties(ITEM, Label=variant("x"))
    too_long = bytes((16 << 20) + 17)

    def sent(value=b"x", parameters=b"", content_type="text/plain"):
        return secret(session, value, parameters, content_type)

    unfit = [sent(content_type="x" * 257), sent(parameters=bytes(257)), sent(too_long)]
    return {
        (SERVICE, "OpenSession"): ("sv", ("plain", variant("")), [
            ("x" * 257, variant("")), (ENCRYPTED, dbus.ByteArray(bytes(4097), variant_level=1))]),
        (SERVICE, "CreateCollection"): ("a{sv}s", (properties(COLLECTION), ""), [
            (properties(COLLECTION, Label=variant(long)), ""), (properties(COLLECTION), "x" * 257)]),
        (SERVICE, "SearchItems"): ("a{ss}", (strings(),), [(value,) for value in wide]),
        (SERVICE, "Unlock"): ("ao", (dbus.Array([], signature="o"),), [(paths,)]),
        (SERVICE, "Lock"): ("ao", (dbus.Array([], signature="o"),), [(paths,)]),
        (SERVICE, "GetSecrets"): ("aoo", (dbus.Array([], signature="o"), path(session)), [(paths, path(session))]),
        (SERVICE, "ReadAlias"): ("s", ("none",), [("x" * 257,)]),
        (SERVICE, "SetAlias"): ("so", ("none", none), [("x" * 257, none)]),
        (COLLECTION, "Delete"): ("", (), []),
        (COLLECTION, "SearchItems"): ("a{ss}", (strings(),), [(value,) for value in wide]),
        (COLLECTION, "CreateItem"): ("a{sv}(oayays)b", (item, sent(), False), [
            (properties(ITEM, Label=variant(long)), sent(), False),
            (properties(ITEM, Type=variant(long)), sent(), False),
            *((properties(ITEM, Attributes=dbus.Dictionary(value, signature="ss", variant_level=1)), sent(), False)
              for value in wide),
            *((item, value, False) for value in unfit)]),
        (ITEM, "Delete"): ("", (), []),
        (ITEM, "GetSecret"): ("o", (path(session),), []),
        (ITEM, "SetSecret"): ("(oayays)", (sent(),), [(value,) for value in unfit]),
        (SESSION, "Close"): ("", (), []),
        (PROMPT, "Prompt"): ("s", ("",), [(long,)]),
        (PROMPT, "Dismiss"): ("", (), []),
        (PROPERTIES, "Get"): ("ss", ("", "Label"), [("x" * 257, "Label"), ("", "x" * 257)]),
        (PROPERTIES, "GetAll"): ("s", ("",), [("x" * 257,)]),
        (PROPERTIES, "Set"): ("ssv", ("", "Label", variant("x")), [("x" * 257, "Label", variant("x"))]),
        (INTROSPECTABLE, "Introspect"): ("", (), []),
    }


OF = {"service": SERVICE, "collection": COLLECTION, "item": ITEM, "session": SESSION, "prompt": PROMPT}
WITH_SESSION = {(SERVICE, "GetSecrets"), (COLLECTION, "CreateItem"), (ITEM, "GetSecret"), (ITEM, "SetSecret")}


def of(kind, table):
    """What an object of that kind answers to."""
    return {key: row for key, row in table.items() if key[0] in (OF[kind], PROPERTIES, INTROSPECTABLE)}


def told(peer, at):
    """What an object says that it answers to."""
    document = ElementTree.fromstring(peer.call(at, INTROSPECTABLE, "Introspect"))
    return {(interface.get("name"), method.get("name")): "".join(
        argument.get("type") for argument in method.findall("arg") if argument.get("direction") == "in")
        for interface in document.findall("interface") for method in interface.findall("method")}


class Objects:
    """One of each kind that is there. Prompts are made where a user may be asked; what is said of those that are
    gone is said of others too."""

    def __init__(self, peer):
        self.session = peer.session()
        self.item = peer.create(self.session, kind="table")
        self.at = {"service": ROOT, "collection": LOGIN, "item": self.item, "session": self.session}


def types():
    """Arguments of other types are refused first of all: also where nothing is."""
    peer = Peer()
    objects = Objects(peer)
    table = members(objects.session)
    for kind, at in objects.at.items():
        expect(told(peer, at), {key: row[0] for key, row in of(kind, table).items()}, f"the members of a {kind}")
    for kind in OF:
        for (interface, member), (signature, arguments, _) in of(kind, table).items():
            places = [place for place in (objects.at.get(kind), MISSING.get(kind)) if place]
            for place in places:
                wrong = [(signature + "s", (*arguments, "x"))] + ([("", ())] if signature else [])
                wrong += [("u" + signature[1:], (dbus.UInt32(1), *arguments[1:]))] if signature[:1] == "s" else []
                for other, values in wrong:
                    expect(peer.error(place, interface, member, other, *values), "InvalidArgs",
                           (place, member, other))


def sizes():
    """What is too large is refused before anything is looked for."""
    peer = Peer()
    objects = Objects(peer)
    table = members(objects.session)
    for kind in OF:
        for (interface, member), (signature, _, large) in of(kind, table).items():
            for number, arguments in enumerate(large):
                for place in [place for place in (objects.at.get(kind), MISSING.get(kind)) if place]:
                    expect(peer.error(place, interface, member, signature, *arguments), "LimitsExceeded",
                           (place, member, number))


def paths():
    """What is not there is told before a session that is not; and what an object does not answer to."""
    peer = Peer()
    objects = Objects(peer)
    table = members("/")
    for kind, place in MISSING.items():
        for (interface, member), (signature, arguments, _) in of(kind, table).items():
            # A name of no property of theirs is none of a missing object's either.
            if interface == PROPERTIES and kind in ("session", "prompt") and member != "GetAll":
                continue
            expect(peer.error(place, interface, member, signature, *arguments), GONE[kind], (place, member))
    for kind, at in objects.at.items():
        own = of(kind, table)
        for (interface, member), (signature, arguments, _) in table.items():
            if (interface, member) not in own:
                expect(peer.error(at, interface, member, signature, *arguments), "UnknownMethod", (at, member))
        for interface in {key[0] for key in own}:
            expect(peer.error(at, interface, "Nothing"), "UnknownMethod", (at, interface))
        for member, more in (("Get", ()), ("Set", (variant("x"),))):
            expect(peer.error(at, PROPERTIES, member, "ssv"[:2 + len(more)], "", "Nothing", *more),
                   "UnknownProperty", (at, member))
        expect(peer.error(at, PROPERTIES, "GetAll", "s", "org.example.Other"), "UnknownMethod", at)
        peer.call(at, PROPERTIES, "GetAll", "s", "")
    nothing = {ROOT + "/collection/a_": "NoSuchObject", f"{LOGIN}/x": "NoSuchObject"}
    nothing |= dict.fromkeys((ROOT + "/nothing", "/", f"{LOGIN}/{NOWHERE}/x", ROOT + "/session/s1"), "UnknownMethod")
    for at, error in nothing.items():
        for (interface, member), (signature, arguments, _) in table.items():
            expect(peer.error(at, interface, member, signature, *arguments), error, (at, member))
    # Nor can each property be set.
    for at, interface, name, value in (
            (ROOT, SERVICE, "Collections", dbus.Array([], signature="o", variant_level=1)),
            (LOGIN, COLLECTION, "Items", dbus.Array([], signature="o", variant_level=1)),
            (LOGIN, COLLECTION, "Locked", dbus.Boolean(False, variant_level=1)),
            (LOGIN, COLLECTION, "Created", dbus.UInt64(1, variant_level=1)),
            (LOGIN, COLLECTION, "Modified", dbus.UInt64(1, variant_level=1)),
            (objects.item, ITEM, "Locked", dbus.Boolean(False, variant_level=1)),
            (objects.item, ITEM, "Created", dbus.UInt64(1, variant_level=1)),
            (objects.item, ITEM, "Modified", dbus.UInt64(1, variant_level=1)),
            (MEMORY, COLLECTION, "Label", variant("x"))):
        expect(peer.error(at, PROPERTIES, "Set", "ssv", interface, name, value), "PropertyReadOnly", (at, name))
    for at, interface, name in ((LOGIN, COLLECTION, "Label"), (objects.item, ITEM, "Label"),
                                (objects.item, ITEM, "Type"), (objects.item, ITEM, "Attributes")):
        expect(peer.error(at, PROPERTIES, "Set", "ssv", interface, name, dbus.UInt32(1, variant_level=1)),
               "InvalidArgs", (at, name))


def sessions():
    """One that is not there, is another's or is no session."""
    peer, other = Peer(), Peer()
    objects = Objects(peer)
    closed = peer.session()
    peer.call(closed, SESSION, "Close")
    for session in ("/", LOGIN, closed, other.session(), f"{ROOT}/session/{NOWHERE}"):
        for kind in ("service", "collection", "item"):
            for (interface, member), (signature, arguments, _) in of(kind, members(session)).items():
                if (interface, member) in WITH_SESSION:
                    expect(peer.error(objects.at[kind], interface, member, signature, *arguments), "NoSession",
                           (member, session))


def locks():
    """With no user to ask: what is locked is told after a session that is not there."""
    peer = Peer()
    objects = Objects(peer)
    peer.call(ROOT, SERVICE, "Lock", "ao", [path(LOGIN)])
    for session, wanted in (("/", "NoSession"), (objects.session, "IsLocked")):
        for kind in ("collection", "item"):
            for (interface, member), (signature, arguments, _) in of(kind, members(session)).items():
                if (interface, member) in WITH_SESSION:
                    expect(peer.error(objects.at[kind], interface, member, signature, *arguments), wanted,
                           (member, session))
    expect(peer.error(objects.item, ITEM, "Delete"), "IsLocked", "Delete")
    for at, interface, name, value in (
            (LOGIN, COLLECTION, "Label", variant("x")), (objects.item, ITEM, "Label", variant("x")),
            (objects.item, ITEM, "Type", variant("x")),
            (objects.item, ITEM, "Attributes", dbus.Dictionary({"a": "b"}, signature="ss", variant_level=1))):
        expect(peer.error(at, PROPERTIES, "Set", "ssv", interface, name, value), "IsLocked", (at, name))
        # It can be read all the same, as far as it is known.
        peer.call(at, PROPERTIES, "Get", "ss", interface, name)


if __name__ == "__main__":
    DBusGMainLoop(set_as_default=True)
    {case.__name__: case for case in (types, sizes, paths, sessions, locks)}[sys.argv[1]]()
