# SPDX-License-Identifier: Apache-2.0
"""The approval of another person: by that person's password, where the asker is asked, and by no
password of the asker's."""

import os
import pathlib
import pwd
import socket
import subprocess

import pytest

import world
from conftest import ALICE, BOB
from test_policies import ADD, GET, admin, audit  # noqa: F401

AUTH = world.PREFIX / "libexec/keychain/keychain-auth"
SERVICE = pathlib.Path("/etc/pam.d/keychain-approval")
READ = GET.format("bank")
REFUSED = 6


def rule(who):
    return f"""rules:
  - id: test.approved
    require: {{approval: {who}}}
    scope: operation
    operations: read-secret
    resource: {{service: bank}}
"""


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD.format("bank")).status == 0
    return shell


def read(shell, name, *passwords):
    """What comes of a read that one of several people approves."""
    shell.send(READ + '; echo "<status $?>"')
    shell.terminal.expect(f"approval of another person than {ALICE[0]}: [^\\n]*\\n")
    shell.terminal.expect(r"Who approves \([^)]*\): ?$")
    shell.terminal.sendline(name)
    for password in passwords:
        shell.terminal.expect("(?m)assword: ?$")
        shell.terminal.sendline(password)
    shell.terminal.expect(r"<status (\d+)>\r\n")
    said, status = shell.terminal.before, int(shell.terminal.match.group(1))
    shell.terminal.expect_exact(shell.PROMPT)
    return status, said


def test_another_person_s_password_lets_the_asker_read_and_is_on_record(shell, admin, daemon):
    admin(rule(f"[{BOB[0]}, root]"))
    status, said = read(shell, BOB[0], BOB[1])
    assert status == 0 and "bank-s3cret" in said
    records = audit(daemon)
    proven = [record for record in records if f"approval by {BOB[0]}" in record["evidence"]]
    assert len(proven) == 1
    assert proven[0]["user"] == pwd.getpwnam(ALICE[0]).pw_uid
    loads = [record for record in records if record["operation"] == "loadPolicies"]
    assert proven[0]["policy"] == loads[-1]["policy"]
    assert [file["path"] for file in loads[-1]["loaded"]["files"]][-1].endswith("/50-test.yaml")


def test_the_asker_is_no_other_person(shell, admin):
    admin(rule(f"[{ALICE[0]}, {BOB[0]}]"))
    # Of two of whom one is the asker the other is asked, with no choice of names.
    answered = shell.run(READ, [ALICE[1], ALICE[1], ALICE[1]])
    assert answered.status == REFUSED and "s3cret" not in answered.text
    admin(rule(f"[{ALICE[0]}]"), name="50-test.yaml")
    answered = shell.run(READ)
    assert answered.status == REFUSED and "s3cret" not in answered.text


def test_a_name_that_the_rule_does_not_have_approves_nothing(shell, admin):
    admin(rule(f"[{BOB[0]}, root]"))
    status, said = read(shell, ALICE[0])
    assert status == REFUSED and "s3cret" not in said


def test_another_account_of_the_asker_s_uid_is_the_asker(shell, admin):
    number = pwd.getpwnam(ALICE[0]).pw_uid
    world.run("useradd", "--non-unique", "--uid", number, "--no-create-home", "alias")
    try:
        world.run("chpasswd", input=f"alias:{ALICE[1]}\n")
        admin(rule("[alias]"))
        answered = shell.run(READ, [ALICE[1], ALICE[1], ALICE[1]])
        assert answered.status == REFUSED and "s3cret" not in answered.text
    finally:
        world.run("sed", "-i", "/^alias:/d", "/etc/passwd", "/etc/shadow")


def end_of(*arguments, user=None):
    """How keychain-auth ends where the other end of its channel says nothing."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def prepare():
        os.dup2(there.fileno(), 3)

    with here, there:
        process = subprocess.Popen([AUTH, *arguments], preexec_fn=prepare, pass_fds=[3],
                                   user=user, stdin=subprocess.DEVNULL)
        there.close()
        here.shutdown(socket.SHUT_WR)
        return process.wait(timeout=world.PATIENCE)


BAD_INVOCATION = 2


def test_the_program_that_asks_pam_takes_no_approval_of_the_asker_s_own(daemon):
    asker = str(pwd.getpwnam(ALICE[0]).pw_uid)
    assert end_of("keychain-approval", asker, ALICE[0], ALICE[0]) == BAD_INVOCATION
    assert end_of("keychain-approval", asker, ALICE[0]) == BAD_INVOCATION
    assert end_of("keychain-approval", asker, BOB[0], "nobody-at-all") == BAD_INVOCATION
    assert end_of("keychain-passcode", asker, BOB[0], ALICE[0]) == BAD_INVOCATION
    # The other person's conversation begins.
    assert end_of("keychain-approval", asker, BOB[0], ALICE[0]) != BAD_INVOCATION


def test_the_program_that_asks_pam_asks_for_the_user_of_that_number_alone(daemon):
    own, other = (str(pwd.getpwnam(each[0]).pw_uid) for each in (ALICE, BOB))
    assert end_of("keychain-passcode", own, ALICE[0]) != BAD_INVOCATION
    for number in (other, "0", "", "-1", "+" + own, "0" + own, own + " ", "4294967295", ALICE[0]):
        assert end_of("keychain-passcode", number, ALICE[0]) == BAD_INVOCATION
        # The asker's number, and not the account's.
        assert end_of("keychain-approval", number, BOB[0], ALICE[0]) == BAD_INVOCATION
    assert end_of("keychain-passcode", ALICE[0]) == BAD_INVOCATION
    assert end_of("keychain-passcode", ALICE[0], own) == BAD_INVOCATION


def test_pam_hears_who_approves_and_who_asks(shell, admin):
    before = SERVICE.read_text()
    heard = pathlib.Path("/run/tmp/heard")
    script = pathlib.Path("/run/tmp/hear")
    script.write_text(f"#!/bin/sh\necho \"$PAM_USER $PAM_RUSER\" >{heard}\n")
    script.chmod(0o755)
    SERVICE.write_text(f"auth required pam_exec.so {script}\n" + before)
    try:
        admin(rule(f"[{BOB[0]}]"))
        assert "bank-s3cret" in shell.run(READ, [BOB[1]]).text
        assert heard.read_text().split() == [BOB[0], ALICE[0]]
    finally:
        SERVICE.write_text(before)
