# SPDX-License-Identifier: Apache-2.0
"""Libraries by which Linux programs use org.freedesktop.secrets, and the sandboxes through which they do:
Debian's own files, unedited, called as programs call them."""

import re
import shutil

import pytest

import world
from conftest import ALICE
from test_secret_service import bus, desk, programs  # noqa: F401 (fixtures)

STEPS = re.compile(r"<([^>]*)>")
MISSING = "1 "  # QtKeychain's EntryNotFound, and no password.
REFUSED = "4"  # Its AccessDenied.


def needs(*names, target="libraries"):
    for name in names:
        if shutil.which(name) is None:
            pytest.skip(f"{name} is not installed: scripts/install-dependencies {target}")


@pytest.fixture(scope="module")
def qt(programs):
    needs("g++", "pkg-config")
    options = world.run("pkg-config", "--cflags", "--libs", "Qt5Core", check=False).stdout.split()
    made = world.run("g++", "-fPIC", "-o", world.TOOLS / "qt_client",
                     world.TOP / "Tests/System/qt_client.cpp", "-I/usr/include/qt5keychain",
                     "-lqt5keychain", *options, check=False)
    if not options or "keychain.h: No such file" in made.stderr:
        pytest.skip("QtKeychain is not installed: scripts/install-dependencies libraries")
    assert made.returncode == 0, made.stderr
    # Elsewhere it would try KWallet first.
    return f"env XDG_CURRENT_DESKTOP=GNOME {world.TOOLS}/qt_client"


@pytest.fixture(scope="module")
def evolution(programs):
    shutil.copy(world.TOP / "Tests/System/evolution_client.py", world.TOOLS)
    client = f"/usr/bin/python3 -B {world.TOOLS}/evolution_client.py"
    if world.run(*client.split(), check=False).returncode != 0:
        pytest.skip("evolution-data-server is not installed: scripts/install-dependencies libraries")
    return client


def steps(done):
    return STEPS.findall(done.text)


def test_qtkeychain_writes_reads_and_deletes(bus, qt):
    done = bus(f"printf 's3cret\\nn\\303\\244chstes\\n' | {qt} read write read write read")
    assert steps(done) == [MISSING, "0", "0 s3cret", "0", "0 nächstes"], done.text
    done = bus(f"{qt} read delete read delete")
    # To delete what is not there is no error to libsecret.
    assert steps(done) == ["0 nächstes", "0", MISSING, "0"], done.text


def test_evolution_data_server_keeps_finds_and_deletes(bus, evolution):
    done = bus(f"printf 's3cret\\nother\\nnext\\n' |"
               f" {evolution} find:a keep:a find:a keep:b keep:a find:a")
    assert steps(done) == ["None", "True", "s3cret", "True", "True", "next"], done.text
    done = bus(f"printf 'moment\\n' |"
               f" {evolution} find:a delete:a find:a find:b keep-for-now:c find:c")
    assert steps(done) == ["next", "True", "None", "other", "True", "moment"], done.text
    # That was for the session, which ended with its bus.
    assert steps(bus(f"{evolution} find:c")) == ["None"]


@pytest.mark.parametrize("bus", ["daemon"], indirect=True)
def test_what_is_locked_is_not_written_over(bus, qt, evolution):
    def keeps(word):
        return steps(bus(f"echo {word} | {qt} write; echo {word} | {evolution} keep:a"))

    def has():
        return steps(bus(f"{qt} read; {evolution} find:a"))

    assert keeps("old") == ["0", "True"] and has() == ["0 old", "old"]
    assert bus.shell.run("keychainctl lock").status == 0
    # No user can be asked: both libraries say that nothing is there, and must not put a new one there.
    assert has() == [MISSING, "None"]
    assert keeps("new") == [REFUSED, "failed: It is locked"]
    bus.restart()
    assert has() == [MISSING, "None"]
    assert keeps("new") == [REFUSED, "failed: It is locked"]
    assert bus.shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert has() == ["0 old", "old"]


@pytest.mark.parametrize("library, writes, reads, wanted", [
    ("qt", "write", "read", "<0 s3cret>"), ("evolution", "keep:a", "find:a", "<s3cret>")])
