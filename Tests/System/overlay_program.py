# SPDX-License-Identifier: Apache-2.0
"""overlay_program.py PROGRAM FOLDER NAMES WORDS…: runs PROGRAM with these words from an overlay above a file system of
its own, in a user namespace, as any user can. The file system takes up what a process asks whose name begins with one
of NAMES (joined by commas), and never answers: the overlay asks as its mounter, so that not even root is refused. Says
"held OPCODE" for each such question."""

import ctypes
import os
import struct
import sys
import threading

from fuse_server import ENOENT, ENOSYS, NAMES, UNANSWERED, program

LIBC = ctypes.CDLL(None, use_errno=True)
ENODATA = 61
EXTENDED = {22: "GETXATTR", 23: "LISTXATTR"}
FOLDER, FILE, FILE_NAME = 1, 2, b"program"


def serve(device, contents, held):
    def say(unique, data=b"", error=0):
        os.write(device, struct.pack("<IiQ", 16 + len(data), -error, unique) + data)

    def attributes(node):
        size, mode = (0, 0o40755) if node == FOLDER else (len(contents), 0o100755)
        return struct.pack("<6Q10I", node, size, size // 512 + 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    while True:
        asked = os.read(device, 1 << 20)
        _, opcode, unique, node, _, _, thread = struct.unpack_from("<IIQQIII", asked)
        words, name = asked[40:], NAMES.get(opcode) or EXTENDED.get(opcode, "")
        if name in UNANSWERED:
            continue
        if name not in ("INIT", "RELEASE") and program(thread).startswith(held):
            print("held", name, flush=True)
        elif name == "INIT":
            say(unique, struct.pack("<IIIIHHIIHHI28x", 7, 31, 65536, 0, 12, 9, 65536, 1, 0, 0, 0))
        elif name == "LOOKUP" and words.rstrip(b"\0") == FILE_NAME:
            # Its attributes are good for no time, so that each look asks again.
            say(unique, struct.pack("<4QII", FILE, 0, 3600, 0, 0, 0) + attributes(FILE))
        elif name == "LOOKUP":
            say(unique, error=ENOENT)
        elif name == "GETATTR":
            say(unique, struct.pack("<QII", 0, 0, 0) + attributes(node))
        elif name in ("OPEN", "OPENDIR"):
            say(unique, struct.pack("<QII", 1, 0, 0))
        elif name == "READ":
            _, offset, size = struct.unpack_from("<QQI", words)
            say(unique, contents[offset:offset + size])
        elif name in EXTENDED.values():
            say(unique, error=ENODATA)
        elif name == "STATFS":
            say(unique, struct.pack("<5Q4I24x", 1000, 1000, 1000, 1000, 1000, 4096, 255, 4096, 0))
        elif name in ("FLUSH", "READDIR", "RELEASE", "RELEASEDIR"):
            say(unique)
        else:
            say(unique, error=ENOSYS)


def mount(kind, place, options):
    if LIBC.mount(kind.encode(), place.encode(), kind.encode(), 0, options.encode()) != 0:
        sys.exit(f"mount {kind} {options}: {os.strerror(ctypes.get_errno())}")


def main(source, folder, names, *words):
    with open(source, "rb") as file:
        contents = file.read()
    mount("tmpfs", folder, "")
    for part in ("fuse", "up", "work", "over"):
        os.mkdir(f"{folder}/{part}")
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    mount("fuse", f"{folder}/fuse", f"fd={device},rootmode=40000,user_id=0,group_id=0")
    threading.Thread(target=serve, args=(device, contents, tuple(names.split(","))), daemon=True).start()
    print("minor", os.minor(os.stat(f"{folder}/fuse").st_dev), flush=True)
    mount("overlay", f"{folder}/over", f"lowerdir={folder}/fuse,upperdir={folder}/up,workdir={folder}/work,userxattr")
    # Not by vfork, which would keep the thread that serves waiting.
    child = os.fork()
    if child == 0:
        os.execv(f"{folder}/over/{FILE_NAME.decode()}", ["program", *words])
    print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


main(*sys.argv[1:])
