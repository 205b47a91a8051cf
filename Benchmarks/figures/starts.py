# SPDX-License-Identifier: Apache-2.0
"""What the start of keychaind and of root's worker costs under the baseline, and under 10,000 rules
more."""

import os
import pathlib
import re
import time

import policy_sets
import world
from table import median

POLICIES = pathlib.Path("/etc/keychain/policies.d")
RULES = 10_000
TICKS = os.sysconf("SC_CLK_TCK")


def measure(table):
    """Another process reads and compiles the rules; keychaind and its worker take in the image
    alone."""
    table.heading("The daemon's start")
    POLICIES.mkdir(parents=True, exist_ok=True)
    for what, files in (("the baseline", {}),
                        (f"{RULES:,} rules more", policy_sets.structured(RULES))):
        for name, text in files.items():
            (POLICIES / name).write_text(text)
        starts = [start() for _ in range(5)]
        for place, (figure, unit) in enumerate((
                ("until it listens", "ms"), ("until the rules are in force", "ms"),
                ("processor time of both until then", "ms"),
                ("resident then, the sum of both", "MiB"))):
            table.add(f"{what}: {figure}", median(each[place] for each in starts), unit)
        for name in files:
            (POLICIES / name).unlink()


def start():
    log = pathlib.Path("/tmp/keychain-bench-start.log")
    log.unlink(missing_ok=True)
    began = time.perf_counter()
    daemon = world.Daemon(log).start()
    listens = time.perf_counter() - began
    world.wait_for(lambda: re.search(r"policies: \d+ rules in force", daemon.log()), "the rules", 90)
    in_force = time.perf_counter() - began
    own = resident = 0
    for process in (daemon.pid, daemon.worker("root")):
        times = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        status = pathlib.Path(f"/proc/{process}/status").read_text()
        own += (int(times[11]) + int(times[12])) / TICKS
        resident += int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024
    daemon.stop()
    return listens * 1000, in_force * 1000, own * 1000, resident
