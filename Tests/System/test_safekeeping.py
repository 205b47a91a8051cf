# SPDX-License-Identifier: Apache-2.0
"""Backups, earlier states and the doctor, through the daemon."""

import json
import os
import pwd
import sqlite3

import pytest

import world
from conftest import ALICE, BOB
from test_store import keychain_file

ADD = "printf {1} | keychainctl add generic-password --service {0}"
GET = "keychainctl get generic-password --service {0}"
BACKUP = "keychainctl backup ~/kc.backup --force"
RESTORE = "keychainctl restore ~/kc.backup"


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD.format("mail", "tell-nobody")).status == 0
    yield shell
    for name in (ALICE[0], BOB[0]):
        for left in os.scandir(pwd.getpwnam(name).pw_dir):
            if "backup" in left.name:
                os.unlink(left)


def home(name):
    return pwd.getpwnam(name).pw_dir


def generation(daemon):
    """The daemon looks for what has changed when it starts, and then from time to time."""
    daemon.restart()
    return world.wait_for(lambda: list(world.STATE.glob("*/login.keychain.generation-*")),
                          "an earlier state to be kept")


def test_a_backup_is_the_user_s_own_file_and_shows_nothing(shell):
    answered = shell.run(BACKUP, [ALICE[1]])
    assert answered.status == 0, answered
    assert "copy all of your keychain “login”" in answered.text
    found = os.stat(home(ALICE[0]) + "/kc.backup")
    assert found.st_uid == pwd.getpwnam(ALICE[0]).pw_uid and found.st_mode & 0o077 == 0
    content = open(home(ALICE[0]) + "/kc.backup", "rb").read()
    assert content.startswith(b"KCBACKUP")
    assert b"tell-nobody" not in content and b"mail" not in content
    secret = next(world.STATE.glob("*/login.device-secret")).read_bytes()
    assert secret not in content


def test_nothing_of_a_backup_stays_with_the_daemon(shell):
    assert shell.run(BACKUP, [ALICE[1]]).status == 0
    assert shell.run(RESTORE, [ALICE[1]]).status == 0
    names = {path.name for path in keychain_file().parent.iterdir()}
    assert not {name for name in names if "backup-" in name or "incoming" in name}, names


@pytest.mark.parametrize("command", [BACKUP, RESTORE, "keychainctl restore --generation 1"])
def test_it_asks_for_its_user(shell, daemon, command):
    generation(daemon)
    assert shell.run(BACKUP, [ALICE[1]]).status == 0
    before = open(home(ALICE[0]) + "/kc.backup", "rb").read()
    refused = shell.run(command, ["wrong", "wrong too", "wrong again"])
    assert refused.status == 6, refused
    assert shell.run("setsid -w " + command + " </dev/null 2>&1").status == 4
    assert open(home(ALICE[0]) + "/kc.backup", "rb").read() == before
    assert shell.run(GET.format("mail")).status == 0


def test_what_was_deleted_comes_back_and_opens_with_the_password(shell):
    assert shell.run(BACKUP, [ALICE[1]]).status == 0
    assert shell.run("keychainctl delete generic-password --all").status == 0
    assert shell.run(ADD.format("later", "x")).status == 0
    restored = shell.run(RESTORE, [ALICE[1]])
    assert restored.status == 0 and "generation" in restored.text, restored
    assert shell.run(GET.format("mail")).status == 4
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert "tell-nobody" in shell.run(GET.format("mail")).text
    assert shell.run(GET.format("later")).status == 3


def test_another_user_s_backup_is_refused(shell, login):
    assert shell.run(BACKUP, [ALICE[1]]).status == 0
    world.run("cp", home(ALICE[0]) + "/kc.backup", home(BOB[0]) + "/kc.backup")
    world.run("chown", BOB[0], home(BOB[0]) + "/kc.backup")
    other = login(BOB)
    assert other.run(ADD.format("mail", "bob-s")).status == 0
    assert other.run(RESTORE, [BOB[1]]).status == 5
    assert "bob-s" in other.run(GET.format("mail")).text


def test_an_earlier_state_is_kept_and_the_worker_s_alone(shell, daemon):
    kept = generation(daemon)
    own = keychain_file().parent.stat().st_uid
    assert all(path.stat().st_uid == own and path.stat().st_mode & 0o077 == 0 for path in kept)
    assert shell.run("keychainctl restore --list").text.strip()[:1].isdigit()


def test_a_keychain_that_cannot_be_read_comes_back_from_a_backup(shell, daemon):
    assert shell.run(BACKUP, [ALICE[1]]).status == 0
    path = keychain_file()
    daemon.stop()
    for end in ("-wal", "-shm"):
        if os.path.exists(f"{path}{end}"):
            os.unlink(f"{path}{end}")
    path.write_bytes(b"noise" * 3000)
    daemon.start()
    assert shell.run(GET.format("mail")).status == 8
    assert shell.run(RESTORE, [ALICE[1]]).status == 0
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert "tell-nobody" in shell.run(GET.format("mail")).text
    assert path.with_name("login.keychain.damaged-1").read_bytes() == b"noise" * 3000


