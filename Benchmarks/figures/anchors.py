# SPDX-License-Identifier: Apache-2.0
"""The C programs that the product is held against."""

import json
import pathlib
import subprocess
import time

FOLDER = pathlib.Path(__file__).resolve().parents[1]
BUILT = FOLDER / ".build/anchors"


def build(*goals):
    subprocess.run(["make", "-s", "-C", FOLDER / "anchors", f"out={BUILT}", *goals], check=True)


def run(name, *words):
    done = subprocess.run([BUILT / name, *map(str, words)], text=True, capture_output=True)
    if done.returncode:
        raise RuntimeError(f"{name} {words}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def round_trip(cores, count=3000):
    return run("roundtrip", cores, count)


def floor(cores, count=2000, *, kept=False):
    """The file is in memory: the floor writes none of it while it is measured."""
    return run("floor", cores, count, "/dev/shm", *(["kept"] if kept else []))


def floors_at_once(many, count=10_000):
    """Reads a second of so many pairs, wherever the kernel puts them. A tenth as many come first."""
    began = time.monotonic()
    pairs = [subprocess.Popen([BUILT / "floor", "0", str(count), "/dev/shm", "kept"],
                              stdout=subprocess.DEVNULL) for _ in range(many)]
    if any([each.wait() for each in pairs]):
        raise RuntimeError("floor failed")
    return many * count * 1.1 / (time.monotonic() - began)


def floor_beside(many, count=1500):
    """p99 of a pair's reads, beside so many pairs that read until it is measured."""
    pairs = [subprocess.Popen([BUILT / "floor", "0", str(100 * count), "/dev/shm", "kept"],
                              stdout=subprocess.DEVNULL) for _ in range(many)]
    try:
        time.sleep(0.2)
        measured = floor(0, count, kept=True)["p99_us"]
        if any(each.poll() is not None for each in pairs):
            raise RuntimeError("floor ended early")
    finally:
        for each in pairs:
            each.kill()
            each.wait()
    return measured


def bare_read(count=5000):
    return run("floor", "bare", count, "/dev/shm")


def synced_commit(folder, count):
    return run("commit", folder, count)


def adds_at_once(many, folder, seconds=1):
    """Adds by so many programs, of a C server that commits once for all that wait."""
    return run("adds", many, seconds, folder)


def synced_rows(folder, count):
    """The rows of an item, in the tables of a keychain."""
    return run("commit", "rows", folder, count)
