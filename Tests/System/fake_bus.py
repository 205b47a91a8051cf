# SPDX-License-Identifier: Apache-2.0
"""A bus that is none: fake_bus.py PATH END.

closes, fails      it greets, gives the name, and then closes the connection or says what no message is
lies:NUMBER        it passes on what the bus at DBUS_SESSION_BUS_ADDRESS and its peer say, but for the
                   process of a peer, which is NUMBER; or one that has just begun (later), or the peer's
                   own (nothing), or there is none (missing)
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


def reply(serial, to, signature, body):
    fields = b""
    for code, kind, value in ((5, "u", struct.pack("<I", to)), (6, "s", text(":1.1")), (7, "s", text(BUS)),
                              (8, "g", bytes([len(signature)]) + signature.encode() + b"\0")):
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
    found = re.search(rb"ProcessID\x00\x01u\x00", message)
    if not found or number == "nothing":
        return message
    if number == "missing":
        return message.replace(b"ProcessID", b"ProcessIX")
    if number == "later":
        # Its beginning is told in hundredths of a second.
        time.sleep(0.1)
        number = subprocess.Popen(["sleep", "30"]).pid
    begin = message.rindex(bytes([ord("l"), REPLY]), 0, found.start())
    place = found.end() + -(found.end() - begin) % 4
    return message[:place] + struct.pack("<I", int(number)) + message[place + 4:]


def pass_on(peer, number):
    """The bus says who a peer is in one message; nothing else of what it says has the words."""
    path = re.search(r"(path|abstract)=([^,]*)", os.environ["DBUS_SESSION_BUS_ADDRESS"])
    bus = socket.socket(socket.AF_UNIX)
    bus.connect(("\0" if path[1] == "abstract" else "") + path[2])

    def calls_on():
        while said := peer.recv(1 << 20):
            bus.sendall(said)
        bus.shutdown(socket.SHUT_RDWR)

    threading.Thread(target=calls_on, daemon=True).start()
    # A short message comes in one piece.
    while said := bus.recv(1 << 20):
        peer.sendall(lie(said, number))


def main(path, end):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    peer, _ = listener.accept()
    if end.startswith("lies:"):
        return pass_on(peer, end.split(":")[1])
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
