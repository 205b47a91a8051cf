# SPDX-License-Identifier: Apache-2.0
"""The machine's keychain, whom it is for and whom not; and which keychains a user's calls mean."""

import contextlib
import json
import os
import pathlib
import secrets
import sqlite3
import sys

import pexpect
import pytest

import wire
import world
from conftest import ALICE, BOB
from test_others import session
from test_policies import admin  # noqa: F401
from tpm import SoftwareTPM

ROOT_PASSWORD = "root of all 9"
ITEM = ("generic-password", "--service", "db", "--account", "shop")
IN_SYSTEM = ("--keychain", "system")
USAGE, NOT_FOUND, REFUSED = 2, 3, 5


def control(*words, **options):
    """As root, in no login."""
    return world.run(world.CONTROL, *words, check=False, **options)


def keep(group, secret="db-s3cret", item=ITEM):
    """Root keeps an item for a service."""
    added = control("add", *item, *IN_SYSTEM, "--group", group, input=secret)
    assert added.returncode == 0, added.stderr


# An account that no person logs in to.
SERVICE, OTHER_SERVICE = "daemon", "bin"


class Unit:
    """A control group as systemd makes one for a service."""

    def __init__(self, top):
        self.name = f"kc-{secrets.token_hex(4)}.service"
        self.folder = top / "system.slice" / self.name
        self.slice_was_there = self.folder.parent.exists()
        self.folder.mkdir(parents=True)

    @property
    def group(self):
        return f"unit:{self.name}"

    def run(self, *command, user=SERVICE, **options):
        """A program of the service, which runs as that user and in no login."""
        account = world.pwd.getpwnam(user)
        script = f'echo $$ > {self.folder}/cgroup.procs && exec "$@"'
        return world.run(
            "bash", "-c", script, "bash", "setpriv", "--reuid", account.pw_uid, "--regid",
            account.pw_gid, "--clear-groups", "keyctl", "session", "-", *command, check=False,
            **options)

    def get(self, *where, user=SERVICE, item=ITEM):
        return self.run(world.CONTROL, "get", *item, *where, user=user)

    def read(self):
        """By a program that is no tool of the keychain's."""
        return self.run(sys.executable, world.TOOLS / "client.py", "quiet:db:x").stdout.strip()

    def remove(self):
        self.folder.rmdir()
        if not self.slice_was_there:
            with contextlib.suppress(OSError):  # another test's unit is in it
                self.folder.parent.rmdir()


@pytest.fixture
def units(daemon):
    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    tops = [pathlib.Path(words[1]) for words in mounts if words[2] == "cgroup2"]
    if not tops or not os.access(tops[0], os.W_OK):
        pytest.skip("no control groups can be made here")
    made = []

    def make():
        made.append(Unit(tops[0]))
        return made[-1]

    yield make
    for unit in made:
        unit.remove()


@pytest.fixture
def root():
    world.make_account("root", ROOT_PASSWORD)


def as_root_who_is_there(*words):
    """On a terminal, where root is asked for the password."""
    asked = pexpect.spawn(str(world.CONTROL), list(words), encoding="utf-8", timeout=20)
    text = ""
    while asked.expect(["(?m)assword: ?$", pexpect.EOF]) == 0:
        text += asked.before
        asked.sendline(ROOT_PASSWORD)
    asked.close()
    return world.Result(asked.exitstatus, text + asked.before)


# Who reads

def test_a_service_reads_what_root_keeps_for_it_before_any_login(units, daemon):
    shop, other = units(), units()
    keep(shop.group)
    assert shop.get().stdout == "db-s3cret"
    assert shop.get(*IN_SYSTEM, user=OTHER_SERVICE).stdout == "db-s3cret"
    assert other.get().returncode == other.get(*IN_SYSTEM).returncode == NOT_FOUND
    daemon.restart()
    assert shop.get().stdout == "db-s3cret"
    assert any(name == "machine:system" for name in world.names_of_keys())


