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
REFUSED_OLDER_SERVICE = 64
LOGIN_BAD_REQUEST = 6
LOGIN_OLDER_SERVICE = 8

# Messages that are no verbs, and the verbs that are spoken here, by their numbers.
REGISTER, ATTACH, REPLY = 0x100, 0x101, 0x102
ADD, COPY, UPDATE, STATUS, CREATE, AUTHENTICATE, CAPABILITIES, END, PREFERENCES = (
    1, 2, 3, 5, 6, 11, 12, 13, 15)
ADD_PROTECTOR, UNLOCK_WITH, BACK_UP = 17, 20, 23
INTRODUCE, FORGET, FIND = 29, 30, 31
UNLOCK, LOCK = 7, 8
# What the daemon says.
REFUSAL, ANSWER, NEEDS_PROMPTER, PROMPT = 1, 2, 3, 4
VERSION = 5


class Message:
    """Parts of a message, among them SECRET for the length of a secret beside it."""

    def __init__(self, kind, *parts, context=None, offers=False, relay=None):
        self.kind, self.parts, self.around, self.offers = kind, parts, context, offers
        self.relay = relay

    def within(self, context):
        return Message(self.kind, *self.parts, context=context, offers=self.offers,
                       relay=self.relay)

    def offering(self):
        """With a terminal for a question."""
        return Message(self.kind, *self.parts, context=self.around, offers=True,
                       relay=self.relay)

    def relayed(self, peer, transfer=0, window=None):
        """For a program that a deputy has introduced; transfer 1 is plain, 2 encrypted."""
        return Message(self.kind, *self.parts, context=self.around, offers=self.offers,
                       relay=number(peer, 8) + number(transfer, 1)
                       + optional(None if window is None else number(window)))

    def encoded(self, secrets=()):
        said = struct.pack("<BBH", 0, VERSION, self.kind)
        if self.kind < REGISTER:
            said += optional(self.relay) + flag(self.offers) + optional(self.around)
        secrets = list(secrets)
        for part in self.parts:
            said += number(len(secrets.pop(0))) if part is SECRET else part
        return said


SECRET = object()


def flag(value):
    return b"\x01" if value else b"\0"


def number(value, size=4):
    return value.to_bytes(size, "little")


def block(value):
    data = value.encode() if isinstance(value, str) else value
    return number(len(data)) + data


def optional(data):
    return flag(data is not None) + (data if data is not None else b"")


def text(value):
    """One that may be left out."""
    return optional(None if value is None else block(value))


def attributes(**values):
    """Texts, by the four letters of their names."""
    return number(len(values)) + b"".join(
        block(name) + b"\x01" + block(value) for name, value in values.items())


def query(*, keychain=None, limit=None, parts=1, ui=0, item_class=1, found=None, references=None):
    """`parts`: 1 the secret, 2 the attributes. `found` are attributes as bytes, `references` a class
    and an identifier each."""
    bounded = None if limit is None else number(limit, 8)
    named = None if references is None else number(len(references)) + b"".join(
        number(of, 1) + identifier for of, identifier in references)
    return (number(item_class, 1) + text(keychain) + (found or attributes()) + flag(False)
            + text(None) + b"\0" + optional(named) + text(None) + b"\0" + optional(bounded)
            + number(parts, 1) + number(ui, 1) + text(None))


def copy(**words):
    return Message(COPY, query(**words))


def new_item(found, *, group=None, rights=None, trusted=None, item_class=1, keychain=None):
    return (number(item_class, 1) + text(keychain) + found + text(group) + flag(False) + b"\0"
            + optional(rights) + optional(trusted) + flag(False) + b"\0" + text(None))


def add(item):
    """With a secret, of which nothing is wanted back."""
    return Message(ADD, item, flag(True), SECRET, b"\0")


READ_FROM_NOWHERE = copy(keychain="../x", limit=1)
READ_ANYTHING = copy(limit=1)
READ_STATUS = Message(STATUS)


def register_prompter(*, windows=False):
    return Message(REGISTER, flag(windows), flag(False))


REGISTER_PROMPTER = register_prompter()


def attach_prompter(challenge):
    return Message(ATTACH, block(challenge))


def prompt_reply(has_answer):
    return Message(REPLY, flag(has_answer), *([SECRET] if has_answer else []))


def context(identifier, *, quiet=False):
    return identifier + flag(not quiet) + text(None) + flag(False)


