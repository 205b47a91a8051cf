# SPDX-License-Identifier: Apache-2.0
"""A program on a user's bus that calls org.freedesktop.secrets as few programs do: one case each, named
on the command line. Says what is wrong and ends with 1."""

import hashlib
import hmac
import os
import subprocess
import sys
import time
from xml.etree import ElementTree

import dbus
import dbus.bus
import dbus.lowlevel
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

NAME = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
SERVICE = "org.freedesktop.Secret.Service"
COLLECTION = "org.freedesktop.Secret.Collection"
ITEM = "org.freedesktop.Secret.Item"
SESSION = "org.freedesktop.Secret.Session"
PROMPT = "org.freedesktop.Secret.Prompt"
PROPERTIES = "org.freedesktop.DBus.Properties"
LOGIN = ROOT + "/collection/login"
MEMORY = ROOT + "/collection/session"
ENCRYPTED = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)


class Peer:
    """One connection."""

    def __init__(self):
        self.bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])

    def call(self, path, interface, member, signature="", *arguments):
        return self.bus.call_blocking(NAME, path, interface, member, signature, arguments, timeout=30)

    def error(self, path, interface, member, signature="", *arguments):
        """The last part of the error's name; None where there is none."""
        try:
            self.call(path, interface, member, signature, *arguments)
        except dbus.DBusException as error:
            return error.get_dbus_name().rsplit(".", 1)[1]
        return None

    def session(self):
        return self.call(ROOT, SERVICE, "OpenSession", "sv", "plain", dbus.String("", variant_level=1))[1]

    def properties(self, label="x", **pairs):
        return dbus.Dictionary({
            ITEM + ".Label": dbus.String(label, variant_level=1),
            ITEM + ".Attributes": dbus.Dictionary(pairs, signature="ss", variant_level=1),
        }, signature="sv")

    def create(self, session, value=b"s3cret", collection=LOGIN, replace=False, **pairs):
        return self.call(collection, COLLECTION, "CreateItem", "a{sv}(oayays)b", self.properties(**pairs),
                         secret(session, value), replace)[0]

    def search(self, **pairs):
        return self.call(ROOT, SERVICE, "SearchItems", "a{ss}", dbus.Dictionary(pairs, signature="ss"))


def secret(session, value, parameters=b"", content_type="text/plain"):
    return dbus.Struct((dbus.ObjectPath(session), dbus.ByteArray(parameters), dbus.ByteArray(value),
                        content_type), signature="oayays")


def expect(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r} and not {wanted!r}")


def eventually(done, what):
    """Tries again until it is so: for what the service hears of from the bus."""
    deadline = time.monotonic() + 20
    while not done():
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within 20 seconds")
        time.sleep(0.02)


def errors():
    peer, none = Peer(), dbus.ObjectPath("/")
    missing = LOGIN + "/" + "0" * 32
    cases = [
        ("InvalidArgs", ROOT, SERVICE, "SearchItems", "s", "x"),
        ("InvalidArgs", ROOT, SERVICE, "SearchItems"),
        ("InvalidArgs", ROOT, SERVICE, "ReadAlias", "ss", "x", "y"),
        ("InvalidArgs", LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)s", peer.properties(),
         secret("/", b""), "x"),
        ("InvalidArgs", LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b",
         dbus.Dictionary({"org.example.Other": dbus.String("x", variant_level=1)}, signature="sv"),
         secret("/", b""), False),
        ("NoSession", LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(),
         secret("/", b""), False),
        ("NoSuchObject", ROOT + "/collection/none", COLLECTION, "CreateItem", "a{sv}(oayays)b",
         peer.properties(), secret("/", b""), False),
        ("UnknownMethod", ROOT, SERVICE, "Nothing"),
        ("UnknownMethod", ROOT, COLLECTION, "Delete"),
        ("UnknownMethod", ROOT, PROPERTIES, "Get", "ss", "org.example.Other", "Collections"),
        ("UnknownProperty", ROOT, PROPERTIES, "Get", "ss", SERVICE, "Nothing"),
        ("PropertyReadOnly", ROOT, PROPERTIES, "Set", "ssv", SERVICE, "Collections",
         dbus.String("x", variant_level=1)),
        ("InvalidArgs", LOGIN, PROPERTIES, "Set", "ssv", COLLECTION, "Label",
         dbus.UInt32(1, variant_level=1)),
        ("UnknownMethod", ROOT + "/nothing", SERVICE, "ReadAlias", "s", "default"),
        ("UnknownMethod", "/", SERVICE, "ReadAlias", "s", "default"),
        # As gnome-keyring spells an item and a session.
        ("NoSuchObject", LOGIN + "/12", PROPERTIES, "GetAll", "s", ITEM),
        ("UnknownMethod", ROOT + "/session/s1", SESSION, "Close"),
        ("UnknownMethod", ROOT + "/session/" + "0" * 32, SESSION, "Close"),
        ("UnknownMethod", ROOT + "/prompt/" + "0" * 32, PROMPT, "Dismiss"),
        ("NoSuchObject", missing, ITEM, "GetSecret", "o", none),
        ("NoSuchObject", missing, PROPERTIES, "GetAll", "s", ITEM),
        ("NoSuchObject", ROOT + "/collection/system", PROPERTIES, "GetAll", "s", COLLECTION),
        ("NoSuchObject", ROOT + "/collection/none", PROPERTIES, "GetAll", "s", COLLECTION),
        ("NotSupported", ROOT, SERVICE, "OpenSession", "sv", "rot13", dbus.String("", variant_level=1)),
        ("InvalidArgs", ROOT, SERVICE, "OpenSession", "sv", "plain", dbus.UInt32(1, variant_level=1)),
        ("NotSupported", ROOT, SERVICE, "SetAlias", "so", "login", dbus.ObjectPath(LOGIN)),
        ("NotSupported", ROOT, SERVICE, "SetAlias", "so", "session", dbus.ObjectPath(LOGIN)),
        ("InvalidArgs", ROOT, SERVICE, "SetAlias", "so", "mine", dbus.ObjectPath(ROOT + "/aliases/login")),
        ("NoSuchObject", ROOT, SERVICE, "SetAlias", "so", "mine",
         dbus.ObjectPath(ROOT + "/collection/none")),
        ("NotSupported", LOGIN, COLLECTION, "Delete"),
        ("NotSupported", MEMORY, COLLECTION, "Delete"),
        ("LimitsExceeded", ROOT, SERVICE, "SearchItems", "a{ss}", {"a" * 257: "b"}),
        ("LimitsExceeded", ROOT, SERVICE, "SearchItems", "a{ss}", {"a": "b" * 4097}),
        ("LimitsExceeded", ROOT, SERVICE, "SearchItems", "a{ss}", {str(n): "b" for n in range(65)}),
        ("LimitsExceeded", ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath("/a")] * 1001),
    ]
    for wanted, *call in cases:
        expect(peer.error(*call), wanted, f"{call[:3]}")
    session = peer.session()
    expect(peer.error(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(),
                      secret(session, b"x", b"parameters"), False), "InvalidArgs", "plain with parameters")
    expect(peer.error(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(),
                      secret(session, b"x" * (16 * 1024 * 1024 + 1)), False), "LimitsExceeded", "17 MiB")


