# SPDX-License-Identifier: Apache-2.0
"""A user alone takes gnome-keyring's place with files of their own, and goes back to it."""

import pathlib
import re
import shlex

import pytest

import world
from test_moving_in import PACKAGE
from test_portal import sandbox  # noqa: F401 (a fixture)
from test_secret_service import programs  # noqa: F401 (a fixture)

SERVICES = "usr/share/dbus-1/services"
DAEMON = "/usr/bin/gnome-keyring-daemon"
ACTIVATION = ".local/share/dbus-1/services/org.freedesktop.secrets.service"
PORTAL = ".local/share/dbus-1/services/org.freedesktop.impl.portal.Secret.service"
AUTOSTART = ".config/autostart/gnome-keyring-secrets.desktop"
UNIT = ".config/systemd/user/gnome-keyring-daemon.service.d/keychain.conf"
FILES = sorted((ACTIVATION, PORTAL, AUTOSTART, UNIT))


@pytest.fixture
def installed(programs):
    """gnome-keyring, as if the machine had it: its files among the machine's own."""
    if not PACKAGE.exists():
        pytest.skip("gnome-keyring is not unpacked: scripts/install-dependencies")
    folder = world.TOOLS / "gnome-keyring"
    folder.mkdir()
    world.run("mount", "--bind", PACKAGE, folder)
    for name in "usr/bin", SERVICES:
        world.run("mount", "-t", "overlay", "-o", f"lowerdir={folder / name}:/{name}", "overlay", f"/{name}")
    yield folder
    # What was started may still run from there.
    for name in SERVICES, "usr/bin":
        world.run("umount", "--lazy", f"/{name}")
    world.run("umount", "--lazy", folder)
    folder.rmdir()


@pytest.fixture
def shell(login, installed):
    shell = login()
    shell.run("keychainctl secrets disable; rm -rf .local/share/dbus-1 .config")
    return shell


def owner(shell, installed, asked="org.freedesktop.secrets"):
    """Which process has the Secret Service's name after a call to a name; no service runs before."""
    libraries = next((installed / "usr/lib").glob("*-linux-gnu"))
    script = (f"dbus-send --session --print-reply --dest={asked} /org/freedesktop/secrets"
              " org.freedesktop.DBus.Peer.Ping 2>&1; pid=$(dbus-send --session --print-reply=literal"
              " --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetConnectionUnixProcessID"
              " string:org.freedesktop.secrets | grep -o '[0-9]*$'); echo \"<$(cat /proc/$pid/comm)>\";"
              " ps -u $(id -u) -o comm= | grep gnome-keyring")
    told = shell.run("mkdir -p -m 700 ~/run; XDG_RUNTIME_DIR=~/run timeout 60 env"
                     f" LD_LIBRARY_PATH={libraries} dbus-run-session -- sh -c {shlex.quote(script)};"
                     " pkill -u $(id -u) gnome-keyring-d; true", seconds=120).text
    found, = re.findall("<(.*)>", told)
    return found, "gnome-keyring-d\r" in told or "gnome-keyring-d\n" in told


def files(shell):
    return sorted(shell.run("find .local/share/dbus-1 .config -type f").text.split())


def test_gnome_keyring_is_started_again_after_disable(shell, installed):
    assert owner(shell, installed) == ("gnome-keyring-d", True)
    assert shell.run("keychainctl secrets enable").status == 0
    assert owner(shell, installed) == ("keychain-secret", False)
    assert shell.run("keychainctl secrets disable").status == 0
    assert files(shell) == []
    assert owner(shell, installed) == ("gnome-keyring-d", True)


def test_no_name_of_the_portal_s_starts_gnome_keyring(shell, installed):
    asked = "org.freedesktop.impl.portal.Secret"
    assert owner(shell, installed, asked)[1]
    assert shell.run("keychainctl secrets enable").status == 0
    assert owner(shell, installed, asked) == ("", False)


def test_enable_writes_what_disable_removes_and_nothing_of_another_s(shell, installed):
    assert shell.run("keychainctl secrets enable").status == 0
    assert files(shell) == FILES
    # What was written once is written anew.
    assert shell.run("keychainctl secrets enable").status == 0
    for path in FILES:
        assert shell.run("keychainctl secrets disable").status == 0
        assert files(shell) == []
        shell.run(f"mkdir -p {pathlib.Path(path).parent}; echo mine > {path}")
        refused = shell.run("keychainctl secrets enable")
        assert refused.status == 9 and f"/{path} is there, and another's" in refused.text, refused
        assert files(shell) == [path] and shell.run(f"cat {path}").text.strip() == "mine"
        assert shell.run("keychainctl secrets disable").status == 0
        assert shell.run(f"cat {path}; rm {path}").text.strip() == "mine"


def test_a_session_starts_gnome_keyring_s_secrets_no_more(shell, installed):
    """Of files of one name the user's own counts, and a hidden one starts nothing."""
    entries = [path.name for path in (installed / "etc/xdg/autostart").iterdir()
               if "--components=secrets" in path.read_text()]
    assert entries == [pathlib.Path(AUTOSTART).name]
    assert shell.run("keychainctl secrets enable").status == 0
    assert "Hidden=true" in shell.run(f"cat {AUTOSTART}").text.splitlines()


def test_the_unit_of_gnome_keyring_keeps_its_other_part(shell, installed):
    assert shell.run("keychainctl secrets enable").status == 0
    lines = [line for line in shell.run(f"cat {UNIT}").text.splitlines() if "=" in line]
    # The first takes the unit's own away.
    assert lines[0] == "ExecStart=" and len(lines) == 2
    own, = re.findall("^ExecStart=(.*)$", (installed / "usr/lib/systemd/user/gnome-keyring-daemon.service"
                                           ).read_text(), re.MULTILINE)
    command = lines[1].removeprefix("ExecStart=")
    assert own.replace('"pkcs11,secrets"', "pkcs11") == command and command.startswith(DAEMON)
    # As the package has it for all users.
    vendor = world.TOP / "packaging/gnome-keyring/keychain.conf"
    assert [line for line in vendor.read_text().splitlines() if "=" in line] == lines
