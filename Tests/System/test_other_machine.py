# SPDX-License-Identifier: Apache-2.0
"""The machine's keychain on another machine: what a backup needs to open there, and who says so."""

import shutil

import pexpect
import pytest

import world
from conftest import forget_keys
from test_protectors import PAPER
from test_several_keychains import (  # noqa: F401
    IN_SYSTEM, NOT_FOUND, ROOT_PASSWORD, as_root_who_is_there, control, keep, root, units)

LATER = ("generic-password", "--service", "later")


@pytest.fixture
def elsewhere(daemon):
    """The same accounts on a machine with a device key of its own."""

    def move():
        daemon.stop()
        forget_keys()
        for entry in world.STATE.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        daemon.start()

    return move


def write_down():
    """Root adds a recovery key to it, and has it on paper."""
    asked = pexpect.spawn(str(world.CONTROL), ["protector", "add", "recovery-key", *IN_SYSTEM],
                          encoding="utf-8", timeout=world.PATIENCE)
    asked.expect(r"Group (\d) of the recovery key: ")
    paper = PAPER.search(asked.before).group()
    asked.sendline(paper.split("-")[int(asked.match.group(1)) - 1])
    asked.expect("(?m)assword: ?$")
    asked.sendline(ROOT_PASSWORD)
    asked.expect(pexpect.EOF)
    asked.close()
    assert asked.exitstatus == 0, asked.before
    return paper


def add_device(paper):
    asked = pexpect.spawn(
        str(world.CONTROL), ["protector", "add", "device", *IN_SYSTEM, "--recovery-key"],
        encoding="utf-8", timeout=world.PATIENCE)
    asked.expect(r"ecovery key[^\n]*: ?$")
    asked.sendline(paper)
    asked.expect("(?m)assword: ?$")
    asked.sendline(ROOT_PASSWORD)
    asked.expect(pexpect.EOF)
    asked.close()
    return world.Result(asked.exitstatus, asked.before)


def back_up(tmp_path):
    file = str(tmp_path / "system.backup")
    made = as_root_who_is_there("backup", file, *IN_SYSTEM)
    assert made.status == 0, made
    return file, made.text


def test_with_its_recovery_key_services_read_their_items_there(root, units, elsewhere, daemon,  # noqa: F811
                                                               tmp_path):
    shop = units()
    keep(shop.group)
    paper = write_down()
    file, said = back_up(tmp_path)
    assert "only this machine" not in said
    elsewhere()
    keep(shop.group, "later-s3cret", item=LATER)
    restored = as_root_who_is_there("restore", file, *IN_SYSTEM)
    assert restored.status == 0 and "closed to services" in restored.text, restored
    assert "protector add device" in restored.text
    closed = shop.get(*IN_SYSTEM)
    assert closed.returncode not in (0, NOT_FOUND) and closed.stdout == ""
    opened = add_device(paper)
    assert opened.status == 0, opened
    assert shop.get().stdout == "db-s3cret"
    # By itself from now on, and no other machine's key is needed.
    forget_keys()
    daemon.restart()
    assert shop.get().stdout == "db-s3cret"
    twice = control("protector", "add", "device", *IN_SYSTEM)
    assert twice.returncode != 0 and "is one already" in twice.stderr
    assert "system: all records are whole" in control("doctor").stdout


def test_without_one_the_backup_says_so_and_nothing_is_replaced_there(root, units, elsewhere,  # noqa: F811
                                                                      tmp_path):
    shop = units()
    keep(shop.group)
    file, said = back_up(tmp_path)
    assert "only this machine opens what is in it" in said
    elsewhere()
    keep(shop.group, "later-s3cret", item=LATER)
    refused = as_root_who_is_there("restore", file, *IN_SYSTEM)
    assert refused.status != 0 and "nothing on this machine opens" in refused.text, refused
    assert shop.get(item=LATER).stdout == "later-s3cret"
    assert not list(world.STATE.glob("0/*incoming*"))


@pytest.mark.parametrize("words", [(), ("--keychain", "login")])
def test_this_machine_s_own_key_opens_no_user_s_keychain(words, daemon):
    assert control("protector", "add", "device", *words).returncode == 2