def exchanges():
    """What another side of the exchange may send, and what may follow."""
    peer = Peer()

    def opened(value):
        return peer.call(ROOT, SERVICE, "OpenSession", "sv", ENCRYPTED,
                         dbus.ByteArray(value, variant_level=1))

    def number(value, count=128):
        return value.to_bytes(count, "big")

    for value in (b"", number(0), number(1), number(PRIME - 1), number(PRIME), number(PRIME + 1),
                  b"\x01" + bytes(128)):
        expect(peer.error(ROOT, SERVICE, "OpenSession", "sv", ENCRYPTED,
                          dbus.ByteArray(value, variant_level=1)), "InvalidArgs", value)
    opened(bytes(200) + b"\x02")
    # Until a value comes that begins with a zero: it is filled up to 128 bytes.
    for _ in range(4000):
        exponent = int.from_bytes(os.urandom(64), "big")
        theirs, path = opened(number(pow(2, exponent, PRIME)))
        expect(len(theirs), 128, "the length of a public value")
        shared = number(pow(int.from_bytes(bytes(theirs), "big"), exponent, PRIME))
        if shared[0] == 0:
            break
        peer.call(path, SESSION, "Close")
    else:
        sys.exit("no shared value began with a zero")
    key = session_key(shared)
    sealed = encrypt(key, bytes(16), b"s3cret")
    item = peer.call(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(kind="dh"),
                     secret(path, sealed, bytes(16)), True)[0]
    value = peer.call(item, ITEM, "GetSecret", "o", path)
    expect(decrypt(key, bytes(value[1]), bytes(value[2])), b"s3cret", "what comes back")
    # No count of bytes that fill a block up is zero.
    unfilled = encrypt(key, bytes(16), bytes(16), "-nopad")
    for parameters, wrong in ((bytes(15), sealed), (bytes(17), sealed), (b"", sealed), (bytes(16), b""),
                              (bytes(16), sealed[:-1]), (bytes(16), sealed + b"x"),
                              (bytes(16), unfilled)):
        expect(peer.error(item, ITEM, "SetSecret", "(oayays)", secret(path, wrong, parameters)),
               "InvalidArgs", (parameters, wrong))
    peer.call(item, ITEM, "Delete")


def session_key(shared):
    first = hmac.new(bytes(32), shared, hashlib.sha256).digest()
    return hmac.new(first, b"\x01", hashlib.sha256).digest()[:16]


def encrypted(peer):
    """A session's key and path."""
    exponent = int.from_bytes(os.urandom(64), "big")
    theirs, path = peer.call(
        ROOT, SERVICE, "OpenSession", "sv", ENCRYPTED,
        dbus.ByteArray(pow(2, exponent, PRIME).to_bytes(128, "big"), variant_level=1))
    shared = pow(int.from_bytes(bytes(theirs), "big"), exponent, PRIME)
    return session_key(shared.to_bytes(128, "big")), path


def encrypt(key, initial, plain, *options):
    return subprocess.run(["openssl", "enc", "-aes-128-cbc", "-K", key.hex(), "-iv", initial.hex(),
                           *options], input=plain, capture_output=True, check=True).stdout


def decrypt(key, initial, sealed):
    return encrypt(key, initial, sealed, "-d")


def others():
    """Sessions are their peer's."""
    one, other = Peer(), Peer()
    session = one.session()
    item = one.create(session, kind="others", collection=MEMORY)
    expect(other.error(session, SESSION, "Close"), "AccessDenied", "closing another's session")
    expect(other.error(item, ITEM, "GetSecret", "o", session), "NoSession", "using another's session")
    one.call(session, SESSION, "Close")
    expect(one.error(item, ITEM, "GetSecret", "o", session), "NoSession", "using a closed session")
    expect(one.error(session, SESSION, "Close"), "UnknownMethod", "closing it twice")
    again = one.session()
    one.bus.close()
    eventually(lambda: other.error(again, SESSION, "Close") == "UnknownMethod",
               "a session whose peer has gone")


def many():
    """More calls at once than are taken: each has its answer."""
    peer = Peer()
    # Fewer are taken before it is known who calls.
    peer.search(none="such")
    loop, names = GLib.MainLoop(), []

    def hear(error=None):
        names.append(error.get_dbus_name() if error else None)
        if len(names) == 300:
            loop.quit()

    for _ in range(300):
        peer.bus.call_async(NAME, ROOT, SERVICE, "SearchItems", "a{ss}",
                            (dbus.Dictionary({"none": "such"}, signature="ss"),),
                            lambda *found: hear(), hear)
    loop.run()
    refused = {name for name in names if name}
    if not refused <= {"org.freedesktop.DBus.Error.LimitsExceeded"}:
        sys.exit(f"refused with {refused}")
    if names.count(None) < 64:
        sys.exit(f"only {names.count(None)} were done")


def silent():
    """A call that expects no reply is done, and one that is not wanted is not answered."""
    peer = Peer()
    session = peer.session()
    message = dbus.lowlevel.MethodCallMessage(NAME, LOGIN, COLLECTION, "CreateItem")
    message.append(peer.properties(kind="silent"), secret(session, b"x"), False,
                   signature="a{sv}(oayays)b")
    message.set_no_reply(True)
    peer.bus.send_message(message)
    found = peer.search(kind="silent")[0]
    expect(len(found), 1, "items that a call without reply made")
    peer.call(found[0], ITEM, "Delete")
    for member in ("Delete", "Nothing"):
        message = dbus.lowlevel.MethodCallMessage(NAME, found[0], ITEM, member)
        message.set_no_reply(True)
        peer.bus.send_message(message)
    expect(peer.error(found[0], ITEM, "Delete"), "NoSuchObject", "deleting it twice")


