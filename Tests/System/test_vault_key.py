# SPDX-License-Identifier: Apache-2.0
"""Where the keys lie under which the kernel's keyring holds everything, one for each user.
systemd's side of its notification socket is played here; the messages and descriptors are the real
ones."""

import array
import fcntl
import json
import os
import select
import socket

import pytest

import world
from conftest import ALICE, BOB

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me"
F_GET_SEALS = 1034


def key_of(who):
    """What its user's key is called, by systemd and as a file."""
    return f"vault-key-{world.number_of(who[0])}"


def file_of(who):
    return world.RUN / "private" / key_of(who)


class ServiceManager:
    """Takes what a service stores, and gives it back at the next start under the same name."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(world.PATIENCE)
        self.kept = {}
        self.is_ready = False

    def hear(self, what):
        """Until what the service said so far is enough."""
        while not what():
            self._take(*self.socket.recvmsg(4096, socket.CMSG_SPACE(64))[:2])

    def hear_ready(self):
        self.is_ready = False
        self.hear(lambda: self.is_ready)

    def hear_of(self, who, other_than=None):
        """Until it has a key of that user's to keep, which is another file than that one."""
        name = key_of(who)
        self.hear(lambda: name in self.kept and os.fstat(self.kept[name]).st_ino != other_than)
        return self.kept[name]

    def hear_rest(self):
        """What the service had still said when it ended."""
        self.hear(lambda: not select.select([self.socket], [], [], 0)[0])

    def _take(self, text, control):
        descriptors = array.array("i")
        for level, kind, data in control:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
        said = dict(line.split("=", 1) for line in text.decode().splitlines())
        if "FDSTOREREMOVE" in said:
            self.forget(said["FDNAME"])
        if "FDSTORE" in said:
            self.forget(said["FDNAME"])
            self.kept[said["FDNAME"]] = descriptors[0]
        self.is_ready = self.is_ready or "READY" in said

    def forget(self, name):
        if name in self.kept:
            os.close(self.kept.pop(name))

    def environment(self):
        passed = {"NOTIFY_SOCKET": self.path}
        if self.kept:
            passed |= {"LISTEN_FDS": str(len(self.kept)), "LISTEN_FDNAMES": ":".join(self.kept)}
        return passed

    def close(self):
        self.socket.close()
        for name in list(self.kept):
            self.forget(name)


@pytest.fixture
def manager(tmp_path):
    running = ServiceManager(tmp_path / "notify")
    yield running
    running.close()


def restart(daemon, manager):
    daemon.stop()
    manager.hear_rest()
    daemon.start(environment=manager.environment(), descriptors=list(manager.kept.values()))
    manager.hear_ready()


def told(shell):
    return json.loads(shell.run("keychainctl status --json").text)["vaultKey"]


def test_before_a_user_has_something_open_there_is_no_key_of_that_user(login, daemon):
    daemon.stop()
    for who in ALICE, BOB:
        file_of(who).unlink(missing_ok=True)
    daemon.start()
    login()
    world.wait_for(file_of(ALICE).exists, "the key")
    assert not file_of(BOB).exists()


def test_without_a_service_manager_it_lies_in_a_file_of_root_s(login, daemon):
    shell = login()
    assert shell.run(ADD).status == 0
    file = file_of(ALICE)
    assert file.stat().st_mode & 0o777 == 0o600 and file.stat().st_uid == 0
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert told(shell) == "file"


def test_a_service_manager_keeps_it_sealed_and_no_file_does(login, daemon, manager):
    restart(daemon, manager)
    shell = login()
    assert shell.run(ADD).status == 0
    kept = manager.hear_of(ALICE)
    assert os.fstat(kept).st_size == 32
    assert fcntl.fcntl(kept, F_GET_SEALS) == 0xf
    with pytest.raises(PermissionError):
        os.write(kept, b"x")
    assert not file_of(ALICE).exists()
    assert told(shell) == "descriptorStore"
    restart(daemon, manager)
    assert told(shell) == "descriptorStore"


def test_what_is_unlocked_stays_so_over_a_restart_by_the_service_manager(login, daemon, manager):
    restart(daemon, manager)
    shell = login()
    assert shell.run(ADD).status == 0
    kept = manager.hear_of(ALICE)
    restart(daemon, manager)
    assert shell.run(GET).text.strip() == "s3cret"
    manager.hear_rest()
    assert manager.kept[key_of(ALICE)] == kept


def test_what_was_unlocked_before_there_was_a_service_manager_stays_so(login, daemon, manager):
    shell = login()
    shell.run(ADD)
    assert file_of(ALICE).exists()
    restart(daemon, manager)
    assert shell.run(GET).text.strip() == "s3cret"
    manager.hear_of(ALICE)
    world.wait_for(lambda: not file_of(ALICE).exists(), "the file to go")


def test_without_what_the_service_manager_kept_nothing_is_open(login, daemon, manager):
    restart(daemon, manager)
    shell = login()
    shell.run(ADD)
    manager.hear_of(ALICE)
    daemon.stop()
    manager.hear_rest()
    manager.forget(key_of(ALICE))
    restart(daemon, manager)
    assert shell.run(GET).status == 4
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"


def test_each_user_has_a_key_of_that_user_s_own(login, daemon, manager):
    restart(daemon, manager)
    shells = {who: login(who) for who in (ALICE, BOB)}
    for shell in shells.values():
        assert shell.run(ADD).status == 0
    kept = [manager.hear_of(who) for who in shells]
    assert os.pread(kept[0], 64, 0) != os.pread(kept[1], 64, 0)
    daemon.stop()
    manager.hear_rest()
    # One that is lost closes nothing of another user's.
    manager.forget(key_of(ALICE))
    restart(daemon, manager)
    assert shells[ALICE].run(GET).status == 4
    assert shells[BOB].run(GET).text.strip() == "s3cret"


@pytest.mark.parametrize("what", ["not sealed", "too short", "a file"])
def test_what_was_not_made_by_the_daemon_is_no_vault_key(what, login, daemon, manager, tmp_path):
    if what == "a file":
        (tmp_path / "key").write_bytes(bytes(32))
        planted = os.open(tmp_path / "key", os.O_RDONLY)
    else:
        planted = os.memfd_create("planted", os.MFD_ALLOW_SEALING)
        os.write(planted, bytes(31 if what == "too short" else 32))
        if what == "too short":
            fcntl.fcntl(planted, 1033, 0xf)
    number = os.fstat(planted).st_ino
    manager.kept[key_of(ALICE)] = planted
    restart(daemon, manager)
    assert login().run(ADD).status == 0
    kept = manager.hear_of(ALICE, other_than=number)
    assert os.pread(kept, 64, 0) != bytes(32) and os.fstat(kept).st_size == 32
