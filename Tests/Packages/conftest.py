# SPDX-License-Identifier: Apache-2.0
import pathlib
import shutil

import dpkg
import pytest

import world

ALICE = ("kc-alice", "correct horse 1")
# As Debian's own, with what it takes to type a password.
SERVICE = """@include common-auth
account required pam_unix.so
session optional pam_keyinit.so force revoke
@include common-session
@include common-password
"""


@pytest.fixture(scope="session", autouse=True)
def prepared():
    world.require_world()
    # An index of manual pages takes long to write.
    pathlib.Path("/var/lib/man-db/auto-update").unlink(missing_ok=True)
    world.make_account(*ALICE)


@pytest.fixture
def packages():
    """All packages, installed, without keychains and policies."""
    if not dpkg.are_as_installed():
        dpkg.answers("false")
        dpkg.dpkg("--purge", "--force-remove-reinstreq", *dpkg.NAMES, check=False)
        for line in world.run("dpkg-statoverride", "--list", "*/keychain-*",
                              check=False).stdout.splitlines():
            world.run("dpkg-statoverride", "--remove", line.split()[-1])
        for path in dpkg.diverted():
            world.run("dpkg-divert", "--rename", "--remove", path)
        dpkg.install()
    # The audit's folder is the packages' own.
    audit = world.STATE / "audit"
    for folder in world.STATE, audit, pathlib.Path("/etc/keychain/policies.d"):
        for entry in folder.glob("*"):
            if entry != audit:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    dpkg.answers("false")
    yield
    forget_keys()


def forget_keys():
    """The kernel's keyrings are no namespace's."""
    if world.STATE.exists():
        world.forget_keys()


@pytest.fixture
def daemon(packages, tmp_path):
    """The installed one, with its sockets as its unit has them."""
    world.RUN.mkdir(exist_ok=True)
    running = world.Daemon(tmp_path / "keychaind.log").start()
    yield running
    running.stop()
    forget_keys()


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    """A server whose stacks are this machine's own."""
    server = world.SSHServer(tmp_path_factory.mktemp("sshd"))
    world.write_service(server.name, SERVICE)
    server.start()
    yield server
    server.stop()


@pytest.fixture
def login(sshd):
    shells = []

    def log_in():
        shell = world.Shell(sshd, *ALICE)
        shells.append(shell)
        return shell

    yield log_in
    for shell in shells:
        shell.terminal.close(force=True)
