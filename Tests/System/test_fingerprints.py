# SPDX-License-Identifier: Apache-2.0
"""Items that open to their user's finger, by fprintd and the service that packaging ships."""

import pathlib
import shutil

import pytest

import world
from conftest import ALICE
from fingerprints import ENROLLED, MODULE, Fingerprints

RIGHT, LEFT, THUMB = "right-index-finger", "left-index-finger", "right-thumb"
FAILED, NOT_FOUND = 6, 3
GET = "keychainctl get generic-password --account me --service "


def add(flags, service):
    return (f"printf {service}-s3cret | keychainctl add generic-password --service {service}"
            f" --account me --flags {flags}")


@pytest.fixture(scope="module")
def reader():
    reader = Fingerprints()
    service = pathlib.Path("/etc/pam.d/keychain-biometry")
    usual = service.read_text()
    # As shipped, but for the place of a module that is not installed.
    service.write_text(usual.replace("pam_fprintd.so", str(MODULE)))
    yield reader
    service.write_text(usual)
    reader.close()


@pytest.fixture
def shell(reader, login):
    shutil.rmtree(ENROLLED / ALICE[0], ignore_errors=True)
    reader.enroll(ALICE[0], RIGHT, "alice-right")
    return login(ALICE)


def read(shell, reader, service, *fingers):
    """What comes of reading an item while these fingers are laid on the reader."""
    shell.send(GET + service + "; echo \"<status $?>\"")
    for finger in fingers:
        shell.terminal.expect("(?i)(place|swipe|touch)[^\n]*finger[^\n]*\n")
        reader.touch(finger)
    shell.terminal.expect(r"<status (\d+)>")
    said, status = shell.terminal.before, int(shell.terminal.match.group(1))
    shell.terminal.expect_exact(shell.PROMPT)
    return status, said


def test_the_enrolled_finger_opens_the_item(shell, reader):
    assert shell.run(add("biometry-any", "bank")).status == 0
    status, said = read(shell, reader, "bank", "alice-right")
    assert status == 0 and "bank-s3cret" in said


def test_another_finger_opens_nothing(shell, reader):
    assert shell.run(add("biometry-any", "bank")).status == 0
    status, said = read(shell, reader, "bank", *["bob-right"] * 3)
    assert status == FAILED and "s3cret" not in said


def test_a_finger_that_is_read_the_second_time_will_do(shell, reader):
    assert shell.run(add("biometry-any", "bank")).status == 0
    status, said = read(shell, reader, "bank", "bob-right", "alice-right")
    assert status == 0 and "bank-s3cret" in said


def test_where_the_finger_is_not_read_the_password_may_do(shell, reader):
    assert shell.run(add("biometry-any,device-passcode,or", "bank")).status == 0
    shell.send(GET + "bank; echo \"<status $?>\"")
    for _ in range(3):
        shell.terminal.expect("(?i)(place|swipe|touch)[^\n]*finger[^\n]*\n")
        reader.touch("bob-right")
    shell.terminal.expect("(?m)assword: ?$")
    shell.terminal.sendline(ALICE[1])
    shell.terminal.expect(r"bank-s3cret[^<]*<status 0>")


def test_an_item_of_the_current_set_is_dead_for_ever_once_the_set_changes(shell, reader):
    for flags, service in ("biometry-current-set", "bound"), ("biometry-any", "any"):
        assert shell.run(add(flags, service)).status == 0
    assert read(shell, reader, "bound", "alice-right")[0] == 0
    reader.enroll(ALICE[0], LEFT, "alice-left")
    assert read(shell, reader, "bound")[0] == FAILED
    status, said = read(shell, reader, "any", "alice-right")
    assert status == 0 and "any-s3cret" in said
    # The same finger alone again, and not the same set.
    reader.forget(ALICE[0], LEFT)
    status, said = read(shell, reader, "bound")
    assert status == FAILED and "s3cret" not in said
    assert read(shell, reader, "any", "alice-right")[0] == 0
    assert shell.run("keychainctl delete generic-password --service bound").status == 0


def test_where_no_finger_is_enrolled_any_more_no_user_is_asked_for_one(shell, reader):
    assert shell.run(add("biometry-any", "bank")).status == 0
    reader.forget(ALICE[0], RIGHT)
    assert read(shell, reader, "bank")[0] == FAILED
    added = shell.run(add("biometry-any", "shop"))
    assert added.status != 0 and shell.run(GET + "shop").status == NOT_FOUND