def test_a_unit_s_name_does_not_name_what_runs_as_a_person(units, login, daemon):
    """Any program of that user may trace it here, and speak in its name."""
    shop = units()
    keep(shop.group)
    for user in (ALICE[0], BOB[0]):
        assert shop.get(user=user).returncode == NOT_FOUND
        assert shop.get(*IN_SYSTEM, user=user).returncode == NOT_FOUND
    assert shop.get().stdout == "db-s3cret"
    # Nor does it name what runs as a service's user while there is a login of that user, where the
    # module tells of it.
    with session("cron", SERVICE, options="min_uid=1"):
        assert shop.get().returncode == NOT_FOUND
    assert shop.get().stdout == "db-s3cret"


def test_a_user_s_program_learns_nothing_of_it(units, login):
    shop = units()
    keep(shop.group)
    # What root adds without a group is that of root's tool, and not of everybody's.
    assert control("add", *ITEM, *IN_SYSTEM, input="tool-s3cret").returncode == 0
    shell = login(BOB)
    for words in (" ".join(ITEM), " ".join(ITEM) + " --keychain system",
                  " ".join(ITEM) + f" --keychain system --group {shop.group}"):
        got = shell.run(f"keychainctl get {words}")
        assert got.status != 0 and "s3cret" not in got.text, words
    listed = shell.run("keychainctl list generic-password --keychain system")
    assert listed.text.strip() == ""
    own = ("--group", f"exe:{world.CONTROL}")
    assert control("get", *ITEM, *IN_SYSTEM, *own).stdout == "tool-s3cret"


def test_a_trusted_list_lets_services_into_it_and_no_path(root, units, login, tools):
    """A path is everybody's who starts it."""
    shop, other = units(), units()
    assert control("add", *ITEM, *IN_SYSTEM, input="db-s3cret").returncode == 0
    for program in (shop.group, f"exe:{world.CONTROL}"):
        changed = as_root_who_is_there(
            "access", "add", *ITEM, *IN_SYSTEM, "--program", program)
        assert changed.status == 0, changed.text
    assert (shop.read(), other.read()) == ("<db-s3cret>", "<10>")
    shell = login(BOB)
    got = shell.run(f"keychainctl get {' '.join(ITEM)} --keychain system")
    assert got.status == NOT_FOUND and "s3cret" not in got.text


def test_a_policy_s_share_reaches_into_it_by_the_group_s_name_alone(units, admin, tools):
    shop, other = units(), units()
    keep("databases")
    keep(shop.group, "own-s3cret", item=("generic-password", "--service", "own"))
    assert shop.get().returncode == NOT_FOUND
    admin(f"""groups:
  - id: test.members
    group: databases
    members:
      - {{unit: {shop.name}}}
rules:
  - id: test.everything
    share: Meant for a user's own keychain.
    tags: [broad]
    operations: [read-secret, read-attributes]
    subject: {{user: [{SERVICE}]}}
    resource: {{access-group: "*"}}
""")
    # That a rule names the group for one service gives it to no other.
    assert shop.get().stdout == "db-s3cret" and shop.read() == "<db-s3cret>"
    assert other.get().returncode == NOT_FOUND and other.read() == "<10>"
    wanted = ("generic-password", "--service", "own")
    assert other.get(*IN_SYSTEM, item=wanted).returncode == NOT_FOUND


# Who changes it

@pytest.mark.parametrize("words", [
    ("add", *ITEM), ("update", *ITEM, "--secret-stdin"), ("delete", *ITEM)])
def test_no_user_but_root_fills_changes_or_empties_it(words, units):
    shop = units()
    keep(shop.group)
    before = size_of_system()
    for refused in (shop.run(world.CONTROL, *words, *IN_SYSTEM, input="x"),
                    world.as_user(BOB[0], world.CONTROL, *words, *IN_SYSTEM, input="x")):
        assert refused.returncode == REFUSED and "machine's" in refused.stderr, refused.stderr
    # Without a name it is not meant either.
    shop.run(world.CONTROL, *words, input="x")
    assert size_of_system() == before
    assert shop.get().stdout == "db-s3cret"


