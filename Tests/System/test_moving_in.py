# SPDX-License-Identifier: Apache-2.0
"""keychainctl import from a gnome-keyring with 500 items, from its file and over its bus."""

import hashlib
import json
import re
import shlex
import shutil

import pytest

import world
from conftest import ALICE
from test_policies import admin  # noqa: F401 (a fixture)
from test_portal import sandbox  # noqa: F401 (a fixture)
from test_prompters import Terminal
from test_secret_service import WAIT, programs  # noqa: F401 (a fixture)

PACKAGE = world.TOP / ".deps/gnome-keyring"
CLIENT = "/usr/bin/python3 ~/keyring_client.py"
PASSWORD = "old k3yring"
COUNT = 500
PATIENCE = 6 * world.PATIENCE
FILE = ".local/share/keyrings/login.keyring"

# What another program kept is seen by all of the bus's, as gnome-keyring shows it.
OPEN = """rules:
  - id: test.open
    share: As open as gnome-keyring.
    tags: [broad]
    operations: [read-secret, read-attributes]
    subject: {via: secret-service}
    resource:
      class: attributed
      access-group: [imported, "portal:*", desktop-accounts, desktop-files, desktop-networks,
                     "exe:/usr/bin/docker-credential-secretservice"]
"""


@pytest.fixture
def old(login, tools):
    """Runs commands beside a gnome-keyring of 500 items that a user left behind."""
    if not PACKAGE.exists():
        pytest.skip("gnome-keyring is not unpacked: scripts/install-dependencies")
    folder = world.TOOLS / "gnome-keyring"
    folder.mkdir()
    world.run("mount", "--bind", PACKAGE, folder)
    shell = login()
    shell.run("rm -rf .local/share/keyrings .local/share/dbus-1 .local/state/keychain")
    shutil.copy(world.TOP / "Tests/System/keyring_client.py", world.TOOLS)
    shell.run(f"cp {world.TOOLS}/keyring_client.py ~")
    library = next((PACKAGE / "usr/lib").glob("*-linux-gnu")).name
    # It tells that it has begun before it has its name.
    start = (f"printf %s {shlex.quote(PASSWORD)} | LD_LIBRARY_PATH={folder}/usr/lib/{library}"
             f" {folder}/usr/bin/gnome-keyring-daemon --unlock --components=secrets >/dev/null; {WAIT}")

    def run(command, answers=(), start=start):
        inner = f"{start}; {command}"
        return shell.run("mkdir -p -m 700 ~/run; XDG_RUNTIME_DIR=~/run dbus-run-session --"
                         f" sh -c {shlex.quote(inner)}", answers, seconds=PATIENCE)

    filled = run(f"{CLIENT} fill {COUNT} && {CLIENT} tell >~/before.json")
    assert filled.status == 0, filled
    run.shell = shell
    yield run
    # The service may still run from there.
    world.run("umount", "--lazy", folder)
    folder.rmdir()


def fingerprint(shell):
    return shell.run("cd .local/share/keyrings && stat -c '%n %Y %i %s' * && sha256sum *; cd").text


def what_is_here(old, admin):
    """What programs see of it in the keychain, by the service that takes the old one's place."""
    admin(OPEN)
    assert old.shell.run("keychainctl secrets enable").status == 0
    told = old(f"{CLIENT} tell >~/after.json", start="true")
    assert told.status == 0, told
    assert old.shell.run("keychainctl secrets disable").status == 0
    return json.loads(old.shell.run("cat after.json").text)


def what_was_there(old):
    return json.loads(old.shell.run("cat before.json").text)


def as_in_the_file(items):
    """On the bus gnome-keyring gives items a type that have none in its file."""
    generic = "org.freedesktop.Secret.Generic"
    for item in items:
        if item["type"] == generic:
            item["type"] = ""
        if item["attributes"].get("xdg:schema") == generic:
            del item["attributes"]["xdg:schema"]
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True))


def imported(said):
    # The question and a progress bar stand before it.
    return json.loads(said.text[said.text.index("{\n"):])


FROM_FILE = "keychainctl import gnome-keyring --yes --json"


def test_a_keyring_left_behind_comes_in_whole_and_once(old, admin):
    before = fingerprint(old.shell)
    said = old.shell.run(FROM_FILE, [PASSWORD, ALICE[1]], PATIENCE)
    assert said.status == 0, said
    first = imported(said)
    assert (first["added"], first["new"], first["notBrought"]) == (COUNT, COUNT, []), first
    assert what_is_here(old, admin) == as_in_the_file(what_was_there(old))
    # To list what programs keep asks first.
    again = imported(old.shell.run(FROM_FILE, [ALICE[1], PASSWORD], PATIENCE))
    assert (again["added"], again["new"], again["same"], again["different"], again["unlike"]) \
        == (0, 0, COUNT, [], []), again
    assert fingerprint(old.shell) == before
    receipt = old.shell.run(f"cat .local/state/keychain/imports/{first['number']}.txt").text
    assert f"Added: {COUNT}." in receipt and "login.keyring" in receipt
    undone = old.shell.run(f"keychainctl import --undo {first['number']}", [ALICE[1]] * 2, PATIENCE)
    assert f"Deleted: {COUNT}." in undone.text, undone
    assert what_is_here(old, admin) == []


