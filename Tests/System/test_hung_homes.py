# SPDX-License-Identifier: Apache-2.0
"""A user's home on a server that answers no more: its programs wait, and no other user does."""

import ctypes
import os
import pathlib
import pwd
import re
import select
import shutil
import struct
import subprocess
import time

import pytest

import wire
import world
from conftest import ALICE, BOB
from fuse_server import abort

ADD = "printf tell-nobody | keychainctl add generic-password --service mail"
GET = "keychainctl get generic-password --service mail"
# Programs of the user's own that ask at the same time; below what one user may have connected.
PROGRAMS = 12
# What an answer may take on a busy machine: no wait for a file system is over by then.
SOON = 20
ASKER = """import os, sys
sys.path.insert(0, sys.argv[1])
import wire
os.write(1, b"there\\n")
os.read(0, 1)
connection = wire.connect()
connection.settimeout(None)
try:
    connection.sendall(wire.frame(wire.READ_STATUS, wire.hello_of(connection)))
    os.write(1, b"answered\\n" if wire.answer(connection) else b"hung up\\n")
except (EOFError, OSError):
    pass
"""
# How keychaind's name begins, and how a worker's does, before it serves a user and then.
DAEMON = "keychaind,keychain-worker,keychain:"
LIBC = ctypes.CDLL(None, use_errno=True)
INIT = 26


class SilentFileSystem:
    """Mounted, and answering nothing but the kernel's greeting: FUSE without a program behind it."""

    def __init__(self, place):
        self.place = str(place).encode()
        self.device = os.open("/dev/fuse", os.O_RDWR | os.O_NONBLOCK)
        options = f"fd={self.device},rootmode=40000,user_id=0,group_id=0,allow_other".encode()
        if LIBC.mount(b"silent", self.place, b"fuse", 0, options) != 0:
            raise OSError(ctypes.get_errno(), "mount")
        select.select([self.device], [], [], world.PATIENCE)
        _, operation, unique = struct.unpack_from("<IIQ", os.read(self.device, 1 << 20))
        assert operation == INIT
        greeting = struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0)
        os.write(self.device, struct.pack("<IiQ", 16 + len(greeting), 0, unique) + greeting)

    def is_asked(self):
        """What is asked is never taken up: so those who wait can be killed, as with NFS."""
        return select.select([self.device], [], [], 0)[0] != []

    def end(self):
        """Calls that wait for it fail."""
        LIBC.umount2(self.place, 2)
        os.close(self.device)


@pytest.fixture
def programs(login, tools):
    """alice's own programs, which run from her home and will ask when they are told to."""
    assert login(ALICE).run(ADD).status == 0
    entry = pwd.getpwnam(ALICE[0])
    folder = pathlib.Path(entry.pw_dir, "bin")
    folder.mkdir()
    own = folder / "asker"
    shutil.copy(os.path.realpath("/usr/bin/python3"), own)
    world.run("chown", "-R", ALICE[0], folder)
    started = [
        subprocess.Popen([own, "-S", "-c", ASKER, world.TOOLS], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, user=entry.pw_uid, group=entry.pw_gid,
                         extra_groups=[], cwd="/", env={"PYTHONHOME": "/usr"})
        for _ in range(PROGRAMS)]
    for program in started:
        assert program.stdout.readline() == b"there\n"
    yield started
    for program in started:
        program.kill()
        program.wait()
    shutil.rmtree(folder)


def ask(programs):
    for program in programs:
        program.stdin.write(b"x")
        program.stdin.flush()


def test_programs_of_a_home_that_hangs_keep_no_other_user_waiting(programs, login, daemon):
    there = login(BOB)
    assert there.run(ADD.replace("tell-nobody", "of-bob")).status == 0
    home = pwd.getpwnam(ALICE[0]).pw_dir
    files = SilentFileSystem(home)
    try:
        ask(programs)
        world.wait_for(files.is_asked, "the daemon to look there")
        time.sleep(2)
        assert select.select([program.stdout for program in programs], [], [], 0)[0] == []
        for _ in range(3):
            began = time.monotonic()
            assert there.run(GET).text.strip() == "of-bob"
            assert login(BOB).run(GET).text.strip() == "of-bob"
            assert world.run(world.CONTROL, "status").returncode == 0
            assert time.monotonic() - began < SOON
        # An upgrade restarts the service meanwhile.
        began = time.monotonic()
        daemon.restart()
        assert time.monotonic() - began < SOON
        assert there.run(GET).text.strip() == "of-bob"
    finally:
        files.end()


def test_where_a_home_comes_back_its_programs_are_answered(programs, daemon):
    files = SilentFileSystem(pwd.getpwnam(ALICE[0]).pw_dir)
    try:
        ask(programs)
        world.wait_for(files.is_asked, "the daemon to look there")
    finally:
        files.end()
    for program in programs:
        assert select.select([program.stdout], [], [], SOON)[0]
        assert program.stdout.readline() == b"answered\n"


def test_a_program_on_a_file_system_that_never_answers_root_holds_up_nothing(login, daemon, tools, tmp_path):
    """A question that was taken up can't be taken back: a process that waits for its answer can't even be killed."""
    there = login(BOB)
    assert there.run(ADD.replace("tell-nobody", "of-bob")).status == 0
    for name in ("fuse_server.py", "overlay_program.py"):
        shutil.copy(world.TOP / "Tests/System" / name, world.TOOLS)
    world.run("gcc", "-static", "-O1", "-o", world.TOOLS / "asker", world.TOP / "Tests/System/asker.c")
    (world.TOOLS / "frame").write_bytes(wire.frame(wire.READ_STATUS, bytes(24)))
    entry = pwd.getpwnam(ALICE[0])
    place = pathlib.Path(entry.pw_dir, "over")
    place.mkdir()
    shutil.chown(place, ALICE[0])
    said = tmp_path / "said"
    with open(said, "w") as log:
        server = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--mount", "/usr/bin/python3", "-B",
             world.TOOLS / "overlay_program.py", world.TOOLS / "asker", place, DAEMON, world.TOOLS / "frame"],
            user=entry.pw_uid, group=entry.pw_gid, extra_groups=[], cwd="/", stdout=log, stderr=log)
    try:
        world.wait_for(lambda: re.search("ended|held", said.read_text()), "the program")
        assert "held" not in said.read_text() and "ended 0" in said.read_text(), said.read_text()
        assert there.run(GET).text.strip() == "of-bob"
        assert daemon.stop() == 0
    finally:
        minor = re.search(r"minor (\d+)", said.read_text())
        if minor:
            abort(minor[1])
        server.kill()
        server.wait()
        shutil.rmtree(place, ignore_errors=True)
