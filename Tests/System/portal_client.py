# SPDX-License-Identifier: Apache-2.0
"""An application that asks the desktop's portal for its secret, or a program that asks the keychain in an
application's name. Does what its arguments say, and says what came of it.

secret             a pipe; <RESPONSE, a hash of what came>
socket             the same with a socket
twice              two requests at once
full, closed       a pipe that is full; one whose other end is closed
reading, file      the end of a pipe that is read; a file
taken-back         a request that is closed once a line comes in
direct:NAME        a call to the keychain itself in the application's name
long:BYTES         the same with a name of so many bytes
two, none          the same with other descriptors than one
handle             the same with a handle that is none of the portal's
version            the property
portal             takes the portal's name: no other program's descriptor is taken
close              a call to close a request that is not there
wait:SECONDS       nothing for so long
held:COUNT:EACH    so many applications' requests, each so many times, which end with nothing read
burdened           300 calls and pings that bring as many descriptors as the bus takes
hung:SOCKET        a ping and a call that bring a file which a fuse_server.py gives at the socket
asks:SOCKET:COUNT  so many calls of the portal's that bring it; nothing is waited for
"""

import hashlib
import os
import socket
import struct
import sys
import tempfile
import time

import dbus
import dbus.bus
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

PATH = "/org/freedesktop/portal/desktop"
PORTAL = "org.freedesktop.portal.Desktop"
SECRET = "org.freedesktop.portal.Secret"
REQUEST = "org.freedesktop.portal.Request"
KEYCHAIN = "org.freedesktop.secrets"
BACKEND = "org.freedesktop.impl.portal.Secret"
PATIENCE = 90


def told(*words):
    print(f"<{' '.join(str(word) for word in words)}>", flush=True)


def full_pipe():
    """The end to write to; the other one stays open."""
    _, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, bytes(4096))
    except BlockingIOError:
        # It may be made to wait again while the secret is written.
        os.set_blocking(writing, True)
    return writing


def shown(secret):
    return f"{len(secret)}:{hashlib.sha256(secret).hexdigest()[:8]}"


class Application:
    def __init__(self):
        self.bus = dbus.bus.BusConnection(os.environ["DBUS_SESSION_BUS_ADDRESS"])
        self.answers = {}
        self.loop = GLib.MainLoop()

    def ask(self, descriptor):
        token = f"t{len(self.answers)}"
        sender = self.bus.get_unique_name()[1:].replace(".", "_")
        path = f"{PATH}/request/{sender}/{token}"
        self.answers[path] = None

        def hear(response, results):
            self.answers[path] = int(response)
            self.loop.quit()

        self.bus.add_signal_receiver(hear, "Response", REQUEST, path=path)
        self.bus.call_blocking(PORTAL, PATH, SECRET, "RetrieveSecret", "ha{sv}", (
            dbus.types.UnixFd(descriptor),
            dbus.Dictionary({"handle_token": dbus.String(token, variant_level=1)}, signature="sv")))
        return path

    def response(self, path):
        GLib.timeout_add_seconds(PATIENCE, self.loop.quit)
        while self.answers[path] is None:
            self.loop.run()
        return self.answers[path]

    def retrieve(self, reading, writing):
        path = self.ask(writing)
        os.close(writing)
        response = self.response(path)
        told(response, shown(os.read(reading, 4096)) if response == 0 else "")

    def secret(self):
        self.retrieve(*os.pipe())

    def socket(self):
        one, other = socket.socketpair()
        self.retrieve(one.detach(), other.detach())

    def twice(self):
        pipes = [os.pipe(), os.pipe()]
        paths = [self.ask(writing) for _, writing in pipes]
        for path, (reading, _) in zip(paths, pipes):
            told(self.response(path), shown(os.read(reading, 4096)))

    def full(self):
        told(self.response(self.ask(full_pipe())))

    def closed(self):
        reading, writing = os.pipe()
        os.close(reading)
        told(self.response(self.ask(writing)))

    def reading(self):
        told(self.response(self.ask(os.pipe()[0])))

    def file(self):
        with tempfile.TemporaryFile(dir="/dev/shm") as file:
            told(self.response(self.ask(file.fileno())), len(os.pread(file.fileno(), 99, 0)))

    def taken_back(self):
        reading, writing = os.pipe()
        path = self.ask(writing)
        os.close(writing)
        input()
        self.bus.call_blocking(PORTAL, path, REQUEST, "Close", "", ())
        told("closed", len(os.read(reading, 99)))

    # Without the portal.

    def called(self, interface, member, signature, *arguments, path=PATH):
        try:
            answer = self.bus.call_blocking(KEYCHAIN, path, interface, member, signature, arguments)
        except dbus.DBusException as error:
            return told(error.get_dbus_name().rsplit(".", 1)[1])
        told(answer)

    def direct(self, name, descriptors=1, handle=PATH + "/request/1_1/t"):
        reading, writing = os.pipe()
        self.called(BACKEND, "RetrieveSecret", "os" + "h" * descriptors + "a{sv}",
                    dbus.ObjectPath(handle), name, *[dbus.types.UnixFd(writing)] * descriptors,
                    dbus.Dictionary({}, signature="sv"))
        os.close(writing)
        if os.read(reading, 99):
            told("a secret")

    def held(self, count, each):
        for number in range(int(count) * int(each)):
            self.bus.call_async(
                KEYCHAIN, PATH, BACKEND, "RetrieveSecret", "osha{sv}",
                (dbus.ObjectPath(f"{PATH}/request/1_1/t{number}"),
                 f"org.example.Held{number % int(count)}", dbus.types.UnixFd(full_pipe()),
                 dbus.Dictionary({}, signature="sv")), lambda *_: None, lambda *_: None)

    def wait(self, seconds):
        time.sleep(int(seconds))

    def long(self, count):
        self.direct("a" * int(count))

    def two(self):
        self.direct("org.example.One", 2)

    def none(self):
        self.direct("org.example.One", 0)

    def handle(self):
        self.direct("org.example.One", handle="/org/freedesktop/secrets")

    def version(self):
        self.called("org.freedesktop.DBus.Properties", "Get", "ss", BACKEND, "version")

    def portal(self):
        assert self.bus.request_name(PORTAL, dbus.bus.NAME_FLAG_DO_NOT_QUEUE) == dbus.bus.REQUEST_NAME_REPLY_PRIMARY_OWNER

    def close(self):
        self.called("org.freedesktop.impl.portal.Request", "Close", "", path=PATH + "/request/1_1/t")

    def burdened(self):
        raw, refused, others = Burdened(), 0, set()
        for _ in range(300):
            raw.ping()
            refused += b"org.freedesktop.DBus.Error.InvalidArgs" in raw.read_alias()
            others.add(str(self.bus.call_blocking(
                KEYCHAIN, "/org/freedesktop/secrets", "org.freedesktop.Secret.Service", "ReadAlias",
                "s", ("default",))))
        told(refused, *others)


    def hung(self, place):
        raw = Burdened(given(place))
        told("pong" if raw.ping() else "", b"org.freedesktop.DBus.Error.InvalidArgs" in raw.read_alias())

    def asks(self, place, count):
        file = dbus.types.UnixFd(given(place)[0])
        for number in range(int(count)):
            self.bus.call_async(
                KEYCHAIN, PATH, BACKEND, "RetrieveSecret", "osha{sv}",
                (dbus.ObjectPath(f"{PATH}/request/1_1/t{number}"), "org.example.One", file,
                 dbus.Dictionary({}, signature="sv")), lambda *_: None, lambda *_: None)
        self.bus.flush()
        told("asked")


