# SPDX-License-Identifier: Apache-2.0
"""Speaks with keychain-audit as keychaind and its workers do: run by a copy of the interpreter that lies
where the installation's keychaind would. audit_client.py SOCKET CODE runs the code."""

import os
import socket
import struct
import sys

WORDS = {1: "written", 2: "no room", 0x8001: "bad record", 0x8002: "other version",
         0x8003: "not allowed"}
SERVE = 2


def record(text=b"{}", user=1000, more=0, magic=b"KCAL", version=2, length=None):
    return struct.pack("<4sHHII", magic, version, more, user,
                       len(text) if length is None else length) + text


def serve(user=1000, **fields):
    """What comes with a socket for a user's lines."""
    return record(b"", user, **{"more": SERVE, **fields})


def pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


class Connection:
    def __init__(self, connected):
        self.socket = connected
        self.socket.settimeout(30)

    def send(self, *records, passing=()):
        """What comes behind a refusal is not heard, and may not be sent any more."""
        try:
            for each in records:
                socket.send_fds(self.socket, [each], passing) if passing else self.socket.send(each)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return self

    def hear(self):
        """The next reply; nothing where the connection has ended."""
        try:
            told = self.socket.recv(100)
        except ConnectionResetError:
            return None
        return None if not told else WORDS[struct.unpack("<4sHH", told)[2]]

    def close(self):
        self.socket.close()


class Control(Connection):
    """keychaind's."""

    def __init__(self):
        super().__init__(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        self.socket.connect(sys.argv[1])

    def serve(self, user=1000):
        here, there = pair()
        with there:
            self.send(serve(user), passing=[there.fileno()])
        return Lines(here, user, self)


class Lines(Connection):
    """A worker's, for the lines of its user."""

    def __init__(self, connected, user, control):
        super().__init__(connected)
        self.user, self.control = user, control

    def append(self, text=b"{}"):
        return self.send(record(text, self.user)).hear()


def lines(user=1000):
    return Control().serve(user)


if __name__ == "__main__":
    exec(sys.argv[2])
