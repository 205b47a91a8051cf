# SPDX-License-Identifier: Apache-2.0
"""Proofs that are given in a context, and what they are good for afterwards."""

import pathlib
import shutil
import time

import pytest

import world
from conftest import ALICE

PRESENCE, PASSCODE, BIOMETRY, CURRENT_SET = 2, 3, 4, 5
NOT_FOUND, FAILED, NOT_ALLOWED_TO_ASK, LOCKED = "<10>", "<21>", "<23>", "<24>"
FINGERS = pathlib.Path("/var/lib/fprint") / ALICE[0]


@pytest.fixture
def windows(login, tools, tmp_path):
    """Two terminals of one login: programs run on the second, where their questions come up, and
    speak on the first."""
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    window = login(ALICE, "-S", control, password=False)
    return world.Beside(shell, window), window


def start(shell, *steps):
    shell.send(f"/usr/bin/python3 -B {world.TOOLS}/client.py {' '.join(steps)}")


def answer(window, password=ALICE[1]):
    window.terminal.expect("(?m)assword: ?$")
    window.terminal.sendline(password)


def heard(shell, count=1):
    words = []
    for _ in range(count):
        shell.terminal.expect(r"<[^>]+>")
        words.append(shell.terminal.match.group(0))
    return words if count > 1 else words[0]


def test_one_answer_serves_the_context_and_no_other(windows):
    shell, window = windows
    start(shell, f"add:bank:{PRESENCE}", "read:bank:A", "read:bank:A", "quiet:bank:A",
          "quiet:bank:B", "child:bank:A")
    assert heard(shell) == "<done>"
    answer(window)
    assert heard(shell, 5) == ["<s3cret>", "<s3cret>", "<s3cret>", NOT_ALLOWED_TO_ASK,
                               NOT_ALLOWED_TO_ASK]


def test_presence_is_no_passcode_but_a_passcode_is_presence(windows):
    shell, window = windows
    start(shell, f"add:bank:{PASSCODE}", f"add:shop:{PRESENCE}", "read:shop:A", "quiet:bank:A",
          "read:bank:A", "quiet:shop:B", "quiet:shop:A")
    assert heard(shell, 2) == ["<done>", "<done>"]
    answer(window)
    assert heard(shell, 2) == ["<s3cret>", NOT_ALLOWED_TO_ASK]
    answer(window)
    assert heard(shell, 3) == ["<s3cret>", NOT_ALLOWED_TO_ASK, "<s3cret>"]


def test_what_is_proven_beforehand_serves_the_context(windows):
    shell, window = windows
    start(shell, f"add:bank:{PASSCODE}", f"prove:{PASSCODE}:A", "quiet:bank:A", "quiet:bank:B",
          f"prove:{PRESENCE}:A")
    assert heard(shell) == "<done>"
    window.terminal.expect("wants to know that it is you")
    answer(window)
    # The user is not asked again for what was shown already.
    assert heard(shell, 4) == ["<done>", "<s3cret>", NOT_ALLOWED_TO_ASK, "<done>"]


def test_what_was_proven_for_something_else_copies_no_keychain(windows):
    shell, window = windows
    start(shell, f"prove:{PASSCODE}:A", "backup:A")
    answer(window)
    assert heard(shell) == "<done>"
    window.terminal.expect("copy all of your keychain")
    window.terminal.expect("(?m)assword: ?$")
    window.terminal.sendcontrol("d")
    assert heard(shell) == "<22>"


def test_a_refused_proof_is_a_cancel_and_what_nothing_proves_fails(windows):
    shell, window = windows
    start(shell, f"prove:{PRESENCE}:A", f"prove:{BIOMETRY}:A", "prove:6:A", "prove:1:A", "prove:0:A")
    window.terminal.expect("(?m)assword: ?$")
    window.terminal.sendcontrol("d")
    assert heard(shell, 5) == ["<22>", FAILED, FAILED, FAILED, "<done>"]


def test_what_could_be_proven_is_told_truly(windows, enrolled):
    shell, window = windows
    start(shell, "able")
    assert heard(shell) == "<1 1 2 0 1>"
    shutil.rmtree(FINGERS)
    start(shell, "able")
    assert heard(shell) == "<1 1 1 0 1>"
    for name in "biometry", "presence":
        world.write_service(f"keychain-{name}", "auth required pam_nowhere.so\n")
    try:
        time.sleep(2.1)  # so long a service is looked up no second time
        start(shell, "able")
        assert heard(shell) == "<1 0 0 0 1>"
    finally:
        world.install_services()
    # No way to ask: no prompter, and no terminal offered.
    window.terminal.sendcontrol("c")
    window.terminal.expect_exact(window.PROMPT)
    start(shell, "able")
    assert heard(shell).endswith(" 0>")


