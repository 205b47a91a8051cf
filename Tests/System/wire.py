# SPDX-License-Identifier: Apache-2.0
"""The daemon's two protocols, spoken by hand: for programs that do not behave."""

import socket
import struct

SOCKET = "/run/keychain/keychain.sock"
REFUSED_NOT_ENTITLED = 20
REFUSED_NOT_FOUND = 10

# ClientMessage: status = field 14, copy_matching = 11, register = 30, attach = 31.
STATUS = bytes([0x72, 0x00])
REGISTER_PROMPTER = bytes([0xF2, 0x01, 0x00])
# copy_matching {item_class: 1, limit: 1, parts: 1}
READ_FROM_NOWHERE = bytes([0x5A, 12, 0x0A, 4]) + b"../x" + bytes([0x10, 1, 0x58, 1, 0x60, 1])
READ_ANYTHING = bytes([0x5A, 6, 0x10, 1, 0x58, 1, 0x60, 1])


def attach_prompter(challenge):
    return bytes([0xFA, 0x01, len(challenge)]) + challenge


def frame(message, hello, sequence=1, secrets=b""):
    header = struct.pack("<4sHHIIQ", b"KCF1", 1, 0, len(message), len(secrets), sequence)
    return header + hello[8:24] + message + secrets


def connect(path=SOCKET):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(8)
    connection.connect(path)
    return connection


def hello_of(connection):
    hello = b""
    while len(hello) < 24:
        part = connection.recv(24 - len(hello))
        if not part:
            raise EOFError("no hello")
        hello += part
    assert hello.startswith(b"KCHELLO1")
    return hello


def answer(connection):
    """The message of one frame; empty when the daemon hung up."""
    received = b""
    while True:
        if len(received) >= 40:
            length = struct.unpack_from("<I", received, 8)[0]
            if len(received) >= 40 + length:
                return received[40:40 + length]
        try:
            part = connection.recv(4096)
        except (ConnectionResetError, BrokenPipeError):
            return b""
        if not part:
            return b""
        received += part


def refusal(message):
    """The number of a refusal; None when it is no refusal. Field 1, a varint."""
    return message[1] if message[:1] == b"\x08" else None


def login_frame(verb, uid, *, ticket=0, leader=0, password=None, account="", new=None):
    def field(text):
        data = text.encode() if isinstance(text, str) else (text or b"")
        return struct.pack("<H", len(data)) + data

    flags = (2 if password is not None else 0) | (4 if new is not None else 0)
    body = struct.pack("<IiiIH", uid, ticket, leader, 0xFFFFFFFF, flags)
    body += field(account) + field("test") + field("") + field("") + field(password) + field(new)
    return struct.pack("<IHHI", 0x4C46434B, 1, verb, len(body)) + body


def login_reply(path, data):
    """accepted, a reason, or None when the daemon hung up."""
    with connect(path) as connection:
        try:
            connection.sendall(data)
            reply = connection.recv(64)
        except (ConnectionResetError, BrokenPipeError, TimeoutError):
            return None
    if len(reply) < 12:
        return None
    verb = struct.unpack_from("<H", reply, 6)[0]
    return "accepted" if verb == 0x8001 else struct.unpack_from("<H", reply, 12)[0]