def resident(peer):
    """MiB of the service's process."""
    process = peer.bus.call_blocking(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
        "GetConnectionUnixProcessID", "s", (NAME,))
    lines = open(f"/proc/{process}/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) // 1024


def floods():
    """What many calls bring is let go with their answers, and descriptors never come in."""
    peer = Peer()
    session = peer.session()
    before = resident(peer)
    for _ in range(24):
        peer.call(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(kind="flood"),
                  secret(session, bytes(8 * 1024 * 1024)), True)
    if resident(peer) > before + 96:
        sys.exit(f"{before} MiB became {resident(peer)}")
    # Descriptors: the bus has none for a connection that takes none.
    for _ in range(100):
        with open("/dev/null") as file:
            peer.error(ROOT, SERVICE, "SearchItems", "a{ss}h",
                       dbus.Dictionary({}, signature="ss"), dbus.types.UnixFd(file))
    peer.call(peer.search(kind="flood")[0][0], ITEM, "Delete")
    eventually(lambda: resident(peer) < 40 or peer.search(none="such") is None, "less than 40 MiB afterwards")


def unread():
    """A peer that reads no reply holds no other up, and its replies are not this service's memory."""
    address = os.environ["DBUS_SESSION_BUS_ADDRESS"]
    peer = Peer()
    peer.search(none="such")
    before = resident(peer)
    silent = subprocess.Popen([sys.executable, "-c", f"""
import dbus.bus, dbus.lowlevel, os, signal
bus = dbus.bus.BusConnection({address!r})
for _ in range(5000):
    bus.send_message(dbus.lowlevel.MethodCallMessage({NAME!r}, {ROOT!r},
        "org.freedesktop.DBus.Introspectable", "Introspect"))
bus.flush()
print("sent", flush=True)
signal.pause()
"""], stdout=subprocess.PIPE, text=True)
    try:
        expect(silent.stdout.readline().strip(), "sent", "the other program")
        for _ in range(20):
            peer.search(none="such")
        # Of 5,000 replies each has more than 2 KiB.
        if resident(peer) > before + 8:
            sys.exit(f"{before} MiB became {resident(peer)} of replies that are not read")
    finally:
        silent.kill()
        silent.wait()


def monitor():
    """What a monitor of the same user sees: nothing of an encrypted session's secrets."""
    seen = subprocess.Popen(["dbus-monitor", "--session", "--binary"], stdout=subprocess.PIPE)
    time.sleep(1)
    peer = Peer()
    key, path = encrypted(peer)
    item = peer.call(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(kind="seen"),
                     secret(path, encrypt(key, bytes(16), b"not-to-be-seen"), bytes(16)), True)[0]
    peer.call(item, ITEM, "GetSecret", "o", path)
    plain = peer.session()
    peer.call(item, ITEM, "SetSecret", "(oayays)", secret(plain, b"to-be-seen-by-all"))
    peer.call(item, ITEM, "Delete")
    time.sleep(1)
    seen.terminate()
    bytes_seen = seen.stdout.read()
    expect(b"to-be-seen-by-all" in bytes_seen, True, "the monitor watches")
    expect(b"not-to-be-seen" in bytes_seen, False, "the monitor sees the secret")


def replaces():
    peer = Peer()
    session = peer.session()
    first = peer.create(session, b"one", replace=True, kind="replaced", a="b")
    expect(peer.create(session, b"two", replace=True, kind="replaced", a="b"), first, "a replaced item")
    value = peer.call(first, ITEM, "GetSecret", "o", session)
    expect(bytes(value[2]), b"two", "its secret")
    more = peer.create(session, b"three", replace=True, kind="replaced", a="b", c="d")
    empty = peer.create(session, b"four", replace=True)
    expect(len({first, more, empty}), 3, "items with other attributes")
    expect(peer.search(kind="replaced"), ([first, more], []), "fewest further attributes first")
    expect(empty in peer.search()[0], True, "a search for all")
    for item in (first, more, empty):
        expect(peer.call(item, ITEM, "Delete"), "/", "deleting")


def ranks():
    """Matches of all collections are in one order: fewest further attributes, then the latest change."""
    peer = Peer()
    session = peer.session()

    def made(collection, **more):
        item = peer.create(session, collection=collection, kind="ranked", **more)
        # The order of changes goes by seconds.
        time.sleep(1.1)
        return item

    wanted = [made(LOGIN, a="1", b="2"), made(MEMORY, a="1", b="2"), made(LOGIN, a="1"), made(MEMORY, a="1"),
              made(LOGIN), made(MEMORY), made(LOGIN, **{"xdg:schema": "later"})][::-1]
    expect(peer.search(kind="ranked"), (wanted, []), "the order")
    peer.call(wanted[-1], PROPERTIES, "Set", "ssv", ITEM, "Label", dbus.String("changed", variant_level=1))
    expect(peer.search(kind="ranked", b="2")[0], [wanted[-1], wanted[-2]], "after a change")
    for item in wanted:
        peer.call(item, ITEM, "Delete")


def aliases():
    """Paths come back as they were spelled."""
    peer = Peer()
    session = peer.session()
    item = peer.create(session, kind="alias", collection=ROOT + "/aliases/default")
    expect(item.startswith(LOGIN + "/"), True, item)
    spelled = item.replace("/collection/login/", "/aliases/default/")
    found = peer.call(ROOT, SERVICE, "GetSecrets", "aoo", [dbus.ObjectPath(spelled)], session)
    expect(list(found), [spelled], "GetSecrets")
    paths = [dbus.ObjectPath(path) for path in (ROOT + "/aliases/default", spelled, LOGIN)]
    expect(peer.call(ROOT, SERVICE, "Unlock", "ao", paths + paths), (paths, "/"), "Unlock")
    expect(peer.call(ROOT, SERVICE, "ReadAlias", "s", "default"), LOGIN, "default")
    expect(peer.call(ROOT, SERVICE, "ReadAlias", "s", "session"), MEMORY, "session")
    expect(peer.call(ROOT, SERVICE, "ReadAlias", "s", "none"), "/", "none")
    peer.call(item, ITEM, "Delete")


def locked():
    """With no user to ask: nothing waits, and nothing tells what is locked but that it is."""
    peer, other = Peer(), Peer()
    session = peer.session()
    item = peer.create(session, kind="locked")
    listener = Listener(other)
    other.search(kind="locked")
    expect(peer.call(ROOT, SERVICE, "Lock", "ao", [dbus.ObjectPath(item)]), ([item], "/"), "Lock")
    expect(listener.hears(LOGIN, "PropertiesChanged"), {"Locked": True}, "what is told of the collection")
    expect(listener.hears(item, "PropertiesChanged"), {"Locked": True}, "what is told of an item")
    expect(peer.call(LOGIN, PROPERTIES, "Get", "ss", COLLECTION, "Locked"), True, "a locked collection")
    expect(peer.search(kind="locked"), ([], [item]), "a search")
    expect(peer.search(kind="none"), ([], []), "a search for another")
    told = peer.call(item, PROPERTIES, "GetAll", "s", ITEM)
    expect((told["Locked"], dict(told["Attributes"]), told["Label"], told["Created"]), (True, {}, "", 0),
           "properties")
    paths = [dbus.ObjectPath(item), dbus.ObjectPath(LOGIN), dbus.ObjectPath(MEMORY)]
    expect(peer.call(ROOT, SERVICE, "Unlock", "ao", paths), ([MEMORY], "/"), "Unlock")
    expect(dict(peer.call(ROOT, SERVICE, "GetSecrets", "aoo", paths[:1], session)), {}, "GetSecrets")
    began = time.monotonic()
    for call in ((item, ITEM, "GetSecret", "o", session),
                 (item, ITEM, "SetSecret", "(oayays)", secret(session, b"x")),
                 (item, ITEM, "Delete"),
                 (item, PROPERTIES, "Set", "ssv", ITEM, "Label", dbus.String("y", variant_level=1)),
                 (LOGIN, PROPERTIES, "Set", "ssv", COLLECTION, "Label", dbus.String("y", variant_level=1)),
                 (LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(),
                  secret(session, b"x"), False)):
        expect(peer.error(*call), "IsLocked", call[:3])
    if time.monotonic() - began > 15:
        sys.exit("something was waited for")
    for _ in range(5):
        peer.call(ROOT, SERVICE, "Lock", "ao", [dbus.ObjectPath(LOGIN)])
    expect(peer.error(ROOT, SERVICE, "Lock", "ao", [dbus.ObjectPath(LOGIN)]), "LimitsExceeded",
           "the seventh Lock")
    # The answer to a later call comes after all signals.
    other.search(kind="locked")
    while GLib.MainContext.default().iteration(False):
        pass
    locks = [signal for signal in listener.heard if signal[:2] == (LOGIN, "PropertiesChanged")]
    expect(len(locks), 1, "signals of six locks of what is locked")


def shut():
    """After the machine's start, before the first unlock: none is not said, and unlocking is offered."""
    peer = Peer()
    session = peer.session()
    open_, (standing,) = peer.search(kind="locked")
    expect((open_, standing.startswith(LOGIN + "/q")), ([], True), "a stand-in")
    expect(peer.search(kind="locked")[1], [standing], "the same search again")
    expect(peer.call(standing, PROPERTIES, "Get", "ss", ITEM, "Locked"), True, "a stand-in's lock")
    expect(peer.error(standing, ITEM, "GetSecret", "o", session), "IsLocked", "a stand-in's secret")
    expect(Peer().error(standing, ITEM, "GetSecret", "o", session), "NoSuchObject", "another's stand-in")
    expect(list(peer.call(LOGIN, PROPERTIES, "Get", "ss", COLLECTION, "Items")), [], "Items")


def prompts():
    """With a prompter, and the keychain locked."""
    peer, other = Peer(), Peer()
    loop, heard = GLib.MainLoop(), []
    peer.bus.add_signal_receiver(
        lambda *said, path=None: (heard.append((path, time.monotonic(), *said)), loop.quit()),
        "Completed", PROMPT, path_keyword="path")

    def asked():
        done, prompt = peer.call(ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath(ROOT + "/aliases/default")])
        expect(list(done), [], "what is open")
        return prompt

    prompt = asked()
    for member, *more in (("Prompt", "s", ""), ("Dismiss",)):
        expect(other.error(prompt, PROMPT, member, *more), "AccessDenied", "another's prompt")
    peer.call(prompt, PROMPT, "Dismiss")
    loop.run()
    expect((heard[-1][0], heard[-1][2], list(heard[-1][3])), (prompt, True, []), "dismissed before")
    expect(peer.error(prompt, PROMPT, "Dismiss"), "UnknownMethod", "a prompt that is gone")
    prompt = asked()
    peer.call(prompt, PROMPT, "Prompt", "s", "")
    replied = time.monotonic()
    peer.call(prompt, PROMPT, "Prompt", "s", "")
    loop.run()
    expect((heard[-1][0], heard[-1][2], list(heard[-1][3])),
           (prompt, False, [ROOT + "/aliases/default"]), "unlocked")
    if heard[-1][1] - replied < 0.09:
        sys.exit("Completed came at once")
    expect(len(heard), 2, "signals")
    expect(peer.call(LOGIN, PROPERTIES, "Get", "ss", COLLECTION, "Locked"), False, "the collection")