def test_an_application_in_a_sandbox_finds_the_secret_that_it_had(old, sandbox):
    assert old.shell.run(FROM_FILE, [PASSWORD, ALICE[1]], PATIENCE).status == 0
    assert old.shell.run("keychainctl secrets enable").status == 0
    # The tenth shape's first item; another application has none yet.
    for name, had in ("org.example.App9", True), ("org.example.App8", False):
        told = old.shell.run(f"dbus-run-session -- sh -c '{sandbox} {name} secret'", seconds=PATIENCE).text
        kept = hashlib.sha256((b"k" * 64 + b"9")[-64:]).hexdigest()[:8]
        found, = re.findall("<0 64:([0-9a-f]{8})>", told)
        assert (found == kept) == had, told
    # No program finds it that is no portal.
    assert old.shell.run("dbus-run-session -- secret-tool lookup app_id org.example.App9").status == 1
    assert old.shell.run("keychainctl secrets disable").status == 0


def test_always_makes_a_program_s_own_what_it_kept_before(old):
    assert old.shell.run(FROM_FILE, [PASSWORD, ALICE[1]], PATIENCE).status == 0
    assert old.shell.run("keychainctl secrets enable").status == 0
    program = world.TOOLS / "nextcloud"
    shutil.copy("/usr/bin/secret-tool", program)
    terminal = Terminal(ALICE[0])
    try:
        terminal.prompter("always", ALICE[1])
        terminal.start(f"env HOME={terminal.user.pw_dir} dbus-run-session -- {program} lookup"
                       " server Nextcloud user Nextcloud_7; echo \"<status $?>\"")
        for word in ("<to choose>", "<asked>", "xxx7", "<status 0>"):
            terminal.hears(word)
        # With no user to ask: the eighth shape's items, of which one was asked for.
        found = old.shell.run(f"dbus-run-session -- {program} search --all server Nextcloud").text
        assert len(set(re.findall("user = (Nextcloud_[0-9]+)", found))) == len(range(7, COUNT, 11))
        assert old.shell.run(f"dbus-run-session -- {program} clear server Nextcloud user Nextcloud_7").status == 0
        assert old.shell.run(f"dbus-run-session -- {program} lookup server Nextcloud user Nextcloud_7").status == 1
    finally:
        terminal.shell.close(force=True)
        program.unlink()
        old.shell.run("keychainctl secrets disable")


def test_a_running_service_is_copied_over_its_bus(old, admin):
    before = fingerprint(old.shell)
    command = "keychainctl import secret-service --yes --json"
    said = old(command, [ALICE[1]])
    assert said.status == 0, said
    first = imported(said)
    assert (first["added"], first["new"], first["notBrought"]) == (COUNT, COUNT, []), first
    # From the file the same come, and none of them is new.
    again = imported(old.shell.run(FROM_FILE, [ALICE[1], PASSWORD], PATIENCE))
    assert (again["added"], again["same"], again["different"]) == (0, COUNT, []), again
    again = imported(old(command + " --collection Login", [ALICE[1]]))
    assert (again["added"], again["same"], again["different"]) == (0, COUNT, []), again
    told = old(f"{CLIENT} tell >~/still.json")
    assert told.status == 0
    still = json.loads(old.shell.run("cat still.json").text)
    assert as_in_the_file(still) == as_in_the_file(what_was_there(old))
    assert fingerprint(old.shell) == before
    assert as_in_the_file(what_is_here(old, admin)) == as_in_the_file(what_was_there(old))


def test_a_collection_that_stays_locked_is_left_out_and_named(login, tools):
    shell = login()
    shell.run("rm -rf .local/state/keychain")
    shutil.copy(world.TOP / "Tests/System/half_locked_service.py", world.TOOLS)
    command = (f"dbus-run-session -- /usr/bin/python3 -B {world.TOOLS}/half_locked_service.py org.example.Old"
               " keychainctl import secret-service --from org.example.Old")
    said = shell.run(f"{command} --dry-run --collection Work")
    assert said.status == 1 and "the service did not unlock its collection" in said.text, said
    said = shell.run(f"{command} --yes --json", [ALICE[1]])
    assert said.status == 0, said
    left_out = "collection Work: the service did not unlock it"
    record = imported(said)
    assert (record["added"], record["notBrought"]) == (1, [left_out]), record
    assert f"Not brought: {left_out}" in shell.run("cat .local/state/keychain/imports/*.txt").text


def test_a_user_who_is_not_there_brings_nothing(old):
    said = old.shell.run(FROM_FILE, [PASSWORD, "wrong", "wrong", "wrong"], PATIENCE)
    assert said.status != 0 and "Added: 0" in said.text, said
    other = old.shell.run(f"keychainctl import gnome-keyring {FILE} --dry-run", ["another"])
    assert other.status == 6 and "that is not the file's password" in other.text, other


@pytest.mark.parametrize("command, words", [
    ("keychainctl import secret-service --dry-run --from org.example.None", "no program on your bus"),
    ("keychainctl import secret-service --dry-run --collection none", "no such collection"),
])
def test_what_is_not_on_the_bus_is_said(old, command, words):
    said = old(f"{CLIENT} tell >/dev/null; {command}")
    assert said.status == 1 and words in said.text, said


def test_keychain_secrets_is_not_copied_into_itself(old):
    assert old.shell.run("keychainctl secrets enable").status == 0
    said = old(f"{CLIENT} tell >/dev/null; keychainctl import secret-service --dry-run", start="true")
    assert said.status == 1 and "keychain-secrets itself" in said.text, said
    assert old.shell.run("keychainctl secrets disable").status == 0
