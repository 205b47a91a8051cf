# SPDX-License-Identifier: Apache-2.0
"""The Secret Service through the daemon, beside an echo of the same messages on the same bus."""

import json
import pathlib
import shlex

import anchors
import programs
import world
from table import median

SERVICE, ECHO, FLOOR = "org.freedesktop.secrets", "org.bench.Echo", "org.bench.Floor"
SMALL = 100
# A program's group has 100,000 at the most, and some are added.
MOST = 99_000
LOGIN = "/org/freedesktop/secrets/collection/login"


class Bus:
    """A shell's bus, on which keychain-secrets is started when it is asked for."""

    def __init__(self, shell):
        self.shell = shell
        assert shell.run("keychainctl secrets enable").status == 0

    def run(self, script, seconds=600, floor=""):
        """Lines of JSON that the script's programs print, beside an echo and the floor, which writes
        to a folder where it is given one."""
        inner = (f"bus echo & others=$!; bus floor {floor} & others=\"$others $!\"; sleep 0.3;"
                 f" {script};"
                 " status=$?; kill $others; exit $status")
        done = self.shell.run(f"dbus-run-session -- sh -c {shlex.quote(inner)}", seconds=seconds)
        assert done.status == 0, done
        return [json.loads(line) for line in done.text.splitlines() if line.startswith("{")]


def measure(table, house, password):
    size = min(house.size, MOST)
    small, large = Bus(house["small"]), Bus(house["beside"])
    small.run(f"bus fill {SERVICE} {SMALL}")
    large.run(f"bus fill {SERVICE} {size}")
    table.heading("The Secret Service, an sd-bus client's calls, beside an echo of them")
    reads(table, small, large, size)
    adds(table, small, large, size, house.disk)
    others(table, small)
    locks(table, small, large, size, password)
    memory(table, large, size)


def reads(table, small, large, size):
    looks = f"bus read {ECHO} 300; bus read {FLOOR} 300; bus read {SERVICE} 300 {SMALL}"
    told = small.run("; ".join([looks] * 5))
    echoes, floors, owns = ([each["p50_us"] for each in told[start::3]] for start in range(3))
    own = median(owns)
    table.add("search and secret, p50", own, "µs", note=f"the echo {median(echoes):.1f}")
    table.add("search and secret: × the echo",
              median(own / echo for echo, own in zip(echoes, owns)), "×", most=2)
    table.add("the same in C, which asks the C floor: × the echo",
              median(floor / echo for echo, floor in zip(echoes, floors)), "×")
    again = "; ".join([f"bus read {SERVICE} 300 {size}"] * 5)
    many = median(each["p50_us"] for each in large.run(again))
    table.add(f"search and secret among {size:,}, × among {SMALL}", many / own, "×", most=1.3)


def adds(table, small, large, size, disk):
    commits, echoes, floors, added = [], [], [], []
    open_folder = disk / "open"
    open_folder.mkdir()
    open_folder.chmod(0o1777)
    for _ in range(4):
        commits.append(anchors.synced_commit(disk, 60)["p50_us"])
        echo, floor, own = small.run(
            f"bus add {ECHO} 60; bus add {FLOOR} 60; bus add {SERVICE} 60", floor=open_folder)
        echoes.append(echo["p50_us"])
        floors.append(floor["p50_us"])
        added.append(own["p50_us"])
    table.add("CreateItem, p50", median(added), "µs")
    table.add("the same in C, which asks the C floor of an add: × a commit and an echo",
              median(floor / (echo + commit)
                     for floor, echo, commit in zip(floors, echoes, commits)), "×")
    table.add("CreateItem: × a synced commit and an echo",
              median(own / (echo + commit) for own, echo, commit in zip(added, echoes, commits)),
              "×", most=1.5)
    many = large.run(f"bus add {SERVICE} 60")[0]["p50_us"]
    table.add(f"CreateItem among {size:,}, × among {SMALL}", many / median(added), "×", most=1.3)


def others(table, bus):
    later, first = bus.run(f"bus first {ECHO} 40; bus first {SERVICE} 40 {SMALL}")
    table.add("a program's first call, longer than the echo's",
              (first["p50_us"] - later["p50_us"]) / 1e3, "ms", most=1)
    table.add("OpenSession with a key exchange, p50",
              bus.run(f"bus session {SERVICE} 40")[0]["p50_us"] / 1e3, "ms", most=1)


def locks(table, small, large, size, password):
    times = []
    for bus in (small, large):
        rounds = []
        for _ in range(3):
            rounds.append(bus.run(f"bus lock {SERVICE} 1")[0]["p50_us"])
            assert bus.shell.run("keychainctl unlock", [password], seconds=60).status == 0
        times.append(median(rounds))
    table.add("Lock, p50", times[0] / 1e3, "ms")
    table.add(f"Lock among {size:,}, × among {SMALL}", times[1] / times[0], "×", most=1.5)


def memory(table, bus, size):
    """After a search that all items answer."""
    search = (f"dbus-send --session --print-reply --dest={SERVICE} {LOGIN}"
              " org.freedesktop.Secret.Collection.SearchItems"
              " dict:string:string:xdg:schema,org.bench.Item >/dev/null")
    inner = f"bus read {SERVICE} 20 {size}; {search}; echo it waits; read line"
    bus.shell.send(f"dbus-run-session -- sh -c {shlex.quote(inner)}")
    bus.shell.terminal.expect_exact("it waits", timeout=120)
    found = [path.parent for path in pathlib.Path("/proc").glob("[0-9]*/comm")
             if path.read_text().strip() == "keychain-secret"]
    used = max(programs.memory([each.name]) for each in found)
    bus.shell.send("")
    bus.shell.terminal.expect_exact(world.Shell.PROMPT, timeout=60)
    table.add(f"keychain-secrets' memory, {size:,} items", used, "MB", most=32)
