# SPDX-License-Identifier: Apache-2.0
"""Big programs of the desktop on org.freedesktop.secrets, unedited: Chromium and Seahorse, driven as a
user drives them. `make test-programs` runs them; KEYCHAIN_TEST_PICTURES names a folder for pictures of
their windows."""

import concurrent.futures
import http.server
import os
import pathlib
import shlex
import shutil
import sqlite3
import threading
import time

import pytest

import world
from conftest import ALICE
from graphical import Desktop
from test_libraries import needs
from test_policies import admin, audit  # noqa: F401 (a fixture)
from test_prompters import Terminal
from test_secret_service import bus, programs  # noqa: F401 (fixtures)

if "KEYCHAIN_TEST_PROGRAMS" not in os.environ:
    pytest.skip("they are too big for each run: make test-programs", allow_module_level=True)

CHROMIUM = "exe:/usr/lib/chromium/chromium"
VISIT = "visit=first"


@pytest.fixture
def desktop():
    running = Desktop()
    yield running
    running.close()


def picture(desktop, name):
    """As users see it. The documentation has such pictures."""
    folder = os.environ.get("KEYCHAIN_TEST_PICTURES")
    if folder:
        world.run("import", "-window", "root", "-trim", pathlib.Path(folder) / name,
                  env={"DISPLAY": desktop.display, "PATH": os.environ["PATH"]})


class Page(http.server.BaseHTTPRequestHandler):
    """Gives each visitor a cookie, and notes which one a visitor brings."""

    TEXT = """<!DOCTYPE html><title>A site with a login</title>
<body style="font: 20px sans-serif; margin: 3em"><h2>{}</h2><p>{}</p>
<script>requestAnimationFrame(() => requestAnimationFrame(() => fetch("/painted")))</script>"""
    KNOWN = ("Welcome back, Alice", "You were logged in by the cookie of your first visit, which lies"
             " encrypted on the disk. Its key is in the keychain.")
    UNKNOWN = ("Welcome", "This is your first visit.")

    def do_GET(self):
        if self.path == "/painted":
            self.server.painted += 1
        cookie = self.headers.get("Cookie", "")
        if self.path == "/":
            self.server.cookies.append(cookie)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Cache-Control", "no-store")
        if not cookie:
            self.send_header("Set-Cookie", f"{VISIT}; Max-Age=86400")
        self.end_headers()
        self.wfile.write(self.TEXT.format(*(self.KNOWN if cookie else self.UNKNOWN)).encode())

    def log_message(self, *words):
        pass


@pytest.fixture
def site():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    server.cookies, server.painted = [], 0
    server.address = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def chromium(desktop, site):
    """A visit of the site: from Chromium's start to its end."""
    needs("chromium", "import", target="programs")
    leave = world.TOOLS / "leave"

    def visit(run, name=None):
        leave.unlink(missing_ok=True)
        seen = site.painted
        with concurrent.futures.ThreadPoolExecutor(1) as beside:
            visiting = beside.submit(
                run, "chromium --password-store=gnome-libsecret --user-data-dir=$HOME/profile"
                " --no-first-run --no-default-browser-check --disable-gpu --disable-sync"
                " --disable-background-networking --disable-component-update --disable-default-apps"
                " --window-size=900,420 --window-position=0,0"
                # No name but the loopback's is looked up.
                " --proxy-server=127.0.0.1:9"
                f" {site.address} >$HOME/chromium.log 2>&1 & for n in $(seq 900); do test -e {leave} && break;"
                " sleep 0.1; done; kill $!; wait $!")
            try:
                world.wait_for(lambda: site.painted > seen or visiting.done(), "the page", 80)
                # Chromium writes cookies twice a minute, and not all of them at its end.
                world.wait_for(schemes, "the cookie on the disk", 80)
                if name:
                    time.sleep(1)
                    picture(desktop, name)
            finally:
                leave.touch()
            visiting.result()
        assert site.painted > seen, run("cat $HOME/chromium.log").text

    visit.environment = f"DISPLAY={desktop.display}"
    return visit


