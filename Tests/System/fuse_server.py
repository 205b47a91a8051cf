# SPDX-License-Identifier: Apache-2.0
"""A file system of one file whose server takes up some of what it is asked and never answers: a program
that closes the file, say, waits in the kernel, and can't be killed.

A test makes a FileSystem, which starts this file as a program. The program by itself is

    fuse_server.py FOLDER SOCKET SILENT PROGRAMS

It mounts itself at FOLDER, with the one file FOLDER/file, and gives that file, open, to each that connects to SOCKET.
It says "ready MINOR", and "held OPCODE PROGRAM THREAD" for each request that it does not answer: those whose opcode is
one of SILENT (names as FLUSH, joined by commas), of programs whose name begins with one of PROGRAMS (joined by commas;
empty for all). A line "release" answers all that are held, and all that come later.
"""

import ctypes
import os
import pathlib
import pwd
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time

OPCODES = {"LOOKUP": 1, "FORGET": 2, "GETATTR": 3, "OPEN": 14, "READ": 15, "STATFS": 17, "RELEASE": 18, "FLUSH": 25,
           "INIT": 26, "OPENDIR": 27, "READDIR": 28, "RELEASEDIR": 29, "INTERRUPT": 36, "BATCH_FORGET": 42}
NAMES = {number: name for name, number in OPCODES.items()}
UNANSWERED = ("FORGET", "BATCH_FORGET", "INTERRUPT")
ENOENT, ENOSYS = 2, 38
FOLDER, FILE = 1, 2
CONTENTS = b"a file that answers as its server likes\n"
FILE_NAME = "file"
PATIENCE = 30
LIBC = ctypes.CDLL(None, use_errno=True)


# The program.

def program(thread):
    """The short name of the process that asks; the kernel tells the thread."""
    try:
        status = pathlib.Path(f"/proc/{thread}/status").read_text()
        group = re.search(r"Tgid:\s*(\d+)", status)[1]
        return re.search(r"Name:\s*(.*)", pathlib.Path(f"/proc/{group}/status").read_text())[1]
    except OSError:
        return "?"


def attributes(node):
    mode, size = (stat.S_IFDIR | 0o755, 0) if node == FOLDER else (stat.S_IFREG | 0o755, len(CONTENTS))
    return struct.pack("<6Q10I", node, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


class Server:
    def __init__(self, device, silent, programs):
        self.device, self.silent, self.programs = device, silent, programs
        self.held, self.lock = [], threading.Lock()

    def say(self, unique, data=b"", error=0):
        try:
            os.write(self.device, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)
        except OSError:
            # The one who asked is gone, or the connection was aborted.
            pass

    def release(self):
        with self.lock:
            held, self.held, self.silent = self.held, [], frozenset()
        for asked in held:
            self.answer(*asked)

    def holds(self, name, thread, asked):
        who = program(thread) if name in self.silent else ""
        with self.lock:
            if name not in self.silent or not who.startswith(tuple(self.programs)):
                return False
            self.held.append(asked)
        print("held", name, who, thread, flush=True)
        return True

    def serve(self):
        while True:
            try:
                asked = os.read(self.device, 1 << 20)
            except OSError:
                # Aborted or unmounted.
                return
            _, opcode, unique, node, _, _, thread = struct.unpack_from("<IIQQIII", asked)
            name = NAMES.get(opcode, "")
            if not self.holds(name, thread, (name, unique, node, asked[40:])):
                self.answer(name, unique, node, asked[40:])

    def answer(self, name, unique, node, words):
        if name in UNANSWERED:
            return
        if name == "INIT":
            self.say(unique, struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0))
        elif name == "LOOKUP":
            if node == FOLDER and words.rstrip(b"\0") == FILE_NAME.encode():
                self.say(unique, struct.pack("<QQQQII", FILE, 0, 3600, 3600, 0, 0) + attributes(FILE))
            else:
                self.say(unique, error=ENOENT)
        elif name == "GETATTR":
            self.say(unique, struct.pack("<QII", 3600, 0, 0) + attributes(node))
        elif name in ("OPEN", "OPENDIR"):
            self.say(unique, struct.pack("<QII", 1, 0, 0))
        elif name == "READ":
            _, offset, size = struct.unpack_from("<QQI", words)
            self.say(unique, CONTENTS[offset:offset + size])
        elif name in ("FLUSH", "READDIR", "RELEASE", "RELEASEDIR"):
            self.say(unique)
        else:
            self.say(unique, error=ENOSYS)


def mounted(folder):
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    others = ",allow_other" if pathlib.Path("/proc/self/uid_map").read_text().split()[-1] == "4294967295" else ""
    options = f"fd={device},rootmode=40755,user_id={os.getuid()},group_id={os.getgid()}{others}"
    flags = 2 | 4  # MS_NOSUID | MS_NODEV
    if LIBC.mount(b"fuse_server", folder.encode(), b"fuse", flags, options.encode()) != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    return device