def rights(constraint):
    """With the constraint on reading, and none on writing and deleting."""
    return (b"\0" + flag(False) + flag(False) + b"\x03" + b"\x01" + number(constraint, 1)
            + b"\x02\0" + b"\x03\0")


def add_item(service, constraint, account="me"):
    return add(new_item(attributes(svce=service, acct=account), rights=rights(constraint)))


def add_plain_item(service, account):
    """An item whose rights nothing was said about."""
    return add(new_item(attributes(svce=service, acct=account)))


def read_item(service, account=None, parts=1):
    names = {"svce": service} | ({} if account is None else {"acct": account})
    return copy(found=attributes(**names), limit=1, parts=parts)


def read_all(service):
    return copy(found=attributes(svce=service))


def authenticate(constraint):
    return Message(AUTHENTICATE, number(constraint, 1))


END_CONTEXT = Message(END)
READ_CAPABILITIES = Message(CAPABILITIES)
# A recovery key (3), by nothing (2).
ADD_RECOVERY_KEY_UNASKED = Message(ADD_PROTECTOR, text(None), b"\x03", SECRET, b"\x02")
BEGIN_BACKUP = Message(BACK_UP, text(None))


def create_keychain(name):
    """With a password, and no recovery key."""
    return Message(CREATE, block(name), flag(True), SECRET, flag(False), flag(False))


def default_keychain(name):
    return Message(PREFERENCES, flag(True), b"\x01", text(name))


ATTRIBUTED = 5


def pairs(**values):
    """Attributes of an item of the class `attributed`."""
    return attributes(**{"pair:" + name: value for name, value in values.items()})


def add_attributed(*, rights=None, keychain=None, **values):
    return add(new_item(pairs(**values), item_class=ATTRIBUTED, rights=rights, keychain=keychain,
                        trusted=number(0)))


def read_attributed(*, parts=1, ui=0, keychain=None, **values):
    return copy(found=pairs(**values), limit=1, parts=parts, item_class=ATTRIBUTED, ui=ui,
                keychain=keychain)


def introduce(heard_of=None, via=1):
    """`heard_of` in nanoseconds of CLOCK_BOOTTIME; None where the bus gave the descriptor."""
    return Message(INTRODUCE, optional(None if heard_of is None else number(heard_of, 8)),
                   number(via, 1))


def forget(peer):
    return Message(FORGET, number(peer, 8))


WATCH = Message(32, flag(False))


def unlock_by_question(keychain=None):
    return Message(UNLOCK, text(keychain), flag(False))


def create_by_question(name):
    return Message(CREATE, block(name), flag(False), flag(False), flag(True))


def unlock_with_recovery_key(keychain):
    """And a new password."""
    return Message(UNLOCK_WITH, text(keychain), b"\x03", SECRET, flag(True), SECRET)


def update(found, change):
    """New attributes for those that are found; nothing else changes."""
    return Message(
        UPDATE, query(found=found, parts=0), change, flag(False), text(None), flag(False),
        flag(False), flag(False), flag(False), flag(False))


# What the daemon says.

def kind(said):
    return struct.unpack_from("<H", said, 2)[0] if len(said) >= 4 else None


def refusal(said):
    """The number of a refusal; None when it is no refusal."""
    return struct.unpack_from("<I", said, 4)[0] if kind(said) == REFUSAL else None


def continues(said):
    """Whether more parts of an answer follow."""
    return kind(said) == ANSWER and said[6] == 1


def body(said):
    """What stands behind the head of an answer."""
    assert kind(said) == ANSWER, said
    return said[7:]


def challenge(said):
    """Of the prompter that is needed; None where none is."""
    if kind(said) != NEEDS_PROMPTER:
        return None
    length = struct.unpack_from("<I", said, 4)[0]
    return said[8:8 + length]


def prompt_kind(said):
    """What a prompter is told to do; None when it is something else."""
    return said[4] if kind(said) == PROMPT else None


def frame(message, hello, sequence=1, secrets=b""):
    message = message.encoded([secrets]) if isinstance(message, Message) else message
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

    def say(self, message, *secrets, passing=()):
        """`passing`: numbers of descriptors that go with the frame's beginning."""
        self.sequence += 1
        said = frame(message.encoded(secrets), self.hello, self.sequence, b"".join(secrets))
        sent = socket.send_fds(self.connection, [said], list(passing)) if passing else 0
        # Sending nothing at all fails where the daemon has answered and hung up.
        if sent < len(said):
            self.connection.sendall(said[sent:])

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
