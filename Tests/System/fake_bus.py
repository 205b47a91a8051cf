# SPDX-License-Identifier: Apache-2.0
"""A bus that is none: fake_bus.py PATH END.

closes, fails      it greets, gives the name, and then closes the connection or says what no message is
lies:NUMBER        it passes on what the bus at DBUS_SESSION_BUS_ADDRESS and its peer say, but for the
                   process of a peer, which is NUMBER; or one that has just begun (later), or the peer's
                   own (nothing), or there is none (missing)
hands:FD:NUMBER    it hands out a descriptor of a peer's process as well, as newer buses do: FD is its
                   number, or the peer's own (own), or a file's (file, or the socket of a fuse_server.py
                   that gives one); NUMBER is what it says besides
"""

import os
import re
import socket
import struct
import subprocess
import sys
import threading
import time

REPLY, ERRORLESS = 2, 1
BUS = "org.freedesktop.DBus"


def padded(data, size):
    return data + bytes(-len(data) % size)


def text(value):
    return struct.pack("<I", len(value)) + value.encode() + b"\0"


def field(code, signature, value):
    """A header field, which begins at a multiple of eight."""
    return bytes([code, len(signature)]) + signature.encode() + b"\0" + value


def reply(serial, to, signature, body, descriptors=0):
    fields = b""
    named = [(9, "u", struct.pack("<I", descriptors))] if descriptors else []
    for code, kind, value in ((5, "u", struct.pack("<I", to)), (6, "s", text(":1.1")), (7, "s", text(BUS)),
                              (8, "g", bytes([len(signature)]) + signature.encode() + b"\0"), *named):
        fields = padded(fields, 8) + field(code, kind, value)
    head = struct.pack("<BBBBIII", ord("l"), REPLY, ERRORLESS, 1, len(body), serial, len(fields))
    return padded(head + fields, 8) + body


def calls(peer):
    """The serials and names of what is called."""
    data = b""
    while True:
        while len(data) >= 16:
            size, serial, fields = struct.unpack_from("<III", data, 4)
            end = 16 + fields + -fields % 8 + size
            if len(data) < end:
                break
            message, data = data[:end], data[end:]
            yield serial, message
        more = peer.recv(65536)
        if not more:
            return
        data += more


def lie(message, number):
    """The number is a variant of "u", at a multiple of four from the reply's beginning. The reply stays
    as long as it was."""
    found = told(message)
    if not found or number == "nothing":
        return message
    if number == "missing":
        return message.replace(b"ProcessID", b"ProcessIX")
    if number == "later":
        # Its beginning is told in hundredths of a second.
        time.sleep(0.1)
        number = subprocess.Popen(["sleep", "30"]).pid
    _, place = found
    return message[:place] + struct.pack("<I", int(number)) + message[place + 4:]


def handed(message, descriptor, number):
    """The reply once more with a descriptor, and that."""
    own = int.from_bytes(told(message)[0], "little")
    descriptor = opened(descriptor, own)
    entries = b""
    for name, kind, value in (("ProcessID", "u", own if number == "own" else int(number)), ("ProcessFD", "h", 0)):
        entries = padded(entries, 8) + text(name) + bytes([1]) + kind.encode() + b"\0"
        # The array's first entry begins at a multiple of eight.
        entries = padded(entries, 4) + struct.pack("<I", value)
    body = struct.pack("<II", len(entries), 0) + entries
    serial, = struct.unpack_from("<I", message, 8)
    to, = struct.unpack("<I", re.search(rb"\x05\x01u\x00(....)", message, re.S)[1])
    return reply(serial, to, "a{sv}", body, descriptors=1), descriptor


def opened(descriptor, own):
    if descriptor == "file":
        return os.open("/dev/null", os.O_RDONLY)
    if descriptor.startswith("/"):
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(descriptor)
            return socket.recv_fds(server, 9, 1)[1][0]
    return os.pidfd_open(own if descriptor == "own" else int(descriptor))


def told(message):
    """The bytes of the process's number, and where they are."""
    found = re.search(rb"ProcessID\x00\x01u\x00", message)
    if not found:
        return None
    begin = message.rindex(bytes([ord("l"), REPLY]), 0, found.start())
    place = found.end() + -(found.end() - begin) % 4
    return message[place:place + 4], place


def messages(bus, peer):
    """Passes on what is said before there are messages, and gives those whole."""
    data = b""
    while b"AGREE_UNIX_FD\r\n" not in data:
        said = bus.recv(1)
        data += said
        peer.sendall(said)
    yield from (message for _, message in calls(bus))


def pass_on(peer, number, descriptor=None):
    """The bus says who a peer is in one message; nothing else of what it says has the words."""
    path = re.search(r"(path|abstract)=([^,]*)", os.environ["DBUS_SESSION_BUS_ADDRESS"])
    bus = socket.socket(socket.AF_UNIX)
    bus.connect(("\0" if path[1] == "abstract" else "") + path[2])

    def calls_on():
        while said := peer.recv(1 << 20):
            bus.sendall(said)
        bus.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=calls_on, daemon=True).start()
    for said in messages(bus, peer):
        if descriptor is None or not told(said):
            peer.sendall(lie(said, number))
            continue
        said, passed = handed(said, descriptor, number)
        peer.sendmsg([said], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", passed))])
        os.close(passed)


def main(path, end):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    peer, _ = listener.accept()
    kind, *words = end.split(":")
    if kind == "lies":
        return pass_on(peer, words[0])
    if kind == "hands":
        return pass_on(peer, words[1], words[0])
    heard = b""
    while not heard.endswith(b"BEGIN\r\n"):
        heard += peer.recv(1)
        if heard.endswith(b"DATA\r\n"):
            peer.sendall(b"DATA\r\nOK " + os.urandom(16).hex().encode() + b"\r\n")
        if heard.endswith(b"NEGOTIATE_UNIX_FD\r\n"):
            peer.sendall(b"AGREE_UNIX_FD\r\n")
    for number, (serial, message) in enumerate(calls(peer), 1):
        if b"Hello" in message:
            peer.sendall(reply(number, serial, "s", text(":1.1")))
        elif b"RequestName" in message:
            peer.sendall(reply(number, serial, "u", struct.pack("<I", 1)))
            if end == "fails":
                peer.sendall(b"?" * 64)
            peer.close()
            return


main(*sys.argv[1:])
