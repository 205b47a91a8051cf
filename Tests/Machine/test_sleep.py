# SPDX-License-Identifier: Apache-2.0
"""What logind says and does: a session that is locked, sleep, and memory written to the disk."""

import mmap
import re
import subprocess

import pytest
from conftest import ALICE
from guest import wait_for

ADD = "printf {} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail </dev/null"
SECRET = "tr0ub4dor-and-three"
MARKER = "0f-an-0ther-program"


def is_locked(console):
    found = console.run(GET)
    return found.status != 0 and "locked" in found.text and SECRET not in found.text


def opens(console):
    assert console.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert console.run(GET).text.strip() == SECRET


@pytest.mark.short
def test_a_locked_session_and_a_suspended_machine_lock_the_keychain(guest):
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format(SECRET)).status == 0
    guest.run("loginctl lock-session " + console.run("echo $XDG_SESSION_ID").text.strip())
    wait_for(lambda: is_locked(console), "the lock")
    opens(console)
    guest.run("systemctl suspend")
    guest.monitor.wait_for("SUSPEND")
    guest.wakes()
    guest.monitor.wait_for("WAKEUP")
    console.wait_awake()
    assert is_locked(console)
    opens(console)
    console.logout()


class Partition:
    """Of the machine's second disk, where each boot looks by itself."""
    wakes_with = ""

    def __init__(self, guest):
        guest.run("swapon /dev/vdb")

    def image(self, guest):
        raw(guest.folder / "swap.qcow2", guest.folder / "swap.raw")
        return guest.folder / "swap.raw"


class File:
    """On the root's file system: the kernel is told at which page of the disk it begins."""

    def __init__(self, guest):
        guest.run("dd if=/dev/zero of=/swapfile bs=1M count=1100 status=none; chmod 600 /swapfile"
                  " && mkswap --quiet /swapfile && swapon /swapfile")
        extents = guest.run("filefrag -v /swapfile").text
        start = re.search(r"^ *0: +\d+\.\. *\d+: +(\d+)\.\.", extents, re.MULTILINE)[1]
        # As at a boot with these words, by which systemd finds the file.
        self.wakes_with = f"resume=/dev/vda resume_offset={start}"
        guest.run(f"echo {start} >/sys/power/resume_offset && cat /sys/block/vda/dev >/sys/power/resume")

    def image(self, guest):
        disk, image = guest.folder / "disk.raw", guest.folder / "swap.raw"
        raw(guest.disk, disk)
        subprocess.run(["debugfs", "-R", f"dump /swapfile {image}", disk], check=True,
                       capture_output=True)
        disk.unlink()
        return image


def raw(disk, path):
    subprocess.run(["qemu-img", "convert", "-O", "raw", disk, path], check=True)


@pytest.mark.parametrize("place", [pytest.param(Partition, marks=pytest.mark.short), File])
def test_no_sealed_class_key_no_ticket_and_no_vault_key_is_in_what_hibernation_writes(guest, place):
    """What the test reads itself stays in memory, so it reads in a branch of the machine's life that
    is left again."""
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format(SECRET)).status == 0
    assert console.run(GET + " >/dev/null").status == 0
    console.run(f"export MARKER={MARKER}")
    swap = place(guest)
    guest.save("before the keys are read")
    keys = kept_keys(guest)
    assert {"unlock", "first-unlock", "keychain", "vault-key"} <= {
        name.split(":")[0] for name in keys}, keys.keys()
    assert {len(key) for name, key in keys.items()
            if name.startswith(("keychain:ticket", "vault-key:"))} == {32}
    guest.go_back("before the keys are read")

    # A moment later, so that this call ends before.
    guest.run("systemd-run --on-active=1s --timer-property=AccuracySec=100ms systemctl hibernate")
    guest.process.wait(180)
    guest.power_cut()
    image = swap.image(guest)
    sought = {"marker": MARKER.encode(), **keys}
    with open(image, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as memory:
        found = [name for name, key in sought.items() if memory.find(key) >= 0]
    image.unlink()
    # The marker shows that memory is in it as it was.
    assert found == ["marker"]

    guest.start(kernel=swap.wakes_with)
    # The shell is the one of before.
    console = guest.consoles[0]
    console.wait_awake()
    assert console.run("echo $MARKER").text.strip() == MARKER
    assert is_locked(console)
    opens(console)


def kept_keys(guest):
    """What workers' numbers have for keychains, by the names of the keys; each login's ticket; and the
    keys that the service manager keeps, one for each user."""
    found = {}
    for owner in guest.run("stat -c %u /var/lib/keychain/[0-9]* | sort -u").text.split():
        become = f"setpriv --reuid={owner} --regid={owner} --clear-groups"
        for line in guest.run(f"{become} cat /proc/keys").text.splitlines():
            number, kind, name = line.split()[0], line.split()[7], line.split(maxsplit=8)[8]
            name = re.sub(r": \d+$", "", name)
            if kind == "user" and re.match("unlock:|first-unlock:|machine:|keychain:ticket$", name):
                # Another login of the same user has a ticket of the same name.
                name = f"{name}:{number}" if name in found else name
                found[name] = hexadecimal(guest, f"{become} keyctl pipe 0x{number}")
    kept = guest.run("find /proc/1/fd -lname '*keychain:vault-key*'").text.split()
    assert kept
    return found | {f"vault-key:{path}": hexadecimal(guest, f"cat {path}") for path in kept}


def hexadecimal(guest, command):
    return bytes.fromhex("".join(guest.run(f"{command} | od -An -v -tx1").text.split()))