def given(place):
    """The open file of a fuse_server.py."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(place)
        return socket.recv_fds(server, 9, 1)[1]


class Burdened:
    """A connection of which each message brings descriptors that its body does not name."""

    def __init__(self, files=None):
        path = os.environ["DBUS_SESSION_BUS_ADDRESS"].split("=", 1)[1].split(",")[0]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path if "path=" in os.environ["DBUS_SESSION_BUS_ADDRESS"] else "\0" + path)
        self.socket.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
        assert self.socket.recv(999).startswith(b"OK")
        self.socket.sendall(b"NEGOTIATE_UNIX_FD\r\n")
        assert self.socket.recv(999).startswith(b"AGREE")
        self.socket.sendall(b"BEGIN\r\n")
        self.serial, self.files = 0, files or [os.open("/dev/null", os.O_RDONLY)] * 16
        self.socket.settimeout(30)
        self.send("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "Hello", None, [])
        heard = b""
        while b"NameAcquired" not in heard:
            heard += self.socket.recv(65536)

    def ping(self):
        return self.call("org.freedesktop.DBus.Peer", "Ping")

    def read_alias(self):
        return self.call("org.freedesktop.Secret.Service", "ReadAlias", "default")

    def call(self, interface, member, word=None):
        self.send(KEYCHAIN, "/org/freedesktop/secrets", interface, member, word, self.files)
        return self.socket.recv(65536)

    def send(self, name, path, interface, member, word, files):
        self.serial += 1
        body = b"" if word is None else struct.pack("<I", len(word)) + word.encode() + b"\0"
        fields = b""
        for code, kind, value in ((1, "o", path), (6, "s", name), (2, "s", interface), (3, "s", member),
                                  (8, "g", word and "s"), (9, "u", files and len(files))):
            if not value:
                continue
            fields += bytes(-len(fields) % 8) + bytes([code, 1]) + kind.encode() + b"\0"
            if kind == "u":
                fields += struct.pack("<I", value)
            elif kind == "g":
                fields += bytes([len(value)]) + value.encode() + b"\0"
            else:
                fields += struct.pack("<I", len(value)) + value.encode() + b"\0"
        head = b"l\1\0\1" + struct.pack("<III", len(body), self.serial, len(fields)) + fields
        head += bytes(-len(head) % 8)
        socket.send_fds(self.socket, [head + body], files)


if __name__ == "__main__":
    DBusGMainLoop(set_as_default=True)
    application = Application()
    for step in sys.argv[1:]:
        verb, *words = step.split(":", 1)
        getattr(application, verb.replace("-", "_"))(*(words[0].split(":") if words else []))
