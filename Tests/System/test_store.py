# SPDX-License-Identifier: Apache-2.0
"""The file on disk: what it shows, and what happens when it is not as it should be."""

import pathlib
import sqlite3

import pytest

import world
from conftest import ALICE

ADD = ("printf tell-nobody | keychainctl add generic-password --service mail-service"
       " --account alice-account --label the-label --comment a-comment")
GET = "keychainctl get generic-password --service mail-service"


def keychain_file():
    return next(world.STATE.glob("*/login.keychain"))


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


def test_the_file_is_the_worker_s_alone(shell):
    own = keychain_file().parent.stat().st_uid
    assert own not in (0, world.number_of(ALICE[0]))
    for path in keychain_file().parent.iterdir():
        assert path.stat().st_uid == own and path.stat().st_mode & 0o077 == 0, path
    assert shell.run(f"cat {keychain_file()}").status != 0


def test_the_file_shows_nothing_of_an_item(shell, daemon):
    daemon.stop()
    words = ("mail-service", "alice-account", "the-label", "a-comment", "tell-nobody",
             str(world.CONTROL), "svce", "acct")
    for path in keychain_file().parent.iterdir():
        shown = world.run("strings", "-n", "4", path).stdout
        for word in words:
            assert word not in shown, (path, word)
    database = sqlite3.connect(keychain_file())
    for (table,) in database.execute("select name from sqlite_master where type = 'table'"):
        for row in database.execute(f"select * from {table}"):
            for value in row:
                text = value if isinstance(value, bytes) else str(value).encode()
                assert not any(word.encode() in text for word in words), (table, row)


def test_a_secret_of_any_bytes_comes_back_and_harms_no_other(shell, daemon):
    # A line end in one secret has cost other keyrings all of theirs.
    shell.run("printf 'a\\nb\\n\\0\\377[x]\\n=\\n' > odd; keychainctl add generic-password"
              " --service $'odd\\nname' < odd")
    daemon.restart()
    read = "keychainctl get generic-password --service $'odd\\nname' | cmp - odd; rm odd"
    assert shell.run(read).text == ""
    assert shell.run(GET).text.strip() == "tell-nobody"


def damaged(path, how):
    data = path.read_bytes()
    for side in ("-wal", "-shm"):
        pathlib.Path(str(path) + side).unlink(missing_ok=True)
    if how == "empty":
        path.write_bytes(b"")
    elif how == "truncated":
        path.write_bytes(data[: len(data) // 2])
    elif how == "noise":
        path.write_bytes(bytes(range(256)) * 64)
    elif how == "newer":
        database = sqlite3.connect(path)
        database.execute("pragma user_version = 999")
        database.commit()
        database.close()
    return path.read_bytes()


@pytest.mark.parametrize("how", ["empty", "truncated", "noise", "newer"])
def test_a_file_that_cannot_be_read_is_said_so_and_left_alone(how, shell, daemon):
    daemon.stop()
    left = damaged(keychain_file(), how)
    daemon.start()
    result = shell.run(GET)
    assert result.status == (1 if how == "newer" else 8), result
    assert shell.run(ADD).status == result.status
    assert shell.run("keychainctl create login --no-recovery-key", [ALICE[1], ALICE[1]]).status == 9
    assert keychain_file().read_bytes() == left
    assert shell.run("keychainctl status").status in (0, result.status)


def test_the_login_goes_on_with_a_damaged_keychain(shell, daemon, login):
    shell.close()
    daemon.stop()
    damaged(keychain_file(), "noise")
    daemon.start()
    again = login()
    assert again.run("true").status == 0
    assert again.run(GET).status == 8
