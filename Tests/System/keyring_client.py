# SPDX-License-Identifier: Apache-2.0
"""Fills a Secret Service with items as programs keep them, and tells what is in one.

    keyring_client.py fill COUNT
    keyring_client.py tell >FILE
"""
import base64
import json
import os
import sys
import time

import dbus

NAME = "org.freedesktop.secrets"
ROOT = "/org/freedesktop/secrets"
SERVICE = "org.freedesktop.Secret.Service"
COLLECTION = "org.freedesktop.Secret.Collection"
ITEM = "org.freedesktop.Secret.Item"
PROPERTIES = "org.freedesktop.DBus.Properties"
LOGIN = ROOT + "/collection/login"

# Label, attributes, secret: of each kind some, told apart by a number.
SHAPES = [
    ("Chromium Safe Storage", {"application": "chromium-{0}", "xdg:schema":
     "chrome_libsecret_os_crypt_password_v2"}, b"c2VjcmV0LWtleS17MH0="),
    ("Evolution Data Source “Büro {0}”", {"e-source-uid": "a1b2{0}", "eds-origin": "evolution-data-server",
     "xdg:schema": "org.gnome.Evolution.Data.Source"}, "pässwörd".encode()),
    ("Network secret for Auto wlan{0}/802-11-wireless-security/psk",
     {"connection-uuid": "6f1d-{0}", "setting-name": "802-11-wireless-security", "setting-key": "psk",
      "xdg:schema": "org.freedesktop.NetworkManager.Connection"}, b"wpa secret"),
    ("me@mail{0}.example", {"user": "me", "server": "mail{0}.example", "protocol": "imap", "port": "993",
     "xdg:schema": "org.gnome.keyring.NetworkPassword"}, b"imap"),
    ("Note {0}", {"xdg:schema": "org.gnome.keyring.Note", "note": "{0}"}, b"first line\nsecond line\n"),
    ("https://index.docker.io/v1/{0}", {"docker_cli": "1", "label": "Docker Credentials", "server": "r{0}",
     "username": "me", "xdg:schema": "io.docker.Credentials"}, b"t0ken"),
    ("Password for 'me' on 'host{0}'", {"service": "host{0}", "username": "me", "application": "Python"},
     b"keyring"),
    ("Nextcloud", {"user": "Nextcloud_{0}", "server": "Nextcloud", "type": "plaintext",
     "xdg:schema": "org.qt.keychain"}, b"x" * 3000),
    ("", {"empty": "", "number": "{0}"}, b""),
    # An application's, as gnome-keyring's portal makes it.
    ("", {"app_id": "org.example.App{0}"}, b"k" * 64),
    ("No type {0}", {"only": "{0}", "e\u0301": "1", "\u00e9": "2"}, bytes(range(256))),
]


class Service:
    def __init__(self):
        self.bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        deadline = time.monotonic() + 30
        while not self.bus.name_has_owner(NAME) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.session = self.call(ROOT, SERVICE, "OpenSession", "sv", "plain",
                                 dbus.String("", variant_level=1))[1]

    def call(self, path, interface, member, signature="", *arguments):
        return self.bus.call_blocking(NAME, path, interface, member, signature, arguments, timeout=60,
                                      byte_arrays=True)

    def fill(self, count):
        for number in range(count):
            label, attributes, secret = SHAPES[number % len(SHAPES)]
            value = secret + b"%d" % number if secret else b""
            if "app_id" in attributes:
                value = value[-64:]
            pairs = {name: value.format(number) for name, value in attributes.items()}
            self.call(LOGIN, COLLECTION, "CreateItem", "a{sv}(oayays)b", dbus.Dictionary({
                ITEM + ".Label": dbus.String(label.format(number), variant_level=1),
                ITEM + ".Attributes": dbus.Dictionary(pairs, signature="ss", variant_level=1),
            }, signature="sv"), dbus.Struct((dbus.ObjectPath(self.session), dbus.ByteArray(b""),
                                             dbus.ByteArray(value), "text/plain"), signature="oayays"), False)

    def tell(self):
        """What programs see of each item, in an order of its own."""
        paths = self.call(LOGIN, PROPERTIES, "Get", "ss", COLLECTION, "Items")
        told = []
        for path in paths:
            has = self.call(path, PROPERTIES, "GetAll", "s", ITEM)
            secret = self.call(path, ITEM, "GetSecret", "o", dbus.ObjectPath(self.session))
            told.append({
                "label": str(has["Label"]), "type": str(has["Type"]),
                "attributes": {str(name): str(value) for name, value in has["Attributes"].items()},
                "created": int(has["Created"]), "modified": int(has["Modified"]),
                "secret": base64.b64encode(bytes(secret[2])).decode(), "content": str(secret[3]),
            })
        return sorted(told, key=lambda item: json.dumps(item, sort_keys=True))


if sys.argv[1] == "fill":
    Service().fill(int(sys.argv[2]))
else:
    json.dump(Service().tell(), sys.stdout, indent=1, sort_keys=True)
