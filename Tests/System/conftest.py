# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shutil

import pytest

import world

ALICE = ("kc-alice", "correct horse 1")
BOB = ("kc-bob", "battery staple 2")


def takes(file, taken={}):
    """Where several worlds share the tests (scripts/test-system), the first to get to a file has
    it."""
    turns = os.environ.get("KEYCHAIN_TEST_TURNS")
    if turns is not None and file not in taken:
        try:
            (pathlib.Path(turns) / file).mkdir()
            taken[file] = True
        except FileExistsError:
            taken[file] = False
    return turns is None or taken[file]


def pytest_collection_modifyitems(items):
    """The largest files come first, so that worlds which share them end at about the same time."""
    items.sort(key=lambda item: -item.path.stat().st_size)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    return None if takes(item.path.name) else True


def pytest_terminal_summary(terminalreporter):
    """Why a test was made once more is told, also where it passed then."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"made once more: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)


@pytest.fixture(scope="session", autouse=True)
def prepared():
    world.require_world()
    world.install_services()
    for name, password in (ALICE, BOB):
        world.make_account(name, password)


@pytest.fixture
def daemon(tmp_path):
    """A daemon with an empty state folder."""
    for entry in world.STATE.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    running = world.Daemon(tmp_path / "keychaind.log").start()
    yield running
    running.stop()
    forget_keys()


def forget_keys():
    world.forget_keys()


@pytest.fixture(scope="session")
def sshd(tmp_path_factory):
    server = world.SSHServer(tmp_path_factory.mktemp("sshd")).start()
    yield server
    server.stop()


@pytest.fixture
def login(daemon, sshd):
    """Logs a user in as a person would; every login is ended with the test."""
    shells = []

    def log_in(who=ALICE, *options, server=sshd, password=True):
        shell = world.Shell(server, who[0], who[1] if password else None, *options)
        shells.append(shell)
        return shell

    yield log_in
    for shell in shells:
        shell.terminal.close(force=True)


@pytest.fixture(scope="session")
def tools():
    """Programs of the tests where every user can read them; gone with the world."""
    world.TOOLS.mkdir(exist_ok=True)
    world.run("mount", "-t", "tmpfs", "-o", "mode=0755", "tools", world.TOOLS)
    for name in ("wire.py", "attacker.py", "client.py", "prompter.py"):
        shutil.copy(world.TOP / "Tests/System" / name, world.TOOLS)
    yield
    world.run("umount", "-l", world.TOOLS)
    world.TOOLS.rmdir()


@pytest.fixture
def shells(login):
    """Those of two users, each with a secret of the user's own."""
    shells = login(ALICE), login(BOB)
    for shell, secret in zip(shells, ("of-alice", "of-bob")):
        added = shell.run(
            f"printf {secret} | keychainctl add generic-password --service mail --account me")
        assert added.status == 0, added
    return shells
