# SPDX-License-Identifier: Apache-2.0
"""The record of what was asked, as its command shows it to root and to no other user."""

import json
import pwd
import signal
import subprocess
import time

import pytest

import world
from conftest import ALICE, BOB
from test_presence import ADD, GET


def audit(*options):
    lines = world.run(world.CONTROL, "audit", "--json", *options).stdout.splitlines()
    return [json.loads(line) for line in lines]


def test_a_refusal_and_a_proof_are_on_record_and_no_secret_is(login):
    shell = login()
    assert shell.run(ADD).status == 0
    assert shell.run(GET, ["wrong", "wrong too", "wrong again"]).status == 6
    world.wait_for(lambda: audit("--denied"), "the refusal to be recorded")
    refused, = audit("--denied")
    assert refused["outcome"] == "authenticationFailed"
    assert refused["user"] == pwd.getpwnam(ALICE[0]).pw_uid
    assert refused["program"] == f"exe:{world.CONTROL}"
    # A wrong answer costs two seconds; trying again meanwhile would use the baseline's questions up.
    time.sleep(2.2)
    assert shell.run(GET, [ALICE[1]]).status == 0
    proven = [record for record in audit() if record["evidence"]]
    assert [record["outcome"] for record in proven] == ["allowed"]
    named, = proven[0]["items"]
    assert proven[0] in audit("--item", named[:6]) and not audit("--item", "none")
    everything = world.run(world.CONTROL, "audit").stdout
    assert "bank-s3cret" not in everything and ALICE[1] not in everything
    assert audit("--since", "1h", "--caller", "keychainctl") and not audit("--since", "0s")
    assert audit("--caller", str(refused["user"])) and not audit("--caller", "git")


def test_it_is_followed_while_the_daemon_writes(login):
    process = subprocess.Popen([world.CONTROL, "audit", "--follow", "--json", "--caller",
                                str(pwd.getpwnam(BOB[0]).pw_uid)],
                               stdout=subprocess.PIPE, text=True)
    try:
        assert login(BOB).run(ADD).status == 0
        operations = []
        while "add" not in operations:
            operations.append(json.loads(process.stdout.readline())["operation"])
    finally:
        process.kill()
        process.wait()


def test_a_user_is_told_that_only_root_may_read_it(login):
    told = login().run("keychainctl audit")
    assert told.status == 5 and "only root" in told.text and "sudo" in told.text


# As keychaind(8) says it.
RECORDS = "MESSAGE_ID=ad6a9009a3284defab5968290d73a1c2"


@pytest.fixture
def journal():
    running = world.SystemJournal().start()
    yield running
    running.stop()


def test_the_journal_has_each_record_in_fields(journal, login):
    shell = login()
    assert shell.run(ADD).status == 0
    assert shell.run(GET, [ALICE[1]]).status == 0
    assert shell.run(ADD).status == 9
    # A wrong answer costs two seconds; trying again meanwhile would use the baseline's questions up.
    time.sleep(2.2)
    assert shell.run(GET, ["wrong", "wrong too", "wrong again"]).status == 6
    uid = pwd.getpwnam(ALICE[0]).pw_uid
    refusals = (RECORDS, "KEYCHAIN_OUTCOME=authenticationFailed", f"KEYCHAIN_UID={uid}")
    world.wait_for(lambda: journal.entries(*refusals), "the refusal")
    refused, = journal.entries(*refusals)
    assert refused["KEYCHAIN_OPERATION"] == "copyMatching" and refused["PRIORITY"] == "5"
    # That there is such an item already is a state of the keychain, and no refusal.
    known, = journal.entries(RECORDS, "KEYCHAIN_OUTCOME=duplicate", f"KEYCHAIN_UID={uid}")
    assert known["KEYCHAIN_OPERATION"] == "add" and known["PRIORITY"] == "6"
    assert known["KEYCHAIN_PROGRAM"] == f"exe:{world.CONTROL}"
    assert known["MESSAGE"] == f"add by user {uid}'s exe:{world.CONTROL}: duplicate"
    proven, = journal.entries(RECORDS, "KEYCHAIN_EVIDENCE=presence")
    assert proven["KEYCHAIN_OUTCOME"] == "allowed" and proven["PRIORITY"] == "6"
    known, = [record for record in audit() if record["evidence"]]
    assert [proven["KEYCHAIN_ITEM"]] == known["items"]
    assert "bank" not in json.dumps(journal.entries(RECORDS))


def test_a_journal_that_hangs_keeps_no_program_waiting(journal, daemon, login):
    """Its socket is full after some ten entries."""
    shell = login()
    assert shell.run(ADD).status == 0
    journal.process.send_signal(signal.SIGSTOP)
    missing = "for n in $(seq 15); do keychainctl delete generic-password --service none; done"
    assert shell.run(missing).status == 3
    assert len([record for record in audit() if record["outcome"] == "notFound"]) == 15
    journal.process.send_signal(signal.SIGCONT)
    world.wait_for(lambda: len(journal.entries("KEYCHAIN_OUTCOME=notFound")) == 15, "the rest")
    # Nor does it the daemon that ends.
    journal.process.send_signal(signal.SIGSTOP)
    assert shell.run(missing).status == 3
    daemon.stop()
