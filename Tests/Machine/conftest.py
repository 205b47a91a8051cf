# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shutil

import guest as machine
import pytest

IMAGE = pathlib.Path(os.environ["KEYCHAIN_MACHINE"])
PACKAGES = pathlib.Path(os.environ["KEYCHAIN_PACKAGES"])
WORK = pathlib.Path(os.environ["KEYCHAIN_MACHINE_WORK"])
# Kept where the run's own folder goes: what a failure left to look at.
LOGS = ("kernel.log", "console0.log", "console1.log", "ssh.log", "qemu.log")

ALICE = ("alice", "correct horse 1")
BOB = ("bob", "battery staple 2")


def pytest_configure(config):
    config.addinivalue_line("markers", "short: what continuous integration does of it")


@pytest.fixture(scope="session")
def packages_disk():
    # A test that is made again may have fixtures of a session made again, too.
    shutil.rmtree(WORK, ignore_errors=True)
    folder = WORK / "packages"
    folder.mkdir(parents=True)
    for package in PACKAGES.glob("*.deb"):
        shutil.copy(package, folder)
    disk = WORK / "packages.raw"
    machine.make_disk(folder, disk)
    return disk


@pytest.fixture(scope="session")
def machine_installed(packages_disk):
    """Debian 12 with two users and the packages, which were installed while it ran."""
    machine.prepare(IMAGE, WORK)
    found = machine.Guest(IMAGE, WORK / "machine")
    try:
        found.start_running()
        for name, password in (ALICE, BOB):
            found.run(f"useradd --create-home --shell /bin/bash {name} && chpasswd",
                      input=f"{name}:{password}\n")
        found.run("usermod --append --groups sudo alice")
        with found.mounted(packages_disk, "--read-only", format="raw") as folder:
            found.installation = found.run(
                "DEBIAN_FRONTEND=noninteractive dpkg --force-unsafe-io --install "
                f"{folder}/*.deb", seconds=300).text
        found.save("installed")
        yield found
    finally:
        found.stop()


@pytest.fixture
def guest(machine_installed):
    """The machine, as it was when the packages had just been installed. Whatever a test does there,
    no profile of ours denies our programs anything."""
    if not machine_installed.is_on():
        machine_installed.start()
    machine_installed.load("installed")
    yield machine_installed
    if machine_installed.is_on():
        machine_installed.denies_nothing()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    found = item.funcargs.get("guest") if report.when == "call" else None
    if not found or not report.failed:
        return
    for name in LOGS:
        if (found.folder / name).exists():
            shutil.copy(found.folder / name, WORK.parent / f"{item.name}.{name}")
    try:
        told = found.run("journalctl --no-pager --lines 60; systemctl --failed", check=False,
                         seconds=30).text
        report.sections.append(("the machine's journal", told))
        found.screenshot(WORK.parent / f"{item.name}.png")
    except Exception as error:  # noqa: BLE001: the machine may be off.
        report.sections.append(("the machine's journal", f"none: {error!r}"))
