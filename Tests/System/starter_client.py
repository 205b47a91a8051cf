# SPDX-License-Identifier: Apache-2.0
"""Speaks with keychain-starter as keychaind does: run by a copy of the interpreter that lies
where the installation's keychaind would. starter_client.py SOCKET CODE runs the code."""

import os
import socket
import struct
import sys
import time

WORDS = {1: "started", 2: "ended", 0x8001: "bad request", 0x8002: "other version",
         0x8003: "not allowed", 0x8004: "no service", 0x8005: "busy", 0x8006: "failed",
         0x8007: "not installed"}


def record(user=1000, service=b"keychain-presence", account=b"alice", asker=b"", magic=b"KCST",
           version=2, program=1):
    return struct.pack("<4sHHI48s256s256s", magic, version, program, user, service, account, asker)


def other(program, *numbers, user=1000):
    """A request for a program that is told numbers."""
    return struct.pack("<4sHHI", b"KCST", 2, program, user) + struct.pack(f"<{len(numbers)}I", *numbers)


def policies(*folders, user=0):
    """A request for the compiler of policies."""
    return other(3, user=user) + b"".join(each + b"\0" for each in folders).ljust(4096, b"\0")


def rows(seconds=30, user=1000):
    """A request for keychain-import, and what it takes."""
    return {"bytes_": other(2, seconds, user=user), "descriptors": [readable(), writable()]}


def readable(path="/etc/passwd", flags=os.O_RDONLY):
    return os.open(path, flags)


def writable():
    return os.pipe()[1]


def conversation():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].detach()


class Question:
    def __init__(self, bytes_=None, descriptors=None, connected=None, **fields):
        self.connection = connected or connect()
        self.here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        passed = [there.fileno()] if descriptors is None else descriptors
        self.connection.settimeout(30)
        socket.send_fds(self.connection, [record(**fields) if bytes_ is None else bytes_], passed)
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