def test_a_unit_of_root_s_changes_what_a_service_reads_and_no_other_unit_does(units, admin):
    shop, rotation = units(), units()
    keep("databases")
    admin(f"""groups:
  - id: test.readers
    group: databases
    members:
      - {{unit: {shop.name}}}
  - id: test.rotation
    group: databases
    members:
      - {{unit: {rotation.name}, user: root}}
    mode: write
""")
    change = (world.CONTROL, "update", *ITEM, *IN_SYSTEM, "--group", "databases", "--secret-stdin")
    for unit in (shop, rotation):
        assert unit.run(*change, input="x").returncode == REFUSED
    changed = rotation.run(*change, user="root", input="n3w")
    assert changed.returncode == 0, changed.stderr
    assert shop.get().stdout == "n3w"


def size_of_system():
    with contextlib.closing(sqlite3.connect(world.STATE / "0/system.keychain")) as database:
        return database.execute("SELECT count(*) FROM item").fetchone()


def test_users_do_nothing_with_it_as_a_whole(login):
    shell = login()
    keep("unit:shop.service")
    for words, command in (
            ("a", "create system --password-stdin --no-recovery-key"), ("", "lock system"),
            ("a", "unlock system --password-stdin"),
            ("a", "set-password system --password-stdin"),
            ("", "settings system --lock-after 1h"), ("", "default-keychain --set system"),
            ("", "protector list --keychain system"),
            ("", "backup /tmp/kc-stolen --keychain system"),
            ("", "restore --generation 1 --keychain system")):
        got = shell.run(f"printf '{words}\\n' | keychainctl {command}")
        # Refused, and not misunderstood.
        assert got.status not in (0, USAGE), (command, got)
    assert not pathlib.Path("/tmp/kc-stolen").exists()
    state = {k["name"]: k for k in json.loads(shell.run("keychainctl status --json").text)[
        "keychains"]}
    assert state["system"]["state"] == "unlocked" and state["system"]["items"] == 0
    assert "Keychain “system”" not in shell.run("keychainctl doctor").text


def test_not_even_root_gives_it_a_password_that_services_could_not_type(daemon):
    opening = wire.unlock_with_recovery_key("system")
    assert wire.Client().ask(opening, b"no recovery key", b"new") == wire.REFUSED_NOT_IMPLEMENTED


def test_no_lock_closes_it_root_s_neither(units):
    shop = units()
    keep(shop.group)
    assert control("lock", "system").returncode != 0
    assert control("set-password", "system", "--password-stdin", input="new\n").returncode != 0
    control("lock")
    assert shop.get().stdout == "db-s3cret"


def test_another_s_file_under_its_name_is_not_searched(units, login, daemon):
    """What a user's folder has under the name does not come before root's."""
    shop = units()
    keep(shop.group)
    shell = login()
    made = "echo own | keychainctl create mine --password-stdin"
    assert shell.run(made).status == 0
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    folder = world.STATE / str(uid)
    (folder / "mine.keychain").rename(folder / "system.keychain")
    daemon.restart()
    assert shop.get(*IN_SYSTEM).stdout == "db-s3cret"
    assert shell.run("keychainctl status").text.count("“system”") == 1


# Root's own

def test_root_reads_back_what_it_keeps_when_it_is_there(root, units):
    shop = units()
    keep(shop.group)
    assert control("get", *ITEM, *IN_SYSTEM).returncode != 0
    assert "db-s3cret" in as_root_who_is_there("get", *ITEM, *IN_SYSTEM).text