def completed(peer, prompt, window=""):
    """Whether the prompt was dismissed, and its result."""
    loop, heard = GLib.MainLoop(), []
    match = peer.bus.add_signal_receiver(
        lambda *said: (heard.append(said), loop.quit()), "Completed", PROMPT, path=prompt)
    peer.call(prompt, PROMPT, "Prompt", "s", window)
    loop.run()
    match.remove()
    return bool(heard[0][0]), heard[0][1]


def deletes():
    """A collection is deleted by a prompt, with its items; the others stay, and hear of it."""
    peer, other = Peer(), Peer()
    work = ROOT + "/collection/work"
    session = peer.session()
    item = peer.create(session, collection=work, kind="deleted")
    gone = []
    other.bus.add_signal_receiver(lambda path: gone.append(path), "CollectionDeleted", SERVICE)
    prompt = peer.call(work, COLLECTION, "Delete")
    peer.call(item, ITEM, "GetSecret", "o", session)
    expect(completed(peer, prompt), (False, ""), "the end of the prompt")
    for error in (peer.error(work, COLLECTION, "Delete"), peer.error(work, PROPERTIES, "GetAll", "s", ""),
                  peer.error(item, ITEM, "GetSecret", "o", session)):
        expect(error, "NoSuchObject", "what is gone")
    expect(work in peer.call(ROOT, PROPERTIES, "Get", "ss", SERVICE, "Collections"), False, "collections")
    loop = GLib.MainContext.default()
    eventually(lambda: loop.iteration(False) and gone or gone, "CollectionDeleted")
    expect(gone, [work], "what is told")


