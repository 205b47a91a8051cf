# SPDX-License-Identifier: Apache-2.0
"""What is accessible when a passcode is set goes with the passcode, and with nothing else."""

import pytest

import world
from conftest import ALICE
from test_login import first_password_again  # noqa: F401
from test_protectors import ADD, GET, identifier, typed, write_down

DEEP = "--accessible when-passcode-set-this-device-only"
ADD_DEEP = ADD.replace("mail", "deep") + " " + DEEP
GET_DEEP = GET.replace("mail", "deep")
NOT_FOUND, LOCKED = 3, 4
OTHER = "other words 5"


@pytest.fixture
def shell(login):
    shell = login()
    for add in (ADD, ADD_DEEP):
        assert shell.run(add).status == 0
    return shell


def device_secret():
    return next(world.STATE.glob("*/login.device-secret"), None)


def remove_password(shell):
    return shell.run(f"keychainctl protector remove {identifier(shell, 'password')}", [ALICE[1]])


def test_a_password_that_is_removed_takes_along_what_it_alone_opens(shell):
    paper = write_down(shell)
    before = device_secret().read_bytes()
    removed = remove_password(shell)
    assert removed.status == 0 and "--recovery-key opens it" in removed.text, removed
    assert device_secret() is None
    assert shell.run(GET).status == LOCKED
    assert "It has no password." in shell.run("keychainctl status").text
    left = shell.run("keychainctl protector list").text.split("\n")
    assert [line.split(",")[0].split()[-1] for line in left if line] == ["recovery-key"]
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == NOT_FOUND
    opened = typed(shell, "keychainctl unlock --recovery-key", paper, OTHER, OTHER)
    assert opened.status == 0, opened
    assert shell.run(GET).text.strip() == "s3cret"
    assert shell.run(GET_DEEP).status == NOT_FOUND
    # The same name may be had again, and what had it does not come back.
    assert shell.run(ADD_DEEP).status == 0
    assert device_secret().read_bytes() != before
    assert shell.run(GET_DEEP).text.strip() == "s3cret"


def test_no_copy_brings_back_what_went_with_it(shell):
    write_down(shell)
    assert shell.run("keychainctl backup ~/kc.backup --force", [ALICE[1]]).status == 0
    assert remove_password(shell).status == 0
    restored = shell.run("keychainctl restore ~/kc.backup; rm ~/kc.backup", [ALICE[1]])
    assert restored.status == 0, restored
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"
    lost = shell.run(GET_DEEP)
    assert lost.status != 0 and "s3cret" not in lost.text


def test_the_last_that_opens_it_is_not_removed(shell):
    refused = remove_password(shell)
    assert refused.status == 5 and "nothing that works would open" in refused.text
    assert shell.run(GET_DEEP).text.strip() == "s3cret"
    assert device_secret() is not None


def test_without_a_password_it_can_be_locked_and_no_login_opens_it(shell, login):
    paper = write_down(shell)
    assert remove_password(shell).status == 0
    assert login().run(GET).status == LOCKED
    assert typed(shell, "keychainctl unlock --recovery-key", paper, "").status == 0
    assert shell.run(GET).text.strip() == "s3cret"
    assert shell.run(ADD_DEEP).status == 1
    assert shell.run("keychainctl lock").status == 0
    assert shell.run(GET).status == LOCKED


# An account without a password.

SERVICE = "keychain-test-blank"
UNIX = f"auth required pam_unix.so nullok\nauth optional {world.MODULE}\n"
# As pam_fprintd does: it asks for no password and says yes.
FINGER = f"auth sufficient pam_permit.so\nauth optional {world.MODULE}\n"
FINGER_HEARD = f"auth required pam_permit.so\nauth optional {world.MODULE}\n"
REST = f"account required pam_permit.so\nsession optional {world.MODULE}\n"


def comes_in(auth, *calls):
    world.write_service(SERVICE, auth + REST)
    done = world.run("pamtester", SERVICE, ALICE[0], *calls, "open_session", "close_session",
                     check=False)
    assert done.returncode == 0, done


def test_a_login_with_an_empty_password_ends_what_a_passcode_opened(
        shell, login, first_password_again, daemon):  # noqa: F811
    before = device_secret().read_bytes()
    world.run("passwd", "-d", ALICE[0])
    comes_in(UNIX, "authenticate")
    assert shell.run(f"setsid -w {GET_DEEP} 2>&1").status != 0
    assert device_secret() is None
    # Other logins are closed, since they had the key, and nothing else is lost.
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert shell.run(GET).text.strip() == "s3cret"
    assert shell.run(GET_DEEP).status == NOT_FOUND
    assert shell.run(ADD_DEEP).status != 0
    assert shell.run("keychainctl set-password", [ALICE[1], OTHER, OTHER]).status == 0
    assert shell.run(ADD_DEEP).status == 0
    assert device_secret().read_bytes() != before
    daemon.stop()
    assert '"operation":"endPasscode","outcome":"allowed"' in world.audit_text()


@pytest.mark.parametrize("account", ["-d", "-l"])
@pytest.mark.parametrize("auth, calls", [(UNIX, ()), (FINGER, ()), (FINGER, ("authenticate",))],
                         ids=["cron", "key", "root's su"])
def test_no_session_that_others_open_ends_it(
        account, auth, calls, shell, first_password_again):  # noqa: F811
    world.run("passwd", account, ALICE[0])
    comes_in(auth, *calls)
    assert shell.run(GET_DEEP).text.strip() == "s3cret"
    assert device_secret() is not None


@pytest.mark.parametrize("account", ["-l", None])
def test_nor_does_a_finger_or_a_locked_account(account, shell, first_password_again):  # noqa: F811
    if account:
        world.run("passwd", account, ALICE[0])
    comes_in(FINGER_HEARD, "authenticate")
    assert shell.run(GET_DEEP).text.strip() == "s3cret"
    assert device_secret() is not None