def test_root_backs_it_up_and_restores_it(root, units, tmp_path):
    shop = units()
    keep(shop.group)
    file = str(tmp_path / "system.backup")
    assert control("backup", file, *IN_SYSTEM).returncode != 0
    assert as_root_who_is_there("backup", file, *IN_SYSTEM).status == 0
    keep(shop.group, "later", item=("generic-password", "--service", "later"))
    assert as_root_who_is_there("restore", file, *IN_SYSTEM).status == 0
    assert shop.get().stdout == "db-s3cret"
    assert shop.get(item=("generic-password", "--service", "later")).returncode == NOT_FOUND
    assert "system: all records are whole" in control("doctor").stdout


def test_a_tpm_opens_it_where_root_took_the_disk_s_key_away(root, units, daemon, tmp_path):
    shop = units()
    keep(shop.group)
    tpm = SoftwareTPM(tmp_path / "tpm").start()
    try:
        tpm.configure()
        daemon.restart()
        added = as_root_who_is_there("protector", "add", "tpm2", *IN_SYSTEM)
        assert added.status == 0, added.text
        listed = control("protector", "list", *IN_SYSTEM).stdout.split("\n")
        disk = next(line.split()[0] for line in listed if "device" in line)
        assert as_root_who_is_there("protector", "remove", disk.rstrip(","), *IN_SYSTEM).status == 0
        world.forget_keys()
        daemon.restart()
        assert shop.get().stdout == "db-s3cret"
        kept = next(line.split()[0] for line in listed if "tpm2" in line)
        left = as_root_who_is_there("protector", "remove", kept.rstrip(","), *IN_SYSTEM)
        assert left.status != 0, "nothing would open it any more"
    finally:
        tpm.end()
    world.forget_keys()
    daemon.restart()
    closed = shop.get(*IN_SYSTEM)
    assert closed.returncode not in (0, NOT_FOUND) and "s3cret" not in closed.stdout


# Search list and default keychain

def test_each_user_has_a_search_list_and_a_default_of_their_own(login):
    alice, bob = login(), login(BOB)
    for shell in (alice, bob):
        made = "echo own | keychainctl create work --password-stdin"
        assert shell.run(made).status == 0
    assert alice.run("keychainctl list-keychains").text.split() == ["login", "system"]
    assert alice.run("keychainctl default-keychain -s work").status == 0
    assert alice.run("keychainctl list-keychains -s work login").status == 0
    add = "printf {0} | keychainctl add generic-password --service {0}"
    assert alice.run(add.format("a")).status == bob.run(add.format("b")).status == 0
    got = "keychainctl get generic-password --service {} --keychain {}"
    assert "a" in alice.run(got.format("a", "work")).text.split()
    assert "b" in bob.run(got.format("b", "login")).text.split()
    assert bob.run("keychainctl default-keychain").text.split() == ["login"]
    # The list is there for the next daemon too, and leads to no other user's.
    assert alice.run("keychainctl list-keychains -s login /var/lib/keychain/0/login").status != 0
    assert alice.run("keychainctl list-keychains").text.split() == ["work", "login"]
    assert bob.run("keychainctl get generic-password --service a").status == NOT_FOUND


def test_what_was_said_outlives_the_daemon(login, daemon):
    shell = login()
    assert shell.run("keychainctl list-keychains -s login").status == 0
    daemon.restart()
    assert shell.run("keychainctl list-keychains").text.split() == ["login"]
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    assert (world.STATE / str(uid) / "preferences").stat().st_mode & 0o777 == 0o600


def test_a_service_finds_its_item_although_its_user_s_own_keychain_is_locked(units, login):
    shop = units()
    keep(shop.group)
    shell = login()
    shell.run("printf x | keychainctl add generic-password --service mine")
    assert shell.run("keychainctl lock").status == 0
    assert shop.get().stdout == "db-s3cret"


def test_status_tells_users_whose_it_is_and_no_more(login):
    line, *more = [part for part in login().run("keychainctl status").text.split("\n\n")
                   if "“system”" in part]
    assert line.strip() == \
        "Keychain “system”: the machine's own, which root keeps for its services." and not more
    told = control("status").stdout
    assert "Keychain “system”: unlocked." in told and "0/system.keychain" in told