def restored():
    peer = Peer()
    found = peer.search(kind="deleted")[0]
    expect(bytes(peer.call(found[0], ITEM, "GetSecret", "o", peer.session())[2]), b"s3cret", "what came back")


def not_deleted():
    """Where the user says no, it stays."""
    peer = Peer()
    work = ROOT + "/collection/work"
    prompt = peer.call(work, COLLECTION, "Delete")
    expect(completed(peer, prompt), (True, ""), "a no")
    expect(peer.call(work, PROPERTIES, "Get", "ss", COLLECTION, "Locked"), False, "the collection")


def not_offered():
    """Where no user can be asked there is no prompt."""
    peer = Peer()
    expect(peer.error(ROOT + "/collection/work", COLLECTION, "Delete"), "AccessDenied", "with no user there")
    expect(peer.error(ROOT + "/collection/none", COLLECTION, "Delete"), "NoSuchObject", "what is not there")


def introspects():
    """The tree of objects: collections, aliases and one's own sessions, and no item."""
    peer = Peer()

    def document(path):
        return ElementTree.fromstring(peer.call(path, "org.freedesktop.DBus.Introspectable", "Introspect"))

    def children(path):
        return {node.get("name") for node in document(path).findall("node")}

    def signals(path):
        return {signal.get("name") for signal in document(path).iter("signal")}

    def access(path, name):
        return next(found.get("access") for found in document(path).iter("property") if found.get("name") == name)

    session = peer.session()
    item = peer.create(session, kind="tree")
    expect(children(ROOT), {"collection", "aliases", "session", "prompt"}, "the service")
    expect({"login", "session"} <= children(ROOT + "/collection"), True, "collections")
    expect(children(ROOT + "/aliases"), {"default", "login", "session"}, "aliases")
    expect(children(ROOT + "/session"), {session.rsplit("/", 1)[1]}, "sessions")
    expect(Peer().bus and children(LOGIN), set(), "a collection")
    expect("PropertiesChanged" in signals(LOGIN) & signals(item), True, "what tells of changes")
    expect("PropertiesChanged" in signals(ROOT) | signals(session), False, "what tells of none")
    expect((access(LOGIN, "Label"), access(MEMORY, "Label")), ("readwrite", "read"), "labels")
    expect(peer.error(ROOT + "/collection", PROPERTIES, "GetAll", "s", ""), "UnknownMethod", "a folder")
    peer.call(item, ITEM, "Delete")


class Listener:
    """Hears what a program is told that has looked at a collection."""

    def __init__(self, peer, path=LOGIN, interface=COLLECTION):
        self.peer, self.heard, self.loop = peer, [], GLib.MainLoop()
        peer.call(path, PROPERTIES, "GetAll", "s", interface)
        peer.bus.add_signal_receiver(self.hear, None, None, path_keyword="path", member_keyword="member")

    def hear(self, *said, path=None, member=None):
        if path.startswith(ROOT):
            self.heard.append((path, member, said))
            self.loop.quit()

    def hears(self, path, member, what=None):
        """Waits for it; gives the properties where it tells of some."""
        deadline = GLib.timeout_add_seconds(20, lambda: sys.exit(f"{member} of {path}: only {self.heard}"))
        while True:
            for signal in self.heard:
                told = dict(signal[2][1]) if signal[1] == "PropertiesChanged" else signal[2][:1]
                if signal[:2] == (path, member) and (what is None or what(told)):
                    GLib.source_remove(deadline)
                    return told
            self.loop.run()


def signals():
    """What a second connection of the same program is told of items."""
    peer, other = Peer(), Peer()
    listener = Listener(other)
    session = peer.session()
    began = int(time.time())
    item = peer.create(session, kind="told")
    dates = peer.call(LOGIN, PROPERTIES, "GetAll", "s", COLLECTION)
    # Some file systems don't tell when a file was made.
    # The clock of files is coarse, and may be behind.
    expect(dates["Created"] <= dates["Modified"] and began - 1 <= dates["Modified"], True, dict(dates))
    listener.hears(LOGIN, "ItemCreated", lambda told: told == (item,))
    # Clients of libsecret know by this alone what came and went.
    listener.hears(LOGIN, "PropertiesChanged", lambda told: item in told.get("Items", []))

    def replaces_it():
        listener.heard.clear()
        expect(peer.create(session, b"two", replace=True, kind="told"), item, "a replaced item")
        expect(listener.hears(item, "PropertiesChanged"),
               {"Label": "x", "Attributes": {"kind": "told"}, "Type": ""}, "what replaced it")
        created = [signal for signal in listener.heard if signal[1] == "ItemCreated"]
        expect(created, [], "a replaced one is not new")
        listener.heard.clear()

    # As it was made, and once more after a change.
    replaces_it()
    peer.call(item, PROPERTIES, "Set", "ssv", ITEM, "Label", dbus.String("new", variant_level=1))
    expect(listener.hears(item, "PropertiesChanged"), {"Label": "new"}, "the label")
    listener.hears(LOGIN, "ItemChanged", lambda told: told == (item,))
    # One that has looked at the item alone, as libsecret's SecretItem does.
    looker = Listener(Peer(), item, ITEM)
    looker.peer.call(item, PROPERTIES, "Set", "ssv", ITEM, "Label", dbus.String("newer", variant_level=1))
    expect(looker.hears(item, "PropertiesChanged"), {"Label": "newer"}, "the label, of the item alone")
    listener.hears(item, "PropertiesChanged", lambda told: told == {"Label": "newer"})
    replaces_it()
    peer.call(item, ITEM, "Delete")
    listener.hears(LOGIN, "ItemDeleted", lambda told: told == (item,))
    listener.hears(LOGIN, "PropertiesChanged", lambda told: item not in told.get("Items", [item]))


