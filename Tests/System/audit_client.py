# SPDX-License-Identifier: Apache-2.0
"""Speaks with keychain-audit as keychaind does: run by a copy of the interpreter that lies where the
installation's keychaind would. audit_client.py SOCKET CODE runs the code."""

import socket
import struct
import sys

WORDS = {1: "written", 2: "no room", 0x8001: "bad record", 0x8002: "other version",
         0x8003: "not allowed"}


def record(text=b"{}", user=1000, more=0, magic=b"KCAL", version=1, length=None):
    return struct.pack("<4sHHII", magic, version, more, user,
                       len(text) if length is None else length) + text


class Connection:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(sys.argv[1])
        self.socket.settimeout(30)

    def send(self, *records):
        for each in records:
            self.socket.send(each)
        return self

    def hear(self):
        """The next reply; nothing where the connection has ended."""
        try:
            told = self.socket.recv(100)
        except ConnectionResetError:
            return None
        return None if not told else WORDS[struct.unpack("<4sHH", told)[2]]

    def append(self, text=b"{}", user=1000):
        return self.send(record(text, user)).hear()


if __name__ == "__main__":
    exec(sys.argv[2])