def test_what_is_locked_is_read_after_one_question(desk, request, library, writes, reads, wanted):
    client, shell = request.getfixturevalue(library), desk.login
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    kept = shell.run(f"dbus-run-session -- sh -c 'echo s3cret | {client} {writes}'")
    assert steps(kept) in (["0"], ["True"]), kept
    assert shell.run("keychainctl lock").status == 0
    desk.prompter("honest", ALICE[1])
    desk.on_a_bus(f"{client} {reads} {reads}")
    assert [desk.heard() for _ in range(4)] == ["<asked>", wanted, wanted, "<status 0>"]


SYSTEM = "--ro-bind /usr /usr --symlink usr/lib /lib --symlink usr/lib64 /lib64 --symlink usr/bin /bin"


class Sandbox:
    """The two sandboxes that Flatpak makes for a program: one of the proxy to the bus, and its own. A
    file at the proxy's root has the program's name; what its own root shows is its own word."""

    def __init__(self, bus, name=None, claims=None, shows=None):
        """`shows` is a file that the proxy has at its root in the place of its own."""
        self.bus, self.info = bus, (self.file(name), self.file(claims or name))
        self.shows = shows

    @staticmethod
    def file(name):
        return f"[Application]\\nname={name}\\n" if name else ""

    def __call__(self, command):
        proxy, program = ("--perms 0600 --file 7 /.flatpak-info 7<~/" + which if info else ""
                          for which, info in zip(("proxy", "program"), self.info))
        if self.shows:
            proxy = f"--ro-bind {self.shows} /.flatpak-info"
        return self.bus(
            f"cd; rm -f socket; printf '{self.info[0]}' >proxy; printf '{self.info[1]}' >program;"
            f" bwrap {SYSTEM} --bind /run /run --bind /tmp /tmp --dev /dev {proxy}"
            " xdg-dbus-proxy $DBUS_SESSION_BUS_ADDRESS ~/socket --filter"
            " --talk=org.freedesktop.secrets &"
            " for n in $(seq 200); do test -S socket && break; sleep 0.05; done;"
            f" bwrap {SYSTEM} --unshare-all --dev /dev --ro-bind ~/socket /run/bus {program}"
            " --setenv DBUS_SESSION_BUS_ADDRESS unix:path=/run/bus"
            # Else libsecret keeps a file of its own in a sandbox.
            f" --setenv SECRET_BACKEND service sh -c '{command}'; code=$?; kill $!; exit $code")


def outside(bus):
    """A proxy that another program than Flatpak starts, in no sandbox."""
    return lambda command: bus(
        "cd; rm -f socket; xdg-dbus-proxy $DBUS_SESSION_BUS_ADDRESS ~/socket &"
        " for n in $(seq 200); do test -S socket && break; sleep 0.05; done;"
        f" DBUS_SESSION_BUS_ADDRESS=unix:path=$HOME/socket sh -c '{command}';"
        " code=$?; kill $!; exit $code")


@pytest.mark.parametrize("bus", ["daemon"], indirect=True)
def test_sandboxed_programs_are_kept_apart(bus):
    needs("bwrap", "xdg-dbus-proxy")
    roots = world.RUN / "another-s-flatpak-info"
    roots.write_text("[Application]\nname=org.example.One\n")
    programs = {
        "one": Sandbox(bus, "org.example.One"),
        "other": Sandbox(bus, "org.example.Other"),
        "unnamed": Sandbox(bus),
        # A file of another user's, who may not have meant it so.
        "borrowed": Sandbox(bus, shows=roots),
        "proxied": outside(bus),
        "direct": bus,
    }
    for name, run in programs.items():
        done = run(f"printf %s s3cret-of-{name} | secret-tool store --label={name} kind mail name {name}")
        assert done.status == 0, done.text
    programs["liar"] = Sandbox(bus, "org.example.One", claims="org.example.Other")
    found = {name: sorted(re.findall("secret = s3cret-of-(.*)", run("secret-tool search --all kind mail").text))
             for name, run in programs.items()}
    assert found == {
        "one": ["one"], "other": ["other"], "liar": ["one"], "direct": ["direct"],
        # Which programs these are can't be told: the user would be asked first, and can't be here.
        "unnamed": [], "borrowed": [], "proxied": [],
    }
    roots.unlink()
    assert programs["one"]("secret-tool lookup name other").status == 1
    assert programs["other"]("secret-tool clear name one").status == 1
    assert programs["one"]("secret-tool lookup name one").text.strip().endswith("s3cret-of-one")
