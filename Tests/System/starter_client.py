# SPDX-License-Identifier: Apache-2.0
"""Speaks with keychain-starter as keychaind and its workers do: run by a copy of the interpreter that lies
where the installation's keychaind would. starter_client.py SOCKET CODE runs the code."""

import os
import socket
import struct
import subprocess
import sys
import time

WORDS = {1: "started", 2: "ended", 3: "done", 0x8001: "bad request", 0x8002: "other version",
         0x8003: "not allowed", 0x8004: "no service", 0x8005: "busy", 0x8006: "failed",
         0x8007: "not installed", 0x8008: "foreign folder"}
# What keychaind asks for itself, on connections that are bound to no user.
UNBOUND = {3, 7, 8}
OF_REQUEST = object()
PEERS = []


def record(user=1000, service=b"keychain-presence", account=b"alice", asker=b"", magic=b"KCST",
           version=3, program=1):
    return struct.pack("<4sHHI48s256s256s", magic, version, program, user, service, account, asker)


def other(program, *numbers, user=1000):
    """A request for a program that is told numbers."""
    return struct.pack("<4sHHI", b"KCST", 3, program, user) + struct.pack(f"<{len(numbers)}I", *numbers)


def policies(*folders, user=0):
    """A request for the compiler of policies."""
    return other(3, user=user) + b"".join(each + b"\0" for each in folders).ljust(4096, b"\0")


def bind(user=1000):
    return other(6, user=user)


def adopt(number, user=1000):
    return other(7, number, user=user)


def end(number, user=1000):
    return other(8, number, user=user)


def folders(*paths):
    return [os.open(path, os.O_RDONLY | os.O_DIRECTORY) for path in paths]


def whose(bytes_):
    """The user that keychaind would bind the connection to before this request."""
    if len(bytes_) < 12:
        return 1000
    _, program, user = struct.unpack_from("<HHI", bytes_, 4)
    return None if program in UNBOUND else user if user != 0xFFFFFFFF else 1000


def rows(seconds=30, user=1000):
    """A request for keychain-import, and what it takes."""
    return {"bytes_": other(2, seconds, user=user), "descriptors": [readable(), writable()]}


def readable(path="/etc/passwd", flags=os.O_RDONLY):
    return os.open(path, flags)


def writable():
    return os.pipe()[1]


def conversation():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].detach()


def lingering():
    """A TCP socket whose peer does not take all that was sent, and which a process that closes it waits
    for: a minute, unless it ends. The peer stays open."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sender = socket.create_connection(listener.getsockname())
        PEERS.append(listener.accept()[0])
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 60))
    sender.setblocking(False)
    try:
        while True:
            sender.send(bytes(65536))
    except BlockingIOError:
        return sender.detach()


def received(path):
    """The descriptor that a server at the path gives away."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        return socket.recv_fds(server, 9, 1)[1][0]


def send_away(connection, bytes_, descriptor):
    """Sends it, and keeps no copy."""
    socket.send_fds(connection, [bytes_], [descriptor])
    os.close(descriptor)


def word_for(descriptor, more=None, user=1000):
    """What a request for a TPM hears that comes with a descriptor of another kind. `more` goes behind
    it."""
    connection = connect()
    connection.settimeout(30)
    connection.send(bind(user))
    connection.recv(100)
    send_away(connection, other(4, 2, 0, user=user), descriptor)
    if more is not None:
        send_away(connection, b"more", more)
    with connection:
        return WORDS[struct.unpack("<4sHHI", connection.recv(100))[2]]


class Question:
    """A request on a connection of its own, which is bound to the request's user first, or as the
    test says."""

    def __init__(self, bytes_=None, descriptors=None, bound=OF_REQUEST, **fields):
        if bytes_ is None:
            bytes_ = record(**fields)
        user = whose(bytes_) if bound is OF_REQUEST else bound
        self.connection = connect()
        self.connection.settimeout(30)
        if user is not None:
            self.connection.send(bind(user))
            assert self.next() == "done"
        self.here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        passed = [there.fileno()] if descriptors is None else descriptors
        socket.send_fds(self.connection, [bytes_], passed)
        there.close()
        self.word = self.next()

    def next(self):
        """The next reply; nothing where the connection has ended."""
        told = self.connection.recv(100)
        if not told:
            return None
        _, _, word, self.status = struct.unpack("<4sHHI", told)
        return WORDS[word]

    def close(self):
        self.connection.close()
        self.here.close()


def connect():
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.connect(sys.argv[1])
    return connection


def told():
    """What one hears who says nothing; nothing where a request was waited for."""
    connection = connect()
    connection.settimeout(30)
    heard = connection.recv(100)
    return None if not heard else WORDS[struct.unpack("<4sHHI", heard)[2]]


# What a process hears that has the connection as its standard input.
HEARD = """
import socket, struct
connection = socket.socket(fileno=0)
here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
socket.send_fds(connection, [{record}], [there.fileno()])
print(*(number for _ in range(2) for number in struct.unpack_from("<HI", connection.recv(100), 6)))
"""


def handed_on(user=1000):
    """The numbers that another program hears on a connection that was bound for it."""
    connection = connect()
    connection.send(bind(user))
    assert WORDS[struct.unpack("<4sHHI", connection.recv(100))[2]] == "done"
    return subprocess.run(
        ["/usr/bin/python3", "-c", HEARD.format(record=repr(record(user=user)))], stdin=connection,
        capture_output=True, text=True).stdout.split()


def ended(bytes_=None, descriptors=None, **fields):
    """What is said of a program that ends by itself, and its status."""
    asked = Question(bytes_, descriptors, **fields)
    last = asked.next()
    asked.close()
    return [asked.word, last, asked.status]


def word(bytes_=None, descriptors=None, **fields):
    asked = Question(bytes_, descriptors, **fields)
    asked.close()
    return asked.word


if __name__ == "__main__":
    exec(sys.argv[2])
