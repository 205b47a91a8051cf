# SPDX-License-Identifier: Apache-2.0
"""In the place of the scripts by which libsecret's own tests start their mock: brings our service into the
state that the script's mock begins with, as far as any program can, and prints the service's name.

The tests tell this program's script by its name: mock-service-normal.py and others."""

import os
import pathlib
import signal
import subprocess
import sys

import dbus

SERVICE = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
SECRETS = "org.freedesktop.Secret."
KIND = pathlib.Path(sys.argv[0]).stem.removeprefix("mock-service-")
# Of each keychain that stands for one of the mock's collections.
PASSWORD = "mock"
STANDARD = {
    "english": (False, "org.mock.Schema", [
        ("Item One", "111", {"number": "1", "string": "one", "even": "false"}),
        ("Item Two", "222", {"number": "2", "string": "two", "even": "true"}),
        ("Item Three", "333", {"number": "3", "string": "three", "even": "false"})]),
    "spanish": (True, "org.mock.Schema", [
        ("Item", "111", {"number": "1", "string": "uno", "even": "false"}),
        ("Item", "222", {"number": "2", "string": "dos", "even": "true"}),
        ("Item", "3333", {"number": "3", "string": "tres", "even": "false"})]),
    "german": (True, "org.mock.Primes", [
        ("Item", "333", {"number": "3", "string": "drei", "prime": "true"}),
        ("Item", "444", {"number": "4", "string": "vier", "prime": "false"}),
        ("Item", "555", {"number": "5", "string": "fuenf", "prime": "true"}),
        ("Item", "666", {"number": "6", "string": "sechs", "prime": "false"})]),
    "empty": (False, "", []),
    "lockone": (False, "org.mock.Schema", [
        ("Item", "uno", {"number": "1", "string": "one", "even": "false"})]),
    "todelete": (False, "org.mock.Schema", [
        ("Item", "uno", {"number": "1", "string": "one", "even": "false"})]),
}
# What the mock has only for these kinds of script.
SINGLE = {"lockone": "lock", "todelete": "delete"}
# How the mock calls the items of a collection, in their order.
PATHS = {"english": "1 2 3", "spanish": "10 20 30", "german": "300 400 500 600", "lockone": "item",
         "todelete": "item", "empty": ""}


def call(bus, path, interface, member, *arguments):
    found = bus.get_object(SERVICE, path, introspect=False)
    return found.get_dbus_method(member, SECRETS + interface)(*arguments)


def fill(bus, name, schema, items):
    """Gives the items' paths."""
    path = f"{ROOT}/collection/{name}"
    _, session = call(bus, ROOT, "Service", "OpenSession", "plain", dbus.String("", variant_level=1))
    for item in call(bus, path, "Collection", "SearchItems", dbus.Dictionary({}, signature="ss")):
        call(bus, item, "Item", "Delete")
    made = []
    for label, secret, pairs in items:
        pairs = dbus.Dictionary({**pairs, "xdg:schema": schema}, signature="ss", variant_level=1)
        properties = dbus.Dictionary({SECRETS + "Item.Label": dbus.String(label, variant_level=1),
                                      SECRETS + "Item.Attributes": pairs}, signature="sv")
        value = dbus.Struct((session, dbus.ByteArray(b""), dbus.ByteArray(secret.encode()), "text/plain"),
                            signature="oayays")
        made.append(call(bus, path, "Collection", "CreateItem", properties, value, False)[0])
    return made


def keychainctl(*words, password=""):
    subprocess.run(["keychainctl", *words], input=password, text=True, stdout=sys.stderr)


def main():
    bus = dbus.SessionBus()
    bus.start_service_by_name(SERVICE)
    file = pathlib.Path(os.environ["LIBSECRET_TEST_PATHS"])
    known = file.read_text().splitlines(keepends=True) if file.exists() else []
    paths = []
    for name, (is_locked, schema, items) in STANDARD.items():
        own = f"{ROOT}/collection/{name}"
        collection = bus.get_object(SERVICE, own, introspect=False)
        before = [line for line in known if line.startswith(own + "/")]
        if collection.Get(SECRETS + "Collection", "Locked", dbus_interface=dbus.PROPERTIES_IFACE):
            if is_locked and before:
                # No case opens it, so none has changed it.
                paths += before
                continue
            keychainctl("unlock", name, "--password-stdin", password=PASSWORD + "\n")
        if name == "english":
            collection.Set(SECRETS + "Collection", "Label", dbus.String("Collection One", variant_level=1),
                           dbus_interface=dbus.PROPERTIES_IFACE)
        is_there = KIND != "empty" and SINGLE.get(name, KIND) == KIND
        made = fill(bus, name, schema, items if is_there else [])
        # Some tests sort by paths, which the mock counts and our service draws at random.
        while name == "english" and made != sorted(made):
            made = fill(bus, name, schema, items)
        paths += [f"{own}/{mock} {path}\n" for mock, path in zip(PATHS[name].split(), made)]
        if is_locked:
            keychainctl("lock", name)
    file.write_text("".join(paths))
    keychainctl("default-keychain", "--set", "english")
    print(bus.get_name_owner(SERVICE), flush=True)
    signal.sigwait([signal.SIGTERM, signal.SIGINT])


signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
main()