def hand_out(listener, file):
    while True:
        peer, _ = listener.accept()
        socket.send_fds(peer, [b"x"], [file])
        peer.close()


def main(folder, place, silent, programs):
    server = Server(mounted(folder), frozenset(filter(None, silent.split(","))), programs.split(","))
    threading.Thread(target=server.serve, daemon=True).start()
    file = os.open(f"{folder}/{FILE_NAME}", os.O_RDONLY)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    os.chmod(place, 0o666)
    listener.listen()
    threading.Thread(target=hand_out, args=(listener, file), daemon=True).start()
    print("ready", os.minor(os.stat(folder).st_dev), flush=True)
    for line in sys.stdin:
        if line.strip() == "release":
            server.release()


# For tests.

def abort(minor):
    """Ends the connection of that device number."""
    script = ("mount -t fusectl fusectl /sys/fs/fuse/connections &&"
              f" echo 1 >/sys/fs/fuse/connections/{minor}/abort")
    subprocess.run(["unshare", "--mount", "sh", "-c", script], check=False, stderr=subprocess.DEVNULL)


class FileSystem:
    """The file system, for a `with`: at its end its connection is aborted, so that all who wait go on, and its server
    is ended.

    user        the name of a user; the server runs as that user, in a user namespace and a mount namespace of its
                own, as any program can: no other process sees the mount, and the file is had through `socket`.
                Without one it runs as root, in the mount namespace of the process `beside`, or in this one's, and all
                users may use the file at `path`.
    silent      names of opcodes that are never answered until `release`
    programs    beginnings of the short names of processes to which that happens; none for all. The server's own end
                closes the file, too: leave it out where it would wait for itself.
    """

    def __init__(self, user=None, beside=None, silent=("FLUSH",), programs=()):
        # The server must not have its user's home for its place: that may be hung by another test.
        self.place = pathlib.Path(tempfile.mkdtemp(prefix="fuse-"))
        self.folder, self.socket = self.place / "files", self.place / "socket"
        self.path = self.folder / FILE_NAME
        self.minor, self.beside, self.user = None, beside, user
        self.folder.mkdir()
        shutil.copy(__file__, self.place)
        words = ["/usr/bin/python3", "-B", self.place / pathlib.Path(__file__).name, self.folder, self.socket,
                 ",".join(silent), ",".join(programs)]
        becoming = {}
        if user is not None:
            entry = pwd.getpwnam(user)
            becoming = {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}
            for path in (self.place, self.folder):
                os.chown(path, entry.pw_uid, entry.pw_gid)
            words = ["unshare", "--user", "--map-root-user", "--mount", *words]
        elif beside is not None:
            words = ["nsenter", f"--target={beside}", "--mount", *words]
        self.place.chmod(0o755)
        self.log = self.place / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd="/", text=True,
                                            **becoming)
        try:
            self.minor = int(self.told(r"^ready (\d+)$")[0])
        except BaseException:
            self.end()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def told(self, pattern, patience=PATIENCE):
        """What the server said that matches, once it has."""
        deadline = time.monotonic() + patience
        while not (found := re.findall(pattern, self.log.read_text(), re.M)):
            assert self.process.poll() is None and time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)
        return found

    def held(self):
        """What is not answered, each as (opcode, program, thread). Also what was aborted stays in the list."""
        return [(name, who, int(thread)) for name, who, thread in
                re.findall(r"^held (\S+) (.*) (\d+)$", self.log.read_text(), re.M)]

    def wait_held(self, opcode="FLUSH", patience=PATIENCE):
        """Waits until a request of that kind is held."""
        self.told(rf"^held {opcode} ", patience)
        return [held for held in self.held() if held[0] == opcode]

    def descriptor(self):
        """The open file, as another process has it that connects to `socket`. To close it may take its time where
        this process is among the programs."""
        peer = socket.socket(socket.AF_UNIX)
        with peer:
            peer.settimeout(PATIENCE)
            peer.connect(str(self.socket))
            return socket.recv_fds(peer, 9, 1)[1][0]

    def release(self):
        """Answers all that is held, and everything from then on."""
        self.process.stdin.write("release\n")
        self.process.stdin.flush()

    def abort(self):
        """Ends the connection, so that all who wait get an error: fusectl's, which root has. To kill the server is not
        enough, since its own end closes the file, too."""
        if self.minor is not None:
            abort(self.minor)

    def end(self):
        self.abort()
        self.process.kill()
        self.process.wait(PATIENCE)
        self.process.stdin.close()
        if self.user is None and self.minor is not None:
            inside = [] if self.beside is None else ["nsenter", f"--target={self.beside}", "--mount"]
            subprocess.run([*inside, "umount", "--lazy", self.folder], check=False, stderr=subprocess.DEVNULL)
        shutil.rmtree(self.place, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