def test_no_new_keychain_is_made_where_one_is_gone_and_its_copies_are_not(login, shell, daemon):
    generation(daemon)
    path = keychain_file()
    secret = path.with_name("login.device-secret")
    kept = secret.read_bytes()
    daemon.stop()
    for end in ("", "-wal", "-shm"):
        if os.path.exists(f"{path}{end}"):
            os.unlink(f"{path}{end}")
    # What an interrupted restore leaves.
    new = path.with_name("login.keychain.incoming-new")
    new.write_bytes(b"noise")
    daemon.start()
    assert new.exists(), "the start of the service removed what a restore needs"
    again = login()
    found = again.run(GET.format("mail"))
    assert found.status == 8 and "is gone" in found.text, found
    status = again.run("keychainctl status").text
    assert "login.keychain.generation-1" in status and "login.keychain.incoming-new" in status
    refused = again.run("keychainctl create login --no-recovery-key", [ALICE[1], ALICE[1]])
    assert refused.status == 8, refused
    assert not path.exists() and secret.read_bytes() == kept
    assert again.run("keychainctl restore --generation 1", [ALICE[1]]).status == 0
    assert again.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert "tell-nobody" in again.run(GET.format("mail")).text


def test_the_doctor_sets_damaged_records_aside(shell, daemon):
    assert shell.run(ADD.format("bank", "whole")).status == 0
    daemon.stop()
    database = sqlite3.connect(keychain_file())
    with database:
        database.execute("update item set secret = zeroblob(length(secret)) where id = 1")
    database.close()
    daemon.start()
    found = shell.run("keychainctl doctor")
    assert found.status == 1 and "1 damaged record" in found.text, found
    mended = shell.run("keychainctl doctor --repair")
    assert "set aside" in mended.text and "damaged record\n" not in mended.text, mended
    assert shell.run(GET.format("bank")).status == 0
    assert "damaged records set aside: 1" in shell.run("keychainctl status").text


def test_the_doctor_says_what_happens_at_a_login(shell):
    text = shell.run("keychainctl doctor").text
    assert "keychain-test-sshd: the password of a login unlocks the login keychain" in text
    assert "keychaind answers" in text and "PAM's service keychain-presence" in text


def test_the_doctor_leaves_the_policies_in_force_to_their_readers(daemon):
    """The compiler has an account of its own."""
    sources = world.STATE / "policy.sources"
    world.wait_for(sources.exists, "the policies that were kept")
    found = world.run(world.CONTROL, "doctor", "--repair", check=False)
    assert str(sources) not in found.stdout and sources.stat().st_mode & 0o777 == 0o755
    sources.chmod(0o777)
    found = world.run(world.CONTROL, "doctor", check=False)
    assert f"{sources} is open to others" in found.stdout
    world.run(world.CONTROL, "doctor", "--repair", check=False)
    assert sources.stat().st_mode & 0o777 == 0o755


def test_the_doctor_closes_files_that_are_open_to_others(shell, daemon):
    path = keychain_file()
    path.chmod(0o644)
    found = world.run(world.CONTROL, "doctor", check=False)
    assert found.returncode == 1 and f"{path} is open to others" in found.stdout
    world.run(world.CONTROL, "doctor", "--repair", check=False)
    assert path.stat().st_mode & 0o777 == 0o600


def export(shell, password):
    """`export --unencrypted`, agreed to; the password is typed as often as it is asked for."""
    shell.send("keychainctl export ~/backup.json --unencrypted; echo \"<status $?>\"")
    asked = 0
    said = ""
    while True:
        found = shell.terminal.expect(
            [r"<status (\d+)>\r\n", "assword[^\n]*: ?$", r"Go on\? \[y/N\] "])
        said += shell.terminal.before
        if found == 0:
            break
        asked += found == 1
        shell.terminal.sendline(password if found == 1 else "y")
    status = int(shell.terminal.match.group(1))
    shell.terminal.expect_exact(shell.PROMPT)
    assert asked > 0, said
    return status, said


def test_a_list_is_whole_where_other_programs_have_items_of_several_classes(shell):
    """Each class is listed for a proof of its own."""
    assert shell.run("security add-generic-password -s shop -a me -w other").status == 0
    assert shell.run("security add-internet-password -s web -a me -w w3b").status == 0
    listed = shell.run("keychainctl list", [ALICE[1]] * 2)
    assert listed.status == 0 and "shop/me" in listed.text and "web/me" in listed.text, listed


def test_unencrypted_passwords_leave_for_the_password_alone(shell):
    # What another program stored is exported too, and asked for first.
    assert shell.run("printf other | security add-generic-password -s shop -a me -w other").status == 0
    added = shell.run("security add-internet-password -s web -a me -w w3b")
    assert added.status == 0, added
    path = os.path.join(home(ALICE[0]), "backup.json")
    status, said = export(shell, ALICE[1])
    assert status == 0, said
    exported = json.loads(open(path).read())
    assert {item["name"]: item["login"]["password"] for item in exported["items"]} == {
        "mail": "tell-nobody", "shop": "other", "web": "w3b"}
    assert os.stat(path).st_mode & 0o777 == 0o600
    os.unlink(path)
    assert export(shell, "not it")[0] != 0 and not os.path.exists(path)
