# SPDX-License-Identifier: Apache-2.0
"""keychain-secret-service beside the real gnome-keyring, in each order of installing and removing."""

import pathlib
import re
import shlex

import dpkg
import pytest

import world

PACKAGES = world.TOP / ".deps/gnome-keyring-packages"
OURS, THEIRS = "keychain-secret-service", "gnome-keyring"
SERVICES = pathlib.Path("/usr/share/dbus-1/services")
ACTIVATION = SERVICES / "org.freedesktop.secrets.service"
AUTOSTART = pathlib.Path("/etc/xdg/autostart/gnome-keyring-secrets.desktop")
PUT_ASIDE = (ACTIVATION, SERVICES / "org.freedesktop.impl.portal.Secret.service", AUTOSTART)
DROP_IN = pathlib.Path("/usr/lib/systemd/user/gnome-keyring-daemon.service.d/keychain.conf")


def ours():
    return dict(zip(dpkg.NAMES, dpkg.files()))[OURS]


def install(*packages):
    # What the packages need besides may not be installed on this machine.
    return dpkg.dpkg("--force-depends", "--install", *packages)


def purge(name):
    return dpkg.dpkg("--force-depends", "--purge", name)


class Keyring:
    """gnome-keyring, to be installed where it is not."""

    def __init__(self, folder):
        self.package, = PACKAGES.glob("gnome-keyring_*.deb")
        world.run("dpkg-deb", "--extract", self.package, folder)
        self.own = {path: (folder / path.relative_to("/")).read_bytes() for path in PUT_ASIDE}

    def install(self):
        install(*PACKAGES.glob("*.deb"))

    def is_aside(self):
        return {path: aside(path).read_bytes() for path in PUT_ASIDE} == self.own and not any(
            path.exists() for path in PUT_ASIDE if path != ACTIVATION)

    def is_whole(self):
        return {path: path.read_bytes() for path in PUT_ASIDE} == self.own and not any(
            aside(path).exists() for path in PUT_ASIDE)

    def is_kept(self):
        """Each file in one of its two places."""
        return all(self.own[path] in [place.read_bytes() for place in (path, aside(path))
                                      if place.exists()] for path in PUT_ASIDE)


def aside(path):
    return path.with_name(path.name + ".distrib")


@pytest.fixture
def keyring(packages, tmp_path):
    if not PACKAGES.exists():
        pytest.skip("gnome-keyring's package could not be fetched")
    purge(OURS)
    purge(THEIRS)
    aside(AUTOSTART).unlink(missing_ok=True)
    yield Keyring(tmp_path)
    purge(THEIRS)
    AUTOSTART.unlink(missing_ok=True)
    aside(AUTOSTART).unlink(missing_ok=True)


def activates_ours():
    return "\nExec=/usr/libexec/keychain/keychain-secrets\n" in ACTIVATION.read_text()


@pytest.mark.parametrize("order", ["before", "after", "upgraded after"])
def test_gnome_keyring_s_files_are_put_aside_and_come_back(keyring, order):
    if order == "before":
        keyring.install()
        assert keyring.is_whole()
        install(ours())
    else:
        install(ours())
        keyring.install()
    if order == "upgraded after":
        keyring.install()
    assert keyring.is_aside() and activates_ours() and DROP_IN.exists()
    assert set(dpkg.diverted()) == set(map(str, PUT_ASIDE))
    dpkg.remove(OURS)
    assert keyring.is_whole() and not DROP_IN.parent.exists()
    assert dpkg.diverted() == {}


def test_without_gnome_keyring_nothing_is_left(keyring):
    install(ours())
    assert activates_ours()
    dpkg.remove(OURS)
    assert not any(path.exists() or aside(path).exists() for path in PUT_ASIDE)


def test_gnome_keyring_goes_and_the_keychain_stays(keyring):
    keyring.install()
    install(ours())
    purge(THEIRS)
    assert activates_ours()
    assert [path for path in PUT_ASIDE if path.exists()] == [ACTIVATION]
    dpkg.remove(OURS)
    assert not ACTIVATION.exists() and dpkg.diverted() == {}


def test_an_upgrade_leaves_the_diversions_as_they_are(keyring, tmp_path):
    keyring.install()
    install(ours())
    install(*dpkg.newer(tmp_path / "newer", "0.1.1-1"))
    assert keyring.is_aside() and activates_ours() and dpkg.are_installed()
    dpkg.remove(OURS)
    assert keyring.is_whole()


