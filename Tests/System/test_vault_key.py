# SPDX-License-Identifier: Apache-2.0
"""Where the key lies under which the kernel's keyring holds everything. systemd's side of its
notification socket is played here; the messages and descriptors are the real ones."""

import array
import fcntl
import json
import os
import socket

import pytest

import world
from conftest import ALICE

ADD = "printf s3cret | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me"
FILE = world.RUN / "private/vault-key"
F_GET_SEALS = 1034


class ServiceManager:
    """Takes what a service stores, and gives it back at the next start under the same name."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(world.PATIENCE)
        self.kept = {}

    def hear(self):
        """Until the service says that it is ready."""
        while True:
            text, control, _, _ = self.socket.recvmsg(4096, socket.CMSG_SPACE(64))
            descriptors = array.array("i")
            for level, kind, data in control:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    descriptors.frombytes(data[:len(data) - len(data) % descriptors.itemsize])
            said = dict(line.split("=", 1) for line in text.decode().splitlines())
            if "FDSTOREREMOVE" in said:
                self.forget(said["FDNAME"])
            if "FDSTORE" in said:
                self.kept[said["FDNAME"]] = descriptors[0]
            if "READY" in said:
                return

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
    daemon.start(environment=manager.environment(), descriptors=list(manager.kept.values()))
    manager.hear()


def told():
    return json.loads(world.run(world.CONTROL, "status", "--json").stdout)["vaultKey"]


def test_without_a_service_manager_it_lies_in_a_file_of_root_s(daemon):
    assert FILE.stat().st_mode & 0o777 == 0o600
    assert FILE.parent.stat().st_mode & 0o777 == 0o700
    assert told() == "file"


def test_a_service_manager_keeps_it_sealed_and_no_file_does(daemon, manager):
    restart(daemon, manager)
    kept = manager.kept["vault-key"]
    assert os.fstat(kept).st_size == 32
    assert fcntl.fcntl(kept, F_GET_SEALS) == 0xf
    with pytest.raises(PermissionError):
        os.write(kept, b"x")
    assert not FILE.exists()
    assert told() == "descriptorStore"
    restart(daemon, manager)
    assert told() == "descriptorStore"


def test_what_is_unlocked_stays_so_over_a_restart_by_the_service_manager(login, daemon, manager):
    restart(daemon, manager)
    shell = login()
    assert shell.run(ADD).status == 0
    kept = dict(manager.kept)
    restart(daemon, manager)
    assert shell.run(GET).text.strip() == "s3cret"
    assert manager.kept == kept


def test_what_was_unlocked_before_there_was_a_service_manager_stays_so(login, daemon, manager):
    shell = login()
    shell.run(ADD)
    assert FILE.exists()
    restart(daemon, manager)
    assert shell.run(GET).text.strip() == "s3cret"
    assert not FILE.exists()


def test_without_what_the_service_manager_kept_nothing_is_open(login, daemon, manager):
    restart(daemon, manager)
    shell = login()
    shell.run(ADD)
    manager.forget("vault-key")
    restart(daemon, manager)
    assert shell.run(GET).status == 4
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"


@pytest.mark.parametrize("what", ["not sealed", "too short", "a file"])
def test_what_was_not_made_by_the_daemon_is_no_vault_key(what, daemon, manager, tmp_path):
    if what == "a file":
        (tmp_path / "key").write_bytes(bytes(32))
        planted = os.open(tmp_path / "key", os.O_RDONLY)
    else:
        planted = os.memfd_create("planted", os.MFD_ALLOW_SEALING)
        os.write(planted, bytes(31 if what == "too short" else 32))
        if what == "too short":
            fcntl.fcntl(planted, 1033, 0xf)
    number = os.fstat(planted).st_ino
    manager.kept["vault-key"] = planted
    restart(daemon, manager)
    kept = manager.kept["vault-key"]
    assert os.fstat(kept).st_ino != number
    assert os.pread(kept, 64, 0) != bytes(32) and os.fstat(kept).st_size == 32
