# SPDX-License-Identifier: Apache-2.0
"""The record of what was asked, as its command shows it to root and to nobody else."""

import json
import pwd
import subprocess
import time

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
