# SPDX-License-Identifier: Apache-2.0
"""gnome-keyring beside: reads by libsecret and by secret-tool, and what changes cost, with small and
large keyrings."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import anchors
import keyring

PASSWORD = "bench"
NEEDED = ("gnome-keyring-daemon", "secret-tool", "dbus-run-session", "openssl")
# Seconds in which the rows of one keyring come, or are left out.
PATIENCE = 60


def measure(table, sizes=(100, 10_000), changed=(200, 50_000)):
    table.heading("gnome-keyring, the same minutes")
    missing = [name for name in NEEDED if not shutil.which(name)]
    if missing:
        table.skip("gnome-keyring", "without " + ", ".join(missing))
        return
    try:
        anchors.build("secret")
    except subprocess.CalledProcessError:
        table.skip("gnome-keyring", "libsecret's headers are not installed")
        return
    for rows, counts in (reads, sizes), (changes, changed):
        for size in counts:
            with tempfile.TemporaryDirectory(prefix="keychain-peers-", dir="/var/tmp") as folder:
                rows(table, Keyring(pathlib.Path(folder), size), size)


class Keyring:
    """gnome-keyring with so many items, on a bus of its own."""

    def __init__(self, folder, size):
        home = folder / "home"
        rings = home / ".local/share/keyrings"
        rings.mkdir(parents=True)
        (folder / "run").mkdir(mode=0o700)
        keyring.write(rings / "login.keyring", "login", PASSWORD, size)
        (rings / "default").write_text("login")
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(home), "XDG_RUNTIME_DIR": str(folder / "run"),
            "LANG": "C.UTF-8", "GSETTINGS_BACKEND": "memory"}

    def run(self, commands):
        """The lines of JSON that they print, or why there are none."""
        script = f"""
            printf {PASSWORD} | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
            {commands}
            status=$?
            pkill -P $$ gnome-keyring-d
            exit $status
        """
        try:
            done = subprocess.run(["dbus-run-session", "--", "bash", "-c", script], text=True,
                                  capture_output=True, env=self.environment, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return [], f"not within {PATIENCE} s"
        told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return ([], (done.stderr.strip() or "no answer")[-200:]) if done.returncode else (told, None)


def reads(table, kept, size):
    secret, spawned, bus = (anchors.BUILT / name for name in ("secret", "spawned", "bus"))
    looks, adds = (1000, 20) if size <= 1000 else (100, 3)
    told, fault = kept.run(
        f"{secret} look {looks} {size} && {secret} crowd 16 2 {size} &&"
        f" {spawned} 10 -- secret-tool lookup service svc-7 account user-7@example.com &&"
        f" {secret} add {adds} && {bus} read org.freedesktop.secrets {looks} {size}")
    if fault or len(told) != 5:
        table.skip(f"gnome-keyring, {size:,} items", fault or "no answer")
        return
    look, crowd, tool, add, plain = told
    table.add(f"read, {size:,} items, p50", look["p50_us"], "µs",
              note=f"p10 {look['p10_us']:.0f}, p90 {look['p90_us']:.0f}")
    table.add(f"search and secret by sd-bus, {size:,} items, p50", plain["p50_us"], "µs")
    table.add(f"reads a second, 16 programs, {size:,} items", crowd["a_second"], "/s")
    table.add(f"add, {size:,} items, p50", add["p50_us"], "µs")
    table.add(f"secret-tool, whole process, {size:,} items, p50", tool["p50_us"] / 1e3, "ms",
              note=f"{tool['faults']:,} faults")


def changes(table, kept, size):
    """By the same sd-bus program as the keychain's, and what the process then has."""
    bus, name = anchors.BUILT / "bus", "org.freedesktop.secrets"
    process = ("$(dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus /"
               f" org.freedesktop.DBus.GetConnectionUnixProcessID string:{name} | grep -o '[0-9]*$')")
    memory = f"""awk '/^Pss:/ {{ print "{{\\"kb\\": " $2 "}}" }}' /proc/{process}/smaps_rollup"""
    told, fault = kept.run(f"{bus} session {name} 40 && {bus} add {name} {20 if size <= 1000 else 2} &&"
                           f" {bus} read {name} 1 {size} && {memory} && {bus} lock {name} 1")
    if fault or len(told) != 5:
        table.skip(f"gnome-keyring, changes among {size:,} items", fault or "no answer")
        return
    session, add, _, used, lock = told
    table.add(f"OpenSession with a key exchange, {size:,} items, p50", session["p50_us"] / 1e3, "ms")
    table.add(f"CreateItem by sd-bus, {size:,} items, p50", add["p50_us"] / 1e3, "ms")
    table.add(f"memory, {size:,} items", used["kb"] / 1024, "MB")
    table.add(f"Lock, {size:,} items", lock["p50_us"] / 1e3, "ms")