def test_wherever_it_is_killed_gnome_keyring_s_files_are_kept_and_it_goes_on(keyring):
    keyring.install()

    def nothing_is_lost():
        assert keyring.is_kept()

    assert dpkg.killed_at_each_step("--unpack", ours(), between=nothing_is_lost) == 4
    dpkg.killed_at_each_step("--configure", OURS, between=nothing_is_lost)
    assert keyring.is_aside() and activates_ours()
    assert dpkg.killed_at_each_step("--remove", OURS, between=nothing_is_lost) == 3
    assert keyring.is_whole() and dpkg.diverted() == {}


def test_an_installation_that_is_broken_off_leaves_gnome_keyring_as_it_was(keyring, tmp_path):
    """dpkg itself takes it back: here its own file can't be unpacked."""
    keyring.install()
    tree = tmp_path / "broken"
    world.run("dpkg-deb", "--raw-extract", ours(), tree)
    # A file that another package has.
    (tree / "usr/bin").mkdir(parents=True)
    (tree / "usr/bin/gnome-keyring-daemon").write_text("no program")
    world.run("dpkg-deb", "--build", "--root-owner-group", "-Znone", tree, tmp_path / "broken.deb")
    done = dpkg.dpkg("--unpack", tmp_path / "broken.deb", check=False)
    assert done.returncode != 0 and "trying to overwrite" in done.stdout
    assert keyring.is_whole() and dpkg.diverted() == {}


def test_no_session_starts_gnome_keyring_s_secrets(keyring):
    def started():
        return [path.name for path in AUTOSTART.parent.glob("*.desktop")
                if re.search("^Exec=.*gnome-keyring.*secrets", path.read_text(), re.MULTILINE)]

    keyring.install()
    assert started() == [AUTOSTART.name]
    install(ours())
    assert started() == []


OWNER = """dbus-send --session --print-reply --dest={0} /org/freedesktop/secrets \
org.freedesktop.DBus.Peer.Ping >/dev/null 2>&1
for name in org.freedesktop.secrets org.gnome.keyring; do
    pid=$(dbus-send --session --print-reply=literal --dest=org.freedesktop.DBus / \
        org.freedesktop.DBus.GetConnectionUnixProcessID string:$name 2>/dev/null | grep -o '[0-9]*$')
    [ -z "$pid" ] || echo "<$name $(cat /proc/$pid/comm)>"
done"""


def owners(shell, script):
    run = (f"mkdir -p -m 700 ~/run; XDG_RUNTIME_DIR=~/run dbus-run-session -- sh -c {shlex.quote(script)};"
           " pkill -u $(id -u) gnome-keyring-d; true")
    return dict(re.findall(r"<(\S+) (\S+)>", shell.run(run, seconds=120).text))


def test_each_user_s_bus_starts_the_keychain_and_gnome_keyring_again(keyring, daemon, login):
    keyring.install()
    shell = login()
    asked = OWNER.format("org.freedesktop.secrets")
    assert owners(shell, asked)["org.freedesktop.secrets"] == "gnome-keyring-d"
    install(ours())
    assert owners(shell, asked) == {"org.freedesktop.secrets": "keychain-secret"}
    assert "started by the bus" in shell.run("dbus-run-session -- keychainctl secrets status").text
    # By this name gnome-keyring would take the other one.
    assert owners(shell, OWNER.format("org.freedesktop.impl.portal.Secret")) == {}
    assert "for all users" in shell.run("keychainctl secrets disable").text
    dpkg.remove(OURS)
    assert owners(shell, asked)["org.freedesktop.secrets"] == "gnome-keyring-d"
    assert "not enabled" in shell.run("dbus-run-session -- keychainctl secrets status").text


def test_the_drop_in_leaves_gnome_keyring_its_other_part(keyring, daemon, login):
    keyring.install()
    install(ours())
    lines = [line for line in DROP_IN.read_text().splitlines() if line.startswith("ExecStart=")]
    # The first takes the unit's own away.
    assert lines[0] == "ExecStart=" and len(lines) == 2
    unit = pathlib.Path("/usr/lib/systemd/user/gnome-keyring-daemon.service").read_text()
    own = re.search("^ExecStart=(.*)$", unit, re.MULTILINE)[1]
    assert own.replace('"pkcs11,secrets"', "pkcs11") == lines[1].removeprefix("ExecStart=")
    started = "{ " + lines[1].removeprefix("ExecStart=").replace("%t", "~/run") + " & } ; sleep 2; "
    started += OWNER.format("org.gnome.keyring.none")
    assert "org.freedesktop.secrets" not in owners(login(), started)