def types():
    """The content type is kept, but for what libraries would give no text for; `Type` is an attribute."""
    peer = Peer()
    session = peer.session()
    for sent, wanted in (("text/plain", "text/plain"), ("text/plain; charset=utf8", "text/plain"), ("", "text/plain"),
                         ("text/plainer", "text/plainer"), ("application/octet-stream", "application/octet-stream")):
        for collection in (LOGIN, MEMORY):
            item = peer.call(collection, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(kind="typed"),
                             secret(session, b"x", content_type=sent), True)[0]
            expect(peer.call(item, ITEM, "GetSecret", "o", session)[3], wanted, f"{sent!r} in {collection}")
            peer.call(item, ITEM, "SetSecret", "(oayays)", secret(session, b"x", content_type="a/b"))
            expect(peer.call(item, ITEM, "GetSecret", "o", session)[3], "a/b", "another type")
    for collection in (LOGIN, MEMORY):
        item = peer.create(session, replace=True, collection=collection, kind="typed")

        def shown():
            told = peer.call(item, PROPERTIES, "GetAll", "s", ITEM)
            return told["Type"], dict(told["Attributes"])

        for type in ("org.example.Type", ""):
            peer.call(item, PROPERTIES, "Set", "ssv", ITEM, "Type", dbus.String(type, variant_level=1))
            schema = {"xdg:schema": type} if type else {}
            expect(shown(), (type, {"kind": "typed"} | schema), f"{type!r} in {collection}")
        peer.call(item, PROPERTIES, "Set", "ssv", ITEM, "Attributes",
                  dbus.Dictionary({"other": "x", "xdg:schema": "T"}, signature="ss", variant_level=1))
        expect(shown(), ("T", {"other": "x", "xdg:schema": "T"}), "attributes that take the place of all")
        peer.call(item, ITEM, "Delete")
        typed = dbus.Dictionary({ITEM + ".Type": dbus.String("T", variant_level=1)}, signature="sv")
        item = peer.call(collection, COLLECTION, "CreateItem", "a{sv}(oayays)b", typed, secret(session, b"x"), False)[0]
        expect(shown(), ("T", {"xdg:schema": "T"}), "the type of a new item")
        peer.call(item, ITEM, "Delete")


def memory():
    """The collection `session` is answered when it is to be locked, and stays open."""
    peer = Peer()
    session = peer.session()
    item = peer.create(session, collection=MEMORY, kind="memory")
    for path in (MEMORY, item):
        expect(peer.call(ROOT, SERVICE, "Lock", "ao", [dbus.ObjectPath(path)]), ([path], "/"), "Lock")
        expect(peer.call(MEMORY, PROPERTIES, "Get", "ss", COLLECTION, "Locked"), False, "the collection")
        expect(peer.call(item, PROPERTIES, "Get", "ss", ITEM, "Locked"), False, "the item")
    expect(bytes(peer.call(item, ITEM, "GetSecret", "o", session)[2]), b"s3cret", "its secret")
    expect(peer.search(kind="memory"), ([item], []), "a search")
    peer.call(item, ITEM, "Delete")


def away():
    """With no keychain to ask, each call that needs one fails, and none waits."""
    peer = Peer()
    session = peer.session()
    item = peer.create(session, kind="away")
    print("<ready>", flush=True)
    input()
    began = time.monotonic()
    for call in ((ROOT, SERVICE, "SearchItems", "a{ss}", dbus.Dictionary({"kind": "away"}, signature="ss")),
                 (ROOT, SERVICE, "Unlock", "ao", [dbus.ObjectPath(LOGIN)]),
                 (ROOT, SERVICE, "Lock", "ao", [dbus.ObjectPath(LOGIN)]),
                 (ROOT, SERVICE, "GetSecrets", "aoo", [dbus.ObjectPath(item)], session),
                 (ROOT, SERVICE, "ReadAlias", "s", "default"),
                 (ROOT, SERVICE, "SetAlias", "so", "mine", dbus.ObjectPath(LOGIN)),
                 (ROOT, SERVICE, "CreateCollection", "a{sv}s", dbus.Dictionary({}, signature="sv"), ""),
                 (ROOT, PROPERTIES, "Get", "ss", SERVICE, "Collections"),
                 (LOGIN, PROPERTIES, "GetAll", "s", COLLECTION),
                 (LOGIN, COLLECTION, "SearchItems", "a{ss}", dbus.Dictionary({}, signature="ss")),
                 (LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(), secret(session, b"x"), False),
                 (LOGIN, COLLECTION, "Delete"),
                 (item, PROPERTIES, "GetAll", "s", ITEM),
                 (item, ITEM, "GetSecret", "o", session),
                 (item, ITEM, "SetSecret", "(oayays)", secret(session, b"x")),
                 (item, ITEM, "Delete")):
        expect(peer.error(*call), "Failed", call[:3])
    expect(Peer().error(ROOT, SERVICE, "ReadAlias", "s", "default"), "Failed", "a program that is not known")
    expect(time.monotonic() - began < 15, True, "something waits")
    peer.call(peer.session(), SESSION, "Close")


def guarded(peer, session, count, **more):
    items = [peer.create(session, kind="guarded", number=str(number), **more) for number in range(count)]
    expect(set(items) <= set(peer.search(kind="guarded")[1]), True, "what is locked")
    return items


def unlocked(peer, items):
    """Whether the user dismissed the prompt, and what it opened."""
    done, prompt = peer.call(ROOT, SERVICE, "Unlock", "ao", items)
    expect(list(done), [], "what is open before")
    loop, heard = GLib.MainLoop(), []
    peer.bus.add_signal_receiver(lambda *said: (heard.append(said), loop.quit()), "Completed", PROMPT)
    peer.call(prompt, PROMPT, "Prompt", "s", "")
    loop.run()
    return bool(heard[0][0]), list(heard[0][1])


