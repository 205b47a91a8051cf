# SPDX-License-Identifier: Apache-2.0
"""gnome-keyring beside: reads by libsecret and by secret-tool, with small and large keyrings."""

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


def measure(table, sizes=(100, 10_000)):
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
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="keychain-peers-", dir="/var/tmp") as folder:
            one(table, pathlib.Path(folder), size)


def one(table, folder, size):
    home = folder / "home"
    rings = home / ".local/share/keyrings"
    rings.mkdir(parents=True)
    (folder / "run").mkdir(mode=0o700)
    keyring.write(rings / "login.keyring", "login", PASSWORD, size)
    (rings / "default").write_text("login")
    environment = {"PATH": os.environ["PATH"], "HOME": str(home),
                   "XDG_RUNTIME_DIR": str(folder / "run"), "LANG": "C.UTF-8",
                   "GSETTINGS_BACKEND": "memory"}
    secret, spawned, bus = (anchors.BUILT / name for name in ("secret", "spawned", "bus"))
    looks, adds = (1000, 20) if size <= 1000 else (100, 3)
    script = f"""
        printf {PASSWORD} | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
        {secret} look {looks} {size} && {secret} crowd 16 2 {size} &&
        {spawned} 10 -- secret-tool lookup service svc-7 account user-7@example.com &&
        {secret} add {adds} && {bus} read org.freedesktop.secrets {looks} {size}
        status=$?
        pkill -P $$ gnome-keyring-d
        exit $status
    """
    done = subprocess.run(["dbus-run-session", "--", "bash", "-c", script], text=True,
                          capture_output=True, env=environment, timeout=120)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or len(told) != 5:
        table.skip(f"gnome-keyring, {size:,} items", (done.stderr.strip() or "no answer")[-200:])
        return
    look, crowd, tool, add, plain = told
    table.add(f"read, {size:,} items, p50", look["p50_us"], "µs",
              note=f"p10 {look['p10_us']:.0f}, p90 {look['p90_us']:.0f}")
    table.add(f"search and secret by sd-bus, {size:,} items, p50", plain["p50_us"], "µs")
    table.add(f"reads a second, 16 programs, {size:,} items", crowd["a_second"], "/s")
    table.add(f"add, {size:,} items, p50", add["p50_us"], "µs")
    table.add(f"secret-tool, whole process, {size:,} items, p50", tool["p50_us"] / 1e3, "ms",
              note=f"{tool['faults']:,} faults")
