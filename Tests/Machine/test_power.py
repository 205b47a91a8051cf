# SPDX-License-Identifier: Apache-2.0
"""Reboots, and power cuts at random moments while programs write."""

import os
import random
import re
import time

import pytest
from conftest import ALICE

CUTS = int(os.environ.get("MACHINE_CUTS", "3"))
SEED = int(os.environ.get("MACHINE_SEED", "1"))
ADD = "printf {} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail"
# Each line of it comes after the service has said that the item is there.
LOAD = ("for number in $(seq 100000); do printf 'value %s' $number | keychainctl add generic-password"
        " --service load --account $number && echo acknowledged $number; done")
STATE = "/var/lib/keychain"


def test_a_reboot_keeps_keychains_and_locks_them(guest):
    guest.authorize_key("alice")
    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD.format("kept")).status == 0
    guest.reboot()
    assert guest.state == "running"
    shell = guest.ssh("alice", by="publickey")
    found = shell.run(f"{GET} </dev/null")
    assert found.status != 0 and "locked" in found.text
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(GET).text.strip() == "kept"
    assert wrong_with_keychains(shell) == []
    shell.closes()


@pytest.mark.short
def test_what_was_acknowledged_is_there_after_a_power_cut(guest):
    """All but the last cut are copies of the disk at that moment, so that one load gives many."""
    moments = random.Random(SEED)
    console = guest.consoles[0].login(*ALICE)
    console.send(LOAD)
    console.terminal.expect("acknowledged 1\r")
    # That one is no longer to be heard.
    disks, said = [], "acknowledged 1\r\n"
    for number in range(CUTS):
        said += console.said_within(moments.uniform(0.2, 4))
        disk = guest.folder / f"cut{number}.qcow2"
        with guest.stopped():
            guest.copy_disk(disk)
            said += console.said_until_now()
        disks.append((disk, acknowledged(said)))
    said += console.said_within(moments.uniform(0.2, 4))
    guest.power_cut()
    said += console.said_until_now()
    guest.start().wait()
    guest.set_clock()
    assert guest.state == "running"

    console = guest.consoles[0].login(*ALICE)
    has_whole_keychain(console, acknowledged(said))
    for disk, numbers in disks:
        guest.attach(disk)
        replayed = guest.run("e2fsck -p /dev/sda", check=False)
        assert replayed.status in (0, 1), replayed
        checked = guest.run("e2fsck -f -n /dev/sda", check=False)
        assert checked.status == 0, checked
        guest.run(f"mount --read-only /dev/sda /mnt && systemctl stop keychaind 'keychain-worker@*'"
                  f" && find {STATE} -mindepth 1 -delete && cp --archive /mnt{STATE}/. {STATE}/"
                  " && umount /mnt && systemctl start keychaind")
        guest.detach()
        disk.unlink()
        assert console.run("keychainctl unlock", [ALICE[1]]).status == 0
        has_whole_keychain(console, numbers)
    console.logout()


def acknowledged(said):
    return {int(number) for number in re.findall(r"^acknowledged (\d+)\r?$", said, re.MULTILINE)}


def has_whole_keychain(console, numbers):
    listed = console.run("keychainctl list generic-password --service load --json"
                         " | grep -o '\"account\" : \"[0-9]*\"'").text
    found = {int(number) for number in re.findall(r"\d+", listed)}
    # One more may have been written and not yet been told.
    assert numbers <= found and len(found - numbers) <= 1, (numbers - found, found - numbers)
    for number in sorted(numbers)[-2:]:
        assert console.run(f"keychainctl get generic-password --service load --account {number}"
                           ).text.strip() == f"value {number}"
    assert wrong_with_keychains(console) == []


def wrong_with_keychains(shell):
    """What the doctor finds wrong before it comes to the machine's PAM stacks."""
    told = shell.run("keychainctl doctor | cat").text
    assert "Keychains" in told and "Logins" in told, told
    return [line for line in told.split("\nLogins")[0].splitlines() if "WRONG" in line]
