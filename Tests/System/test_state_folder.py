# SPDX-License-Identifier: Apache-2.0
"""The folder of all keychains on a disk that is full or can't be written, from a backup of an older
version, or on a machine that is a copy of another."""

import os
import shutil
import sqlite3

import pytest

import world
from conftest import ALICE, BOB, forget_keys
from test_store import keychain_file

ADD = "printf {1} | keychainctl add generic-password --service {0}"
GET = "keychainctl get generic-password --service {0}"
# More than a keychain's log has kept for itself.
LARGE = ("head -c 3000000 /dev/zero | tr '\\0' x | keychainctl add generic-password"
         " --service {0}")
# What a user may change, each with the passwords that it asks for.
CHANGES = {
    "add": (ADD.format("later", "l4ter"), ()),
    "update": ("printf changed | keychainctl update generic-password --service mail --secret-stdin", ()),
    "delete": ("keychainctl delete generic-password --service old", ()),
    "settings": ("keychainctl settings --lock-after 1h", ()),
    "set-password": ("keychainctl set-password", (ALICE[1], "another horse 3", "another horse 3")),
    "create": ("keychainctl create work --no-recovery-key", ("of work 1", "of work 1")),
}


class Disk:
    """A small one of its own, with the folder on it."""

    def __init__(self, image):
        self.image = image
        world.run("mke2fs", "-q", "-t", "ext4", "-m", "0", image, "12M")

    def mount(self, *options):
        world.run("mount", "-o", ",".join(("loop", *options)), self.image, world.STATE)

    def unmount(self):
        world.run("umount", world.STATE)

    def fill(self, but=0):
        with open(world.STATE / "filler", "wb", buffering=0) as filler:
            with pytest.raises(OSError, match="No space"):
                while True:
                    filler.write(b"x" * 1024)
            os.fsync(filler.fileno())
            filler.truncate(filler.tell() - but)
            os.fsync(filler.fileno())

    def make_room(self):
        (world.STATE / "filler").unlink()

    def fail(self):
        """As the kernel does after an error of the disk: from now on nothing is written."""
        world.run("mount", "-o", "remount,abort", world.STATE, check=False)
        with pytest.raises(OSError, match="Read-only"):
            (world.STATE / "filler").touch()


@pytest.fixture
def disk(daemon, tmp_path):
    daemon.stop()
    forget_keys()
    disk = Disk(tmp_path / "disk")
    disk.mount()
    world.STATE.chmod(0o711)
    daemon.start()
    yield disk
    daemon.stop()
    forget_keys()
    disk.unmount()


@pytest.fixture
def shell(login, disk):
    shell = login()
    for service in ("mail", "old"):
        assert shell.run(ADD.format(service, "tell-nobody")).status == 0
    return shell


def assert_whole(shell):
    told = shell.run("keychainctl doctor | cat").text.split("\nLogins")[0]
    assert "Keychains" in told and "WRONG" not in told, told


def test_on_a_full_disk_each_change_is_made_or_refused_and_reads_go_on(shell, login, daemon, disk):
    disk.fill()
    made = {}
    for name, (command, answers) in CHANGES.items():
        done = shell.run(command, answers)
        made[name] = done.status == 0
        assert made[name] or "the disk is full; nothing was changed" in done.text, (name, done)
    refused = shell.run(LARGE.format("more"))
    assert refused.status == 1 and "the disk is full; nothing was changed" in refused.text, refused
    assert shell.run(GET.format("mail")).text.strip() == ("changed" if made["update"] else "tell-nobody")

    # Others log in meanwhile, and whose first login it is gets no half keychain.
    assert login(BOB).run("id -un").text.strip() == BOB[0]
    # A restarted service finds what is there, or says why it can't look.
    daemon.restart()
    password = CHANGES["set-password"][1][1] if made["set-password"] else ALICE[1]
    shell.run("keychainctl unlock", [password])
    for name, told in (("mail", "changed" if made["update"] else "tell-nobody"),
                       ("later", "l4ter" if made["add"] else "")):
        found = shell.run(GET.format(name) + " </dev/null")
        # Where there is no room for the index of a log that could not be written back.
        if "the disk is full" not in found.text:
            assert (found.text.strip() if found.status == 0 else "") == told, (name, made, found)

    disk.make_room()
    for name, (command, answers) in CHANGES.items():
        if not made[name]:
            done = shell.run(command, answers)
            assert done.status == 0, (name, done)
    assert shell.run(LARGE.format("more")).status == 0
    assert shell.run(GET.format("mail")).text.strip() == "changed"
    assert shell.run(GET.format("later")).text.strip() == "l4ter"
    assert shell.run(GET.format("old")).status == 3
    assert_whole(shell)
    again = login(BOB)
    added = again.run(ADD.format("mail", "of-bob"))
    assert added.status == 0, (added, daemon.log())
    assert again.run(GET.format("mail")).text.strip() == "of-bob"