def at_once():
    """Several items that want a proof are unlocked by one question, and locked with each other. An item that
    no proof opens keeps no other locked."""
    peer = Peer()
    session = peer.session()
    items = guarded(peer, session, 5)
    closed = guarded(peer, session, 1, label="beyond proof")
    expect(unlocked(peer, closed + items), (False, items), "what was unlocked")
    found = peer.call(ROOT, SERVICE, "GetSecrets", "aoo", closed + items, session)
    expect(sorted(found), sorted(items), "their secrets")
    listener = Listener(Peer())
    named = items[:2] + items[:1]
    expect(peer.call(ROOT, SERVICE, "Lock", "ao", named), (items[:2], "/"), "Lock")
    # The proof was for all, and their collection stays open.
    for item in items:
        expect(listener.hears(item, "PropertiesChanged"), {"Locked": True}, "what is told of each")
    expect(sorted(peer.search(kind="guarded")[1]), sorted(closed + items), "what is locked")
    # Those are locked with nothing to be done, and their collection stays open.
    for item in items[2:]:
        expect(peer.call(ROOT, SERVICE, "Lock", "ao", [item]), ([item], "/"), "Lock of what is locked")
    expect(peer.call(LOGIN, PROPERTIES, "Get", "ss", COLLECTION, "Locked"), False, "the collection")


def in_parts():
    """More items than a proof is remembered for are asked about in several questions."""
    peer = Peer()
    session = peer.session()
    items = guarded(peer, session, 70)
    expect(unlocked(peer, items), (False, items), "what was unlocked")
    found = peer.call(ROOT, SERVICE, "GetSecrets", "aoo", items, session)
    expect(len(found), 70, "secrets that are there without a question")


def standing(peer, prompt):
    """Whether a prompt of the program's stands."""
    document = peer.call(ROOT + "/prompt", "org.freedesktop.DBus.Introspectable", "Introspect")
    return prompt.rsplit("/", 1)[1] in {
        node.get("name") for node in ElementTree.fromstring(document).findall("node")}


def waiting():
    """What changes while a prompt stands is told once, after its end."""
    peer, other = Peer(), Peer()
    session = other.session()
    items = guarded(peer, peer.session(), 1)
    listener = Listener(peer)

    def lists():
        # The answer comes after what was sent before it.
        peer.search(none="such")
        while GLib.MainContext.default().iteration(False):
            pass
        return [dict(said[1])["Items"] for path, member, said in listener.heard
                if (path, member) == (LOGIN, "PropertiesChanged") and "Items" in said[1]]

    prompt = peer.call(ROOT, SERVICE, "Unlock", "ao", items)[1]
    peer.call(prompt, PROMPT, "Prompt", "s", "")
    made = []
    for number in range(3):
        made.append(other.create(session, kind="waiting", number=str(number)))
        # Longer than from one list to the next where no prompt stands.
        time.sleep(0.7)
    expect((standing(peer, prompt), lists()), (True, []), "lists while the prompt stands")
    peer.call(prompt, PROMPT, "Dismiss")
    listener.hears(prompt, "Completed")
    listener.hears(LOGIN, "PropertiesChanged", lambda told: set(made) <= set(told.get("Items", [])))
    time.sleep(0.7)
    expect((standing(peer, prompt), len(lists())), (False, 1), "lists after its end")


def a_no():
    """What the user said no to is not asked about item by item."""
    peer = Peer()
    expect(unlocked(peer, guarded(peer, peer.session(), 3)), (True, []), "what was unlocked")


def watched():
    """What others change is told: keychainctl, and the same program on another bus."""
    peer = Peer()
    listener = Listener(peer)
    item = peer.create(peer.session(), kind="watched")
    peer.search(kind="watched")

    def hears_list(number):
        """Changes that come together are told together: so the list of each is waited for."""
        def told(_):
            return sum(signal[:2] == (LOGIN, "PropertiesChanged") and "Items" in signal[2][1]
                       for signal in listener.heard) >= number
        listener.hears(LOGIN, "PropertiesChanged", told)

    hears_list(1)

    def elsewhere(*command):
        subprocess.run(["dbus-run-session", "--", *command], check=True, input="x", text=True)

    elsewhere("secret-tool", "store", "--label=L", "kind", "a stranger's")
    elsewhere(sys.executable, "-B", __file__, "stores")
    created = listener.hears(LOGIN, "ItemCreated", lambda told: told != (item,))
    expect(peer.search(kind="elsewhere")[0], [created[0]], "the item that was told")
    told = [signal[2][0] for signal in listener.heard if signal[1] == "ItemCreated"]
    expect(told, [item, created[0]], "items of this program's, each once")
    hears_list(2)
    elsewhere(sys.executable, "-B", __file__, "clears")
    listener.hears(LOGIN, "ItemDeleted", lambda told: told == created)
    hears_list(3)
    subprocess.run(["keychainctl", "lock"], check=True)
    listener.hears(LOGIN, "PropertiesChanged", lambda told: told == {"Locked": True})
    listener.hears(item, "PropertiesChanged", lambda told: told == {"Locked": True})

    def locks(collection):
        return [said for path, member, said in listener.heard
                if (path, member) == (collection, "PropertiesChanged") and dict(said[1]) == {"Locked": True}]

    # Changes are told in their order: what comes later has all that was said of the lock before it.
    words = "words\n"
    for name in ("other", "later", "last"):
        collection = dbus.ObjectPath(f"{ROOT}/collection/{name}")
        subprocess.run(["keychainctl", "create", name, "--no-recovery-key", "--password-stdin"],
                       check=True, input=words, text=True, stdout=subprocess.DEVNULL)
        listener.hears(ROOT, "CollectionCreated", lambda told: told == (collection,))
        if name == "later":
            expect(len(locks(LOGIN)), 1, "signals of one lock")
            other = dbus.ObjectPath(f"{ROOT}/collection/other")
            expect(peer.call(ROOT, SERVICE, "Lock", "ao", [other]), ([other], "/"), "Lock")
    expect(len(locks(ROOT + "/collection/other")), 1, "signals of one lock over the bus")
    told = [set(signal[2][1]) for signal in listener.heard if signal[:2] == (LOGIN, "PropertiesChanged")]
    expect(told.count({"Locked"}), 1, "signals of one lock")
    # A stranger's item is none of this program's.
    expect(told.count({"Items"}), 3, "what came and went")


