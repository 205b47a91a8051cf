# SPDX-License-Identifier: Apache-2.0
"""The user number of each worker, which is the owner of its user's folder: how it is chosen and kept, and
what becomes of folders that root changed."""

import os
import shutil

import pytest

import world
from conftest import ALICE, BOB

ADD = "printf {} | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail --account me </dev/null"
FIRST, COUNT = 0x7B000000, 65536


def uid(who):
    return world.number_of(who[0])


def folder(who):
    return world.folder_of(who[0])


def number(who):
    return world.worker_number(who[0])


def own(who):
    """The number that a user gets where it is free."""
    return FIRST + uid(who) % COUNT


def free(after):
    """The first number that no user's folder has."""
    taken = world.numbers()
    return next(number for number in range(after + 1, FIRST + COUNT) if number not in taken)


def give(path, to):
    for entry in path, *path.iterdir():
        os.chown(entry, to, to)


def owners(path):
    return {(entry.stat().st_uid, entry.stat().st_gid) for entry in (path, *path.iterdir())}


def reads(shell):
    """The item, or what was said instead."""
    return shell.run(GET).text.strip()


def test_a_worker_s_number_follows_from_its_user_s_and_is_kept(shells, daemon):
    for who in ALICE, BOB:
        assert number(who) == own(who)
    # What was chosen once stays, whatever would be chosen now.
    daemon.stop()
    other = free(own(ALICE))
    give(folder(ALICE), other)
    daemon.start()
    # The ticket is the former number's, so that the login has to unlock once more.
    assert shells[0].run("keychainctl unlock", [ALICE[1]]).status == 0
    assert reads(shells[0]) == "of-alice"
    assert owners(folder(ALICE)) == {(other, other)}
    assert owners(world.RUN / "users" / str(uid(ALICE))) == {(other, other)}


def test_a_place_that_another_user_s_folder_has_is_passed_over(login, daemon):
    daemon.stop()
    shutil.rmtree(folder(ALICE), ignore_errors=True)
    taken = world.STATE / "3999999"
    taken.mkdir(mode=0o700)
    os.chown(taken, own(ALICE), own(ALICE))
    expected = free(own(ALICE))
    daemon.start()
    shell = login()
    assert shell.run(ADD.format("of-alice")).status == 0
    assert number(ALICE) == expected
    assert taken.stat().st_uid == own(ALICE)


@pytest.mark.parametrize("what", ["all of it", "the folder", "a file"])
def test_what_is_root_s_in_a_folder_that_was_put_back_becomes_the_worker_s(what, shells, daemon):
    before = number(ALICE)
    daemon.stop()
    given = {"all of it": [folder(ALICE), *folder(ALICE).iterdir()], "the folder": [folder(ALICE)],
             "a file": [folder(ALICE) / "login.keychain"]}[what]
    for entry in given:
        os.chown(entry, 0, 0)
    daemon.start()
    assert reads(shells[0]) == "of-alice"
    assert owners(folder(ALICE)) == {(before, before)}


def refused(shell, daemon, *words):
    answer = shell.run(GET)
    assert answer.status == 1 and "of-alice" not in answer.text, answer
    for word in words:
        assert word in daemon.log(), daemon.log()


def test_a_folder_of_an_account_s_is_refused_and_the_log_says_what_to_do(shells, daemon):
    daemon.stop()
    give(folder(ALICE), uid(ALICE))
    daemon.start()
    refused(shells[0], daemon, f"{folder(ALICE)} belongs to uid {uid(ALICE)}; chown it")
    assert owners(folder(ALICE)) == {(uid(ALICE), uid(ALICE))}
    assert reads(shells[1]) == "of-bob"
    give(folder(ALICE), 0)
    daemon.restart()
    assert reads(shells[0]) == "of-alice"


def test_two_users_never_share_a_number(shells, daemon):
    """As after a copy of a folder under another number, with its owner."""
    daemon.stop()
    give(folder(ALICE), number(BOB))
    daemon.start()
    refused(shells[0], daemon, "both belong to uid", "chown the one that was copied")
    give(folder(ALICE), 0)
    daemon.restart()
    assert reads(shells[1]) == "of-bob"
    world.wait_for(lambda: reads(shells[0]) == "of-alice", "the worker to be tried again")
    assert number(ALICE) != number(BOB)


def test_a_file_with_a_second_name_is_refused_and_stays_whose_it_is(shells, daemon):
    daemon.stop()
    secret = world.STATE / "of-root"
    secret.write_text("text")
    os.link(secret, folder(ALICE) / "of-root")
    daemon.start()
    refused(shells[0], daemon, "has several names")
    assert secret.stat().st_uid == 0
    secret.unlink()
    (folder(ALICE) / "of-root").unlink()
    daemon.restart()
    assert reads(shells[0]) == "of-alice"


def test_records_of_a_former_number_are_removed_after_the_state_was_lost(shells, daemon):
    daemon.stop()
    records = world.RUN / "users" / str(uid(ALICE))
    assert list(records.iterdir())
    give(records, own(BOB))
    shutil.rmtree(folder(ALICE))
    daemon.start()
    assert shells[0].run("keychainctl status").status == 0
    assert owners(records) == {(own(ALICE), own(ALICE))}
