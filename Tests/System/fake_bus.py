# SPDX-License-Identifier: Apache-2.0
"""A bus that greets, gives the name, and then closes the connection or says what no message is."""

import os
import socket
import struct
import sys

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


def main(path, end):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    peer, _ = listener.accept()
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