def refused():
    """A secret comes in clear in calls that are refused; tells where, and waits."""
    peer = Peer()
    session = peer.session()
    value = os.environ["MARK"].encode()[::-1] * 100
    for properties, wanted in ((peer.properties(**{"a" * 257: "b"}), "LimitsExceeded"),
                               (dbus.Dictionary({"x": dbus.String("y", variant_level=1)}, signature="sv"),
                                "InvalidArgs")):
        expect(peer.error(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", properties,
                          secret(session, value), False), wanted, "a refused call")
    expect(peer.error(LOGIN + "/x", COLLECTION, "CreateItem", "a{sv}(oayays)b", peer.properties(),
                      secret(session, value), False), "NoSuchObject", "a call to no object")
    short = dbus.Struct((dbus.ObjectPath(session), dbus.ByteArray(), dbus.ByteArray(value)), signature="oayay")
    expect(peer.error(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayay)b", peer.properties(), short, False),
           "InvalidArgs", "a secret as programs sent it before 2012")
    nested = dbus.Array([dbus.Struct((secret(session, value),), signature="(oayays)", variant_level=2)],
                        signature="v")
    expect(peer.error(ROOT, SERVICE, "ReadAlias", "av", nested), "InvalidArgs", "a secret deep in a value")
    process = peer.bus.call_blocking(
        "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
        "GetConnectionUnixProcessID", "s", (NAME,))
    # Numbers are no values that are counted on the way to it.
    crowd = dbus.Array(range(100_000), signature="u")
    expect(peer.error(ROOT, SERVICE, "ReadAlias", "au(oayays)", crowd, secret(session, value)),
           "InvalidArgs", "a secret behind many numbers")
    print(f"<process {process}>", flush=True)
    input()


def sizes():
    """Answers that come in one piece, and longer ones, are what was stored; limits are as documented."""
    peer = Peer()
    session = peer.session()
    for count in (0, 1, 3000, *range(3500, 4200, 50), 5000, 300_000, 16 * 1024 * 1024):
        value = os.urandom(count)
        item = peer.create(session, value, replace=True, kind="sized")
        expect(bytes(peer.call(item, ITEM, "GetSecret", "o", session)[2]), value, f"{count} bytes")
    made = []
    listed = dbus.Dictionary({"kind": "listed"}, signature="ss")
    # Some answers lie on both sides of what is read at once.
    for count in range(0, 240):
        if count < 4 or count % 8 == 0:
            expect(sorted(peer.search(kind="listed")[0]), sorted(made), f"{count} items")
            expect(sorted(peer.call(LOGIN, COLLECTION, "SearchItems", "a{ss}", listed)), sorted(made),
                   f"{count} items of the collection")
        made.append(peer.create(session, kind="listed", number=str(count)))
    for what, properties, type in (("a label", peer.properties("x" * 4097), "text/plain"),
                                   ("a content type", peer.properties(), "t" * 257)):
        expect(peer.error(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", properties,
                          secret(session, b"x", content_type=type), False), "LimitsExceeded", what)
    for _ in range(63):
        peer.session()
    expect(peer.error(ROOT, SERVICE, "OpenSession", "sv", "plain", dbus.String("", variant_level=1)),
           "LimitsExceeded", "one session more than 64")
    peer.call(session, SESSION, "Close")
    peer.session()


def hung():
    """While the keychain does not answer, calls that need nothing of it are answered."""
    peers = [Peer() for _ in range(8)]
    other = Peer()
    item = peers[0].create(peers[0].session(), kind="hung")
    sessions = [peer.session() for peer in peers]
    other.search(kind="hung")
    for peer, session in zip(peers, sessions):
        peer.call(item, ITEM, "GetSecret", "o", session)
    print("<ready>", flush=True)
    input()
    ended = []
    for number, (peer, session) in enumerate(zip(peers, sessions)):
        arguments = (("a{ss}", [dbus.Dictionary({"kind": "hung"}, signature="ss")]) if number % 2
                     else ("o", [session]))
        peer.bus.call_async(
            NAME, ROOT if number % 2 else item, SERVICE if number % 2 else ITEM,
            "SearchItems" if number % 2 else "GetSecret", *arguments, ended.append,
            lambda error: ended.append(error.get_dbus_name()), timeout=60)
        peer.bus.flush()
    began = time.monotonic()
    other.call(ROOT, "org.freedesktop.DBus.Introspectable", "Introspect")
    other.call(ROOT + "/prompt", "org.freedesktop.DBus.Introspectable", "Introspect")
    expect(time.monotonic() - began < 5, True, "another's call waits")
    loop = GLib.MainLoop()
    while len(ended) < len(peers):
        GLib.timeout_add(100, loop.quit)
        loop.run()
    expect(ended, ["org.freedesktop.DBus.Error.Failed"] * 8, "what is said after 20 seconds")
    print("<given up>", flush=True)
    input()
    for peer, session in zip(peers, sessions):
        eventually(lambda: peer.error(item, ITEM, "GetSecret", "o", session) is None, "the secret")
        expect(len(peer.search(kind="hung")[0]), 1, "found once more")
    print("<again>", flush=True)


def restarted():
    """The keychain knows no program any more, nor the connections to it."""
    peer = Peer()
    session = peer.session()
    item = peer.create(session, kind="restarted")
    for read in (lambda: peer.call(item, ITEM, "GetSecret", "o", session)[2],
                 lambda: peer.search(kind="restarted")[0],
                 lambda: peer.call(LOGIN, COLLECTION, "SearchItems", "a{ss}",
                                   dbus.Dictionary({"kind": "restarted"}, signature="ss"))):
        before = read()
        print("<ready>", flush=True)
        input()
        expect(read(), before, "what is read")
    print("<ready>", flush=True)
    input()
    peer.create(session, kind="made after it")
    expect(len(peer.search(kind="made after it")[0]), 1, "items made after a restart")
    print("<done>", flush=True)


def stores():
    peer = Peer()
    peer.create(peer.session(), kind="elsewhere")


def clears():
    peer = Peer()
    peer.call(peer.search(kind="elsewhere")[0][0], ITEM, "Delete")


if __name__ == "__main__":
    DBusGMainLoop(set_as_default=True)
    {case.__name__: case for case in
     (errors, exchanges, others, many, silent, unread, monitor, replaces, aliases, locked, shut,
      prompts, floods, introspects, signals, at_once, in_parts, waiting, a_no, watched,
      refused, stores, clears, deletes, restored, not_deleted,
      not_offered, sizes, hung, restarted, types, memory, away, ranks)}[sys.argv[1]]()
