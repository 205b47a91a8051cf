#!/usr/bin/python3 -B
# SPDX-License-Identifier: Apache-2.0
"""A curious program of the demo's account. Tries what a program of the same user can try, again and
again, and notes in ~/loot what it got."""

import ctypes
import os
import pathlib
import subprocess
import sys
import time

INSTALLED = sys.argv[1]
OWN = os.path.expanduser("~/own-keychainctl")
STORE = f"/var/lib/keychain/{os.getuid()}/login.keychain"
SECRETS = (b"tr0ub4dor", b"1234-5678")
PTRACE_ATTACH = 16
libc = ctypes.CDLL(None, use_errno=True)
keyutils = ctypes.CDLL("libkeyutils.so.1", use_errno=True)


def main():
    while True:
        note("asked the daemon for “mail” in its own name", ask(OWN, "mail"))
        note("asked the daemon for “bank” in its own name", ask(OWN, "bank"))
        note("read the keychain's file", read_file(STORE))
        note("read the daemon's memory", read_memory())
        note("traced the daemon, as gcore and gdb do", trace())
        note("read every key of the kernel that it can see", read_keys())
        if any_login():
            note("started keychainctl for “bank”", ask(INSTALLED, "bank"))
        else:
            note("after that started keychainctl for “mail”", ask(INSTALLED, "mail"))
            note("after that started keychainctl for “bank”", ask(INSTALLED, "bank"))
        time.sleep(0.5)


def ask(program, service):
    done = subprocess.run([program, "get", "generic-password", "--service", service],
                          stdin=subprocess.DEVNULL, capture_output=True)
    reason = {3: "not found", 4: "locked, or no user to ask"}.get(done.returncode, "refused")
    return "SECRET" if done.returncode == 0 else f"nothing ({reason})"


def read_file(path):
    try:
        return "SECRET" if open(path, "rb").read() else "nothing (empty)"
    except OSError as error:
        return f"nothing ({error.strerror})"


def read_memory():
    return of_all(read_file(folder / "mem") for folder in find_daemon())


def trace():
    return of_all(
        "SECRET" if libc.ptrace(PTRACE_ATTACH, int(folder.name), 0, 0) == 0
        else f"nothing ({os.strerror(ctypes.get_errno())})" for folder in find_daemon())


def of_all(got):
    """The most that was got of several processes."""
    return max(got, default="nothing (no daemon)", key=lambda each: each == "SECRET")


def find_daemon():
    """keychaind, and the worker that serves this user."""
    names = ("keychaind", f"kc:{os.getuid()}")
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() in names:
                yield folder
        except OSError:
            pass


def read_keys():
    found = read = 0
    for line in open("/proc/keys"):
        found += 1
        buffer = ctypes.create_string_buffer(32768)
        length = keyutils.keyctl_read(int(line.split()[0], 16), buffer, len(buffer))
        if length >= 0 and " user " in line:
            read += 1
            if any(secret in buffer.raw for secret in SECRETS):
                return "SECRET"
    return f"nothing (sees {found}, no secret in the {read} that it can read)"


def any_login():
    """Whether its victim's login is still there: its shell has a terminal."""
    me = os.getuid()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if folder.stat().st_uid == me and (folder / "comm").read_text() == "bash\n":
                return True
        except OSError:
            pass
    return False


def note(what, got):
    with open(os.path.expanduser("~/loot"), "a") as loot:
        loot.write(f"{what}: {got}\n")


main()