def test_an_ended_context_proves_nothing_any_more(windows):
    shell, window = windows
    start(shell, f"add:bank:{PRESENCE}", "read:bank:A", "end:A", "quiet:bank:A")
    assert heard(shell) == "<done>"
    answer(window)
    assert heard(shell, 2) == ["<s3cret>", NOT_ALLOWED_TO_ASK]


def test_a_lock_ends_what_was_proven(windows):
    shell, window = windows
    start(shell, f"add:bank:{PRESENCE}", "read:bank:A", "pause", "quiet:bank:A")
    heard(shell)
    answer(window)
    assert heard(shell) == "<s3cret>"
    shell.terminal.expect("paused")
    assert world.as_user(ALICE[0], world.CONTROL, "lock").returncode == 0
    unlocked = world.as_user(
        ALICE[0], world.CONTROL, "unlock", "--password-stdin", input=ALICE[1] + "\n")
    assert unlocked.returncode == 0, unlocked
    shell.send("")
    assert heard(shell) == NOT_ALLOWED_TO_ASK


def test_a_restarted_daemon_knows_what_was_proven(windows, daemon):
    shell, window = windows
    start(shell, f"add:bank:{PRESENCE}", "read:bank:A", "pause")
    heard(shell)
    answer(window)
    assert heard(shell) == "<s3cret>"
    assert any(name.startswith("evidence:") for name in world.names_of_records())
    daemon.restart()
    # The connection is gone with the daemon; the record is not.
    assert any(name.startswith("evidence:") for name in world.names_of_records())


def test_a_wrong_answer_is_not_kept(windows):
    shell, window = windows
    start(shell, f"add:bank:{PRESENCE}", "read:bank:A", "quiet:bank:A")
    heard(shell)
    for wrong in ("one", "two", "three"):
        answer(window, wrong)
    assert heard(shell, 2) == [FAILED, NOT_ALLOWED_TO_ASK]


@pytest.fixture
def enrolled():
    """A machine with a reader, and fingers that were enrolled. The stack asks for a password: what
    proves a finger is PAM's business, who is enrolled is fprintd's folder."""
    service = pathlib.Path("/etc/pam.d/keychain-biometry")
    before = service.read_text()
    service.write_text("auth required pam_unix.so\naccount required pam_unix.so\n")
    world.run("mkdir", "-p", FINGERS.parent)
    world.run("mount", "-t", "tmpfs", "-o", "mode=0700", "fingers", FINGERS.parent)
    finger = FINGERS / "driver/device/7"
    finger.parent.mkdir(parents=True)
    finger.write_bytes(b"right index")
    yield finger
    world.run("umount", "-l", FINGERS.parent)
    service.write_text(before)


def test_items_bound_to_fingers_die_with_another_enrolment(windows, enrolled):
    shell, window = windows
    start(shell, f"add:bound:{CURRENT_SET}", f"add:any:{BIOMETRY}", "read:bound:A", "quiet:any:A",
          "pause", "read:bound:A", "quiet:any:A", "pause", "read:bound:A")
    assert heard(shell, 2) == ["<done>", "<done>"]
    answer(window)
    assert heard(shell, 2) == ["<s3cret>", "<s3cret>"]
    shell.terminal.expect("paused")
    enrolled.with_name("8").write_bytes(b"right middle")
    shell.send("")
    assert heard(shell, 2) == [FAILED, "<s3cret>"]
    shell.terminal.expect("paused")
    enrolled.with_name("8").unlink()
    enrolled.write_bytes(b"left index")
    shell.send("")
    assert heard(shell) == FAILED


def test_without_a_reader_no_user_is_locked_out_of_an_item(windows):
    shell, _ = windows
    start(shell, f"add:bank:{BIOMETRY}", f"add:bank:{CURRENT_SET}", "read:bank:A")
    assert heard(shell, 3) == [FAILED, FAILED, NOT_FOUND]


def test_where_the_finger_fails_the_passcode_may_do(windows, enrolled):
    shell, window = windows
    world.write_service("keychain-biometry", "auth required pam_deny.so\naccount required pam_unix.so\n")
    # One of biometry and passcode: {kind 7, required 1, members}.
    shell.send("keychainctl status >/dev/null")
    added = shell.run("printf s3cret | keychainctl add generic-password --service either"
                      " --account me --flags biometry-any,device-passcode,or")
    assert added.status == 0, added
    shell.send("keychainctl get generic-password --service either </dev/null;"
               " echo \"<status $?>\"")
    answer(window)
    shell.terminal.expect(r"s3cret.*<status 0>")
