# SPDX-License-Identifier: Apache-2.0
"""Accounts that were deleted, made with a number that was another's, or renamed."""

import pathlib
import pwd
import shutil
import time

import pytest

import world

OLD = ("kc-former", "former words 1")
NEW = ("kc-today", "words of today 2")
RENAMED = pathlib.Path("/etc/keychain/renamed-accounts")
ADD = "printf tell-nobody | keychainctl add generic-password --service mail"
GET = "keychainctl get generic-password --service mail </dev/null"
ANOTHER_S = "belongs to another account"
# The daemon looks at the administrator's files every two seconds, and remembers for five what an
# account is called.
SOON = 30


def known_by_now():
    time.sleep(6)


def forget(name):
    world.run("userdel", "--remove", "--force", name, check=False)
    world.run("groupdel", name, check=False)


@pytest.fixture
def number(login):
    """That of an account with an item in its keychain, which has logged out."""
    entry = world.make_account(*OLD)
    shell = login(OLD)
    assert shell.run(ADD).status == 0
    assert shell.run(GET).text.strip() == "tell-nobody"
    shell.close()
    yield entry.pw_uid
    RENAMED.unlink(missing_ok=True)
    for name in (NEW[0], OLD[0]):
        forget(name)


def test_who_gets_the_number_of_a_deleted_account_gets_none_of_its_keychains(number, login, daemon):
    world.run("userdel", "--remove", OLD[0])
    world.run("useradd", "--create-home", "--shell", "/bin/bash", "--uid", str(number), NEW[0])
    world.run("chpasswd", input=f"{NEW[0]}:{NEW[1]}\n")
    assert pwd.getpwnam(NEW[0]).pw_uid == number
    known_by_now()
    # The same password gives it no more.
    for password in (NEW[1], OLD[1]):
        world.run("chpasswd", input=f"{NEW[0]}:{password}\n")
        shell = login((NEW[0], password))
        for command, answers in (
                (GET, ()), (ADD, ()), ("keychainctl unlock", [password]),
                ("keychainctl list generic-password", ()),
                ("keychainctl delete generic-password --service mail", ()),
                ("keychainctl set-password", ["words 3", "words 3", password]),
                ("keychainctl backup ~/kc.backup", [password])):
            found = shell.run(command, answers)
            assert found.status != 0 and ANOTHER_S in found.text, (command, found)
            assert "tell-nobody" not in found.text, (command, found)
        told = shell.run("keychainctl doctor | cat").text
        assert ANOTHER_S in told and "renamed-accounts" in told, told
        assert ANOTHER_S in shell.run("keychainctl status").text
        shell.close()

    # Once root has put it away, the next login makes a keychain, and nothing of the old is in it.
    folder = world.STATE / str(number)
    shutil.move(folder, world.STATE / "put-away")
    try:
        shell = login((NEW[0], OLD[1]))
        assert shell.run(GET).status == 3
        assert shell.run(ADD.replace("tell-nobody", "of-today")).status == 0
        assert shell.run(GET).text.strip() == "of-today"
        assert ANOTHER_S not in shell.run("keychainctl doctor | cat").text
    finally:
        shutil.rmtree(world.STATE / "put-away")


def rename(old, new):
    world.run("usermod", "--login", new[0], "--home", f"/run/home/{new[0]}", "--move-home", old[0])
    world.run("chpasswd", input=f"{new[0]}:{new[1]}\n")


def opens_soon(shell, password):
    world.wait_for(lambda: shell.run("keychainctl unlock", [password]).status == 0,
                   "the line to be read", SOON)


def test_a_renamed_account_has_its_keychain_back_when_root_says_so(number, login, daemon):
    renamed = (NEW[0], OLD[1])
    rename(OLD, renamed)
    known_by_now()
    shell = login(renamed)
    found = shell.run(GET)
    assert found.status != 0 and ANOTHER_S in found.text and "renamed-accounts" in found.text, found
    # A line about another account changes nothing for this one.
    RENAMED.write_text(f"# Names of before and of today\nkc-elsewhere {NEW[0]}-too\n")
    assert ANOTHER_S in shell.run(GET).text
    RENAMED.write_text(f"{OLD[0]} {NEW[0]}\n")
    opens_soon(shell, OLD[1])
    assert shell.run(GET).text.strip() == "tell-nobody"
    shell.close()
    # From now on by each login, and after each start.
    daemon.restart()
    shell = login(renamed)
    assert shell.run(GET).text.strip() == "tell-nobody"
    assert shell.run("printf m0re | keychainctl add generic-password --service more").status == 0
    assert ANOTHER_S not in shell.run("keychainctl doctor | cat").text
    # A mistake in the file is told, and what was in force stays in force.
    RENAMED.write_text(f"{OLD[0]} {NEW[0]}\nkc-else {NEW[0]}\n")
    world.wait_for(lambda: "is there twice" in daemon.log(), "the mistake to be told", SOON)
    assert shell.run(GET).text.strip() == "tell-nobody"
    # Whose number and former name it was, but whom no line names, has nothing of it.
    RENAMED.unlink()
    world.wait_for(lambda: ANOTHER_S in shell.run(GET).text, "the line to be forgotten", SOON)
    shell.close()


def test_a_line_gives_a_keychain_to_no_account_of_another_number(number, login):
    """The name alone is not the account."""
    world.make_account(*NEW)
    RENAMED.write_text(f"{OLD[0]} {NEW[0]}\n")
    shell = login(NEW)
    assert shell.run(GET).status == 3
    shell.close()
    shell = login(OLD)
    assert shell.run(GET).text.strip() == "tell-nobody"
    shell.close()
