# SPDX-License-Identifier: Apache-2.0
"""The daemon's two protocols, spoken by hand: for programs that do not behave."""

import socket
import struct

SOCKET = "/run/keychain/keychain.sock"
REFUSED_NOT_ENTITLED = 20
REFUSED_NOT_FOUND = 10
REFUSED_DUPLICATE_KEYCHAIN = 41
REFUSED_READ_ONLY = 45
REFUSED_NOT_IMPLEMENTED = 5

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
    connection.settimeout(60)
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


def login_frame(verb, uid, *, ticket=0, leader=0, password=None, account="", new=None,
                authenticated=False):
    def field(text):
        data = text.encode() if isinstance(text, str) else (text or b"")
        return struct.pack("<H", len(data)) + data

    flags = (2 if password is not None else 0) | (4 if new is not None else 0)
    flags |= 16 if authenticated else 0
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


# What protobuf makes of numbers, bytes and messages.

def varint(number):
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(data) + bytes([number])


def field(number, value):
    if isinstance(value, (bool, int)):
        return varint(number << 3) + varint(int(value))
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, text):
    return field(1, name) + field(2, field(1, text))


def context(identifier, *, quiet=False):
    return field(3, field(1, identifier) + field(2, quiet))


def add_item(service, constraint, account="me"):
    """Add {item {class, service, account, access control}, a secret}."""
    rights = b"".join(
        field(2, field(1, operation) + field(2, field(1, kind)))
        for operation, kind in (("od", constraint), ("oe", 0), ("odel", 0)))
    item = (field(2, 1) + field(3, attribute("svce", service))
            + field(3, attribute("acct", account)) + field(7, rights))
    return field(10, field(1, item) + field(2, True))


def add_plain_item(service, account):
    """An item whose rights nothing was said about."""
    item = (field(2, 1) + field(3, attribute("svce", service))
            + field(3, attribute("acct", account)))
    return field(10, field(1, item) + field(2, True))


def read_item(service, account=None, parts=1):
    """`parts`: 1 the secret, 2 the attributes."""
    query = field(2, 1) + field(3, attribute("svce", service))
    if account is not None:
        query += field(3, attribute("acct", account))
    return field(11, query + field(11, 1) + field(12, parts))


def read_all(service):
    return field(11, field(2, 1) + field(3, attribute("svce", service)) + field(12, 1))


def continues(message):
    """Whether more parts follow: field 2 of the answer, behind its items."""
    return message.endswith(field(2, True))


END_CONTEXT = field(21, b"")
CAPABILITIES = field(20, b"")
# Protectors {add {a recovery key, by nothing}}.
ADD_RECOVERY_KEY_UNASKED = field(50, field(51, field(1, 3) + field(2, 2)))
BEGIN_BACKUP = field(70, field(4, b""))


def authenticate(constraint):
    return field(19, field(1, field(1, constraint)))


def fields(message):
    """What a message says: numbers and bytes, by the numbers of its fields."""
    found, place = {}, 0

    def number():
        nonlocal place
        value = shift = 0
        while True:
            byte = message[place]
            place += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while place < len(message):
        key = number()
        if key & 7 == 1:
            value = message[place:place + 8]
            place += 8
        else:
            value = number()
        if key & 7 == 2:
            place += value
            value = message[place - value:place]
        found[key >> 3] = value
    return found


def register_prompter(*, windows=False):
    return field(30, field(85, windows))


def prompt_reply(has_answer):
    return field(32, field(1, has_answer))


def prompt_kind(message):
    """What a prompter is told to do; None when it is something else. Field 4 {1: kind}."""
    return message[3] if message[:1] == b"\x22" and message[2:3] == b"\x08" else None


def secrets_beside(*secrets):
    return field(2, b"".join(varint(len(secret)) for secret in secrets))


class Client:
    """A program that asks again and again on one connection."""

    def __init__(self):
        self.connection = connect()
        self.connection.settimeout(60)
        self.hello = hello_of(self.connection)
        self.sequence = 0

    def ask(self, message, *secrets):
        """The secrets of the answer, or the number of a refusal."""
        self.say(message, *secrets)
        said, beside = self.hear()
        number = refusal(said)
        return beside if number is None else number

    def say(self, message, *secrets):
        self.sequence += 1
        if secrets:
            message = secrets_beside(*secrets) + message
        self.connection.sendall(
            frame(message, self.hello, self.sequence, b"".join(secrets)))

    def hear(self):
        """A message, and the secrets beside it."""
        header = self.exactly(40)
        length, secret = struct.unpack_from("<II", header, 8)
        return self.exactly(length), self.exactly(secret)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.connection.recv(count - len(data))
            if not part:
                raise EOFError("the daemon hung up")
            data += part
        return data
