# SPDX-License-Identifier: Apache-2.0
"""A keychaind that behaves as badly as a test wants. Speaks the frame by its documentation, not
through the C code that is tested."""

import os
import socket
import struct
import threading
import time

MAGIC, VERSION = 0x4C46434B, 1
VERBS = {1: "open", 2: "close", 3: "offer", 4: "change", 5: "reset", 6: "number"}
ACCEPTED = struct.pack("<IHHI", MAGIC, VERSION, 0x8001, 0)


def refused(reason):
    return struct.pack("<IHHIH", MAGIC, VERSION, 0x8002, 2, reason)


def accepted_with_notice(notice):
    return struct.pack("<IHHIH", MAGIC, VERSION, 0x8003, 2, notice)


def number_is(number):
    return struct.pack("<IHHII", MAGIC, VERSION, 0x8004, 4, number)


def read_request(frame):
    magic, version, verb, length = struct.unpack_from("<IHHI", frame)
    assert (magic, version, length) == (MAGIC, VERSION, len(frame) - 12), frame[:12]
    uid, ticket, leader, audit, flags = struct.unpack_from("<IiiIH", frame, 12)
    at, fields = 30, []
    for _ in range(6):
        (count,) = struct.unpack_from("<H", frame, at)
        fields.append(frame[at + 2 : at + 2 + count])
        at += 2 + count
    assert at == len(frame) and flags < 32
    account, service, tty, session = (field.decode() for field in fields[:4])
    return {
        "verb": VERBS[verb], "uid": uid, "ticket": ticket, "leader": leader, "audit": audit,
        "remote": bool(flags & 1), "account": account, "service": service, "tty": tty,
        "session": session, "password": fields[4].decode() if flags & 2 else None,
        "new": fields[5].decode() if flags & 4 else None, "silent": bool(flags & 8),
        "authenticated": bool(flags & 16),
    }


class FakeDaemon:
    """Listens at `path` while the `with` lasts. `answer` is the bytes to answer with, or a function
    that gets the connection after the request was read; None never answers. Questions for a number
    are apart: they get `number`, or bytes, or what a function does; none where that or `answer` is
    None."""

    def __init__(self, path, answer=ACCEPTED, mode=0o600, accepts=True, reads=True, owner=None,
                 hangs_up=False, number=0):
        self.path, self.answer, self.mode = path, answer, mode
        self.accepts, self.reads, self.owner = accepts, reads, owner
        self.hangs_up = hangs_up
        self.number = None if answer is None else number
        self.requests, self.peers, self.connections, self.asked = [], [], 0, []
        self.accepted = threading.Event()

    def __repr__(self):
        return f"FakeDaemon(requests={self.requests}, peers={self.peers})"

    def __enter__(self):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(self.path)
        os.chmod(self.path, self.mode)
        self.held = []
        if self.owner is not None:
            self._listen_as(self.owner)
        elif self.accepts:
            self.socket.listen(8)
        else:
            # Full: one connection waits already, and the daemon accepts none.
            self.socket.listen(0)
            waiting = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            waiting.connect(self.path)
            self.held.append(waiting)
        self.thread = threading.Thread(target=self._serve, daemon=True)
        if self.accepts:
            self.thread.start()
        return self

    def _listen_as(self, owner):
        """The kernel tells clients who called listen(), not who made the socket's file."""
        child = os.fork()
        if child == 0:
            os.setresuid(owner, owner, owner)
            self.socket.listen(8)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0

    def _serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            self.held.append(connection)
            self.accepted.set()
            try:
                self._handle(connection)
            except OSError:
                pass

    def _handle(self, connection):
        peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        self.peers.append(struct.unpack("iII", peer))
        if self.hangs_up:
            connection.shutdown(socket.SHUT_RDWR)
        if self.hangs_up or not self.reads:
            return
        connection.settimeout(5)
        frame = b""
        while len(frame) < 12 or len(frame) < 12 + struct.unpack_from("<I", frame, 8)[0]:
            piece = connection.recv(4096)
            if not piece:
                return
            frame += piece
        request = read_request(frame)
        if request["verb"] == "number":
            self.asked.append(request["uid"])
            number = self.number
            self._say(connection, number_is(number) if isinstance(number, int) else number)
        else:
            self.requests.append(request)
            self._say(connection, self.answer)

    def _say(self, connection, answer):
        if callable(answer):
            answer(connection)
        elif answer is not None:
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)

    def __exit__(self, *_):
        # Wakes accept(), which closing alone would not.
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        if self.accepts:
            self.thread.join(10)
        self.socket.close()
        for connection in self.held:
            connection.close()
        os.unlink(self.path)


def drip(connection):
    """A byte now and then: each in time, all together too late."""
    for byte in ACCEPTED:
        connection.sendall(bytes([byte]))
        time.sleep(0.4)


def after(seconds):
    def answer(connection):
        time.sleep(seconds)
        connection.sendall(ACCEPTED)

    return answer