def keys(daemon):
    """How often Chromium made an item."""
    return [record["outcome"] for record in audit(daemon)
            if record.get("program") == CHROMIUM and record["operation"] == "add"]


def schemes():
    """How Chromium says that cookies are encrypted: v11 is with a key from the service."""
    try:
        with sqlite3.connect(f"file:/run/home/{ALICE[0]}/profile/Default/Cookies?mode=ro", uri=True) as file:
            return [row[0] for row in file.execute("select substr(encrypted_value, 1, 3) from cookies")]
    except sqlite3.OperationalError:
        return []


def on(bus, environment):
    return lambda command: bus(f"export {environment}; {command}", seconds=150)


def test_chromium_finds_its_cookie_key_again(bus, chromium, site, daemon):
    bus.shell.run("rm -rf ~/profile")
    chromium(on(bus, chromium.environment))
    chromium(on(bus, chromium.environment), f"chromium-{bus.mode}.png")
    assert site.cookies == ["", VISIT]
    assert schemes() == [b"v11"]
    if bus.mode == "embedded":
        found = bus("secret-tool search --all application chromium")
        assert found.text.count("label = Chromium Safe Storage") == 1, found.text
    else:
        assert keys(daemon) == ["allowed"]


@pytest.mark.parametrize("bus", ["daemon"], indirect=True)
def test_chromium_asks_once_for_a_locked_keychain(bus, chromium, site, daemon):
    bus.shell.run("rm -rf ~/profile")
    chromium(on(bus, chromium.environment))
    assert bus.shell.run("keychainctl lock").status == 0
    terminal, heard = Terminal(ALICE[0]), []
    terminal.prompter("honest", ALICE[1])

    def run(command):
        terminal.start(f"env HOME={terminal.user.pw_dir} {chromium.environment} dbus-run-session --"
                       f" sh -c {shlex.quote(command)}; echo '<end>'")
        while heard[-1:] != ["<end>"]:
            heard.append(terminal.heard())

    chromium(run)
    terminal.shell.close(force=True)
    assert heard == ["<asked>", "<end>"]
    assert site.cookies == ["", VISIT]
    assert keys(daemon) == ["allowed"]


SEES_ALL = """rules:
  - id: test.seahorse
    share: Seahorse shows its user all that programs keep.
    tags: [broad]
    operations: [read-secret, read-attributes, list, update, delete]
    subject: {exe: /usr/bin/seahorse, trusted-exe: true}
    resource: {class: attributed, access-group: "*"}
"""


@pytest.mark.parametrize("bus", ["daemon"], indirect=True)
def test_seahorse_lists_shows_changes_and_deletes(bus, desktop, admin):
    needs("seahorse", "xdotool", "import", target="programs")
    client = f"/usr/bin/python3 -B {world.TOOLS}/seahorse_client.py"
    shutil.copy(world.TOP / "Tests/System/seahorse_client.py", world.TOOLS)
    admin(SEES_ALL)
    bus.shell.run("rm -rf ~/pictures; mkdir ~/pictures")
    done = bus(f"export GSETTINGS_BACKEND=memory DISPLAY={desktop.display}; {client} ~/pictures")
    assert done.status == 0, done.text
    pictures = os.environ.get("KEYCHAIN_TEST_PICTURES")
    if pictures:
        shutil.copytree(f"/run/home/{ALICE[0]}/pictures", pictures, dirs_exist_ok=True)
    assert bus.shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    found = bus("secret-tool lookup user mail; echo; secret-tool search user mail; secret-tool lookup user bank;"
                " secret-tool lookup user work")
    assert "chAnged" in found.text and "label = Letters" in found.text and "s3cret" in found.text
    assert found.status == 1, found.text
