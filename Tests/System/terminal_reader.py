# SPDX-License-Identifier: Apache-2.0
"""A program that reads what is typed on another login's terminal: says what it is about to do, then what
it got, on a line each.

reads PATH      opens the terminal and waits for keys
holds PATH      opens it, and waits for nothing
writes PATH     opens it for writing alone
hides PATH      waits for keys, with no open file that any other process could see
another PATH    is of another user's number meanwhile, in a user namespace (root writes its map)
tries PATH      opens it again and again until it can
takes SOCKET    waits for the terminal that another program gives it
gives SOCKET    is that other program, on the terminal itself
"""

import ctypes
import os
import socket
import sys
import threading
import time

LIBC = ctypes.CDLL(None)
CLONE_NEWUSER = 0x10000000


def say(text):
    print(f"<{text}>", flush=True)


def wait(file):
    while keys := os.read(file, 4096):
        say(f"got {keys.decode(errors='replace')!r}")


def opened(path, how=os.O_RDONLY):
    return os.open(path, how | os.O_NOCTTY)


def hides(path):
    files = [opened(path) for _ in range(32)]
    for file in files:
        threading.Thread(target=wait, args=(file,), daemon=True).start()
    time.sleep(1)
    for file in files:
        os.close(file)


def another(path):
    """A number of the map's other than its own."""
    opened(path)
    LIBC.unshare(CLONE_NEWUSER)
    say("needs a map")
    sys.stdin.readline()
    os.setresuid(1, 1, 1)


def tries(path):
    while True:
        try:
            return opened(path)
        except OSError as error:
            say(error.strerror)
            time.sleep(0.1)


def takes(path):
    with socket.socket(socket.AF_UNIX) as taker:
        taker.bind(path)
        taker.listen()
        say("listens")
        giver, _ = taker.accept()
        _, files, _, _ = socket.recv_fds(giver, 1, 1)
    return files[0]


def gives(path):
    with socket.socket(socket.AF_UNIX) as giver:
        giver.connect(path)
        # The question stands.
        while not os.path.exists(path + ".now"):
            time.sleep(0.05)
        socket.send_fds(giver, [b"x"], [0])


def main(how, path):
    if how in ("reads", "holds"):
        file = opened(path)
    elif how == "writes":
        file = opened(path, os.O_WRONLY)
    else:
        file = globals()[how](path)
    say("there")
    if how == "reads":
        wait(file)
    elif how != "gives":
        time.sleep(600)


if __name__ == "__main__":
    main(*sys.argv[1:])