@pytest.mark.parametrize("room", [0, 16 * 1024])
def test_a_disk_without_room_for_the_index_of_a_log_ends_no_service(room, shell, daemon, disk):
    """The index is mapped memory: a write to it that finds no block ends the process. It wants 32 KiB,
    of which SQLite itself takes a block for each page of memory; this disk's blocks are smaller."""
    daemon.stop(9)
    for index in world.STATE.glob("*/*-shm"):
        index.unlink()
    disk.fill(but=room)
    daemon.start()
    process = daemon.pid, daemon.worker(ALICE[0], start=True)
    for _ in range(2):
        told = shell.run(GET.format("mail") + " </dev/null")
        assert told.status == 1 and "the disk is full" in told.text, (told, daemon.log())
    assert (daemon.pid, daemon.worker(ALICE[0])) == process
    disk.make_room()
    assert shell.run(GET.format("mail")).text.strip() == "tell-nobody"
    assert_whole(shell)


def test_what_was_acknowledged_while_a_disk_filled_up_is_there(shell):
    said = shell.run("for n in $(seq 60); do head -c 200000 /dev/urandom | base64 >value.$n;"
                     " keychainctl add generic-password --service load --account $n <value.$n"
                     " && echo acknowledged $n; done 2>&1", seconds=120).text
    acknowledged = [line.split()[1] for line in said.splitlines() if line.startswith("acknowledged")]
    assert 0 < len(acknowledged) < 60, said
    assert said.count("the disk is full; nothing was changed") == 60 - len(acknowledged), said
    listed = shell.run("keychainctl list generic-password --service load --json"
                       " | grep -c '\"account\"'").text
    assert int(listed) == len(acknowledged), (listed, acknowledged)
    compared = shell.run(f"for n in {' '.join(acknowledged)}; do keychainctl get generic-password"
                         " --service load --account $n | cmp - value.$n || echo"
                         " differs $n; done; rm -f value.*")
    assert "differs" not in compared.text, compared
    assert_whole(shell)


def test_on_a_disk_that_cannot_be_written_reads_and_logins_go_on(shell, login, daemon, disk):
    disk.fail()
    assert_only_reads(shell, login, "the disk reported an error; nothing was acknowledged")
    # The next start finds it mounted so.
    daemon.stop()
    disk.unmount()
    world.run("e2fsck", "-f", "-y", disk.image, check=False)
    disk.mount("ro")
    daemon.start()
    assert_only_reads(shell, login)
    daemon.stop()
    disk.unmount()
    disk.mount()
    daemon.start()
    for name, (command, answers) in CHANGES.items():
        done = shell.run(command, answers)
        assert done.status == 0, (name, done)
    assert_whole(shell)


def assert_only_reads(shell, login, *words):
    assert shell.run(GET.format("mail")).text.strip() == "tell-nobody"
    for name, (command, answers) in CHANGES.items():
        done = shell.run(command, answers)
        assert done.status != 0, (name, done)
        assert any(word in done.text for word in (*words, "can't be written")), (name, done)
    for who in (ALICE, BOB):
        assert login(who).run("id -un").text.strip() == who[0]


def test_a_folder_from_a_backup_of_an_older_version_opens_at_the_next_login(login, daemon, tmp_path):
    shell = login()
    assert shell.run(ADD.format("mail", "kept")).status == 0
    daemon.stop()
    forget_keys()
    saved = tmp_path / "saved"
    shutil.copytree(world.STATE, saved, symlinks=True)
    for path in saved.glob("*/*.keychain"):
        database = sqlite3.connect(path)
        database.executescript((world.TOP / "Tests/Crash/older.sql").read_text())
        database.close()
    # What the machine has had since then goes.
    daemon.start()
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(ADD.format("since", "gone")).status == 0
    daemon.stop()
    forget_keys()
    for entry in world.STATE.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    world.run("cp", "--archive", f"{saved}/.", world.STATE)
    daemon.start()
    again = login()
    assert again.run(GET.format("mail")).text.strip() == "kept"
    assert again.run(GET.format("since")).status == 3
    assert again.run(ADD.format("new", "n3w")).status == 0
    assert again.run(GET.format("new")).text.strip() == "n3w"
    # As it was written by the older version, it is kept.
    assert list(keychain_file().parent.glob("login.keychain.*generation*"))
    assert_whole(again)


def test_a_copy_of_a_machine_opens_nothing_until_its_user_logs_in(login, daemon):
    """A virtual machine that was cloned, with its machine-id: what was open there is closed, and each
    goes its own way. With another machine-id nothing is different."""
    shell = login()
    assert shell.run(ADD.format("mail", "tell-nobody")).status == 0
    daemon.stop()
    # The kernel's memory is no part of a disk.
    forget_keys()
    shutil.rmtree(world.RUN)
    world.RUN.mkdir()
    daemon.start()
    closed = shell.run(GET.format("mail") + " </dev/null")
    assert closed.status != 0 and "locked" in closed.text and "tell-nobody" not in closed.text
    assert login().run(GET.format("mail")).text.strip() == "tell-nobody"
    machine_id = world.pathlib.Path("/etc/machine-id")
    before = machine_id.read_text() if machine_id.exists() else None
    machine_id.write_text("0123456789abcdef0123456789abcdef\n")
    try:
        daemon.restart()
        assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
        assert shell.run(GET.format("mail")).text.strip() == "tell-nobody"
        assert_whole(shell)
    finally:
        machine_id.unlink() if before is None else machine_id.write_text(before)
