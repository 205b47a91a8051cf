# SPDX-License-Identifier: Apache-2.0
"""Questions in windows: keychain-prompter with a real pinentry on a real X server, and a person whose
hands are xdotool's."""

import grp
import os
import pathlib
import pwd
import re
import shlex
import shutil
import tempfile

import pytest

import world
from conftest import ALICE, BOB
from graphical import (LOGIND, PINENTRIES, Desktop, ServiceManager, logind_says, pinentries,
                       processes, prompter, prompter_waits)
from test_presence import ADD, GET


@pytest.fixture
def desktop():
    desktop = Desktop()
    yield desktop
    desktop.close()


@pytest.fixture
def two_terminals(login, tmp_path):
    """Two terminals of one login: programs run on the second and speak on the first."""
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    assert shell.run(ADD).status == 0
    return shell, login(ALICE, "-S", control, password=False)


@pytest.fixture(scope="session")
def desktop_server(tmp_path_factory):
    running = world.SSHServer(tmp_path_factory.mktemp("desktop"), "keychain-test-desktop",
                              auth=world.LOGIND_AUTH, session=world.LOGIND_SESSION).start()
    yield running
    running.stop()


@pytest.fixture
def at_the_screen(login, desktop_server, desktop):
    """A shell in the login that logind knows as the desktop's, where no prompter waits yet; and its
    user's service manager."""
    ServiceManager.require()
    logind_says(pwd.getpwnam(ALICE[0]).pw_uid, desktop.display)
    world.next_login_is("c2")
    shell = login(ALICE, server=desktop_server)
    manager = ServiceManager(ALICE[0])
    yield shell, manager
    manager.close()
    shutil.rmtree(LOGIND)
    world.logind_forgets()


@pytest.fixture
def shell(at_the_screen, desktop):
    """A shell, in whose login a prompter waits on the desktop."""
    shell, manager = at_the_screen
    assert shell.run(ADD).status == 0
    assert prompter_waits(manager, desktop) == ""
    return shell


def asks(shell, command=GET):
    shell.send(f"setsid -w {command} </dev/null; echo \"<status $?>\"")


def asks_there(shell, command=GET):
    """On the terminal that the prompter has."""
    shell.send(f"{command} </dev/null; echo \"<status $?>\"")


def status(shell):
    shell.terminal.expect(r"<status (\d+)>")
    return int(shell.terminal.match.group(1))


def test_a_password_typed_into_the_dialog_opens_the_item(shell, desktop):
    asks(shell)
    desktop.dialog()
    desktop.types(ALICE[1])
    desktop.presses("Return")
    assert status(shell) == 0
    assert "bank-s3cret" in shell.terminal.before and ALICE[1] not in shell.terminal.before
    world.wait_for(lambda: not pinentries(), "the dialog to end")


def test_three_wrong_answers_end_the_question(shell, desktop):
    asks(shell)
    seen = set()
    for _ in range(3):
        world.wait_for(lambda: [p for p in pinentries() if p.name not in seen], "another dialog")
        seen.update(entry.name for entry in pinentries())
        desktop.dialog()
        desktop.types("wr%ng")
        desktop.presses("Return")
    assert status(shell) == 6


def test_escape_is_a_cancel(shell, desktop):
    asks(shell)
    desktop.dialog()
    desktop.presses("Escape")
    assert status(shell) == 7


def test_a_killed_dialog_is_a_cancel_and_the_prompter_goes_on(shell, desktop):
    asks(shell)
    os.kill(int(desktop.dialog().name), 9)
    assert status(shell) == 7
    world.wait_for(lambda: not pinentries(), "the dialog to end")
    # The next question after a pause.
    world.wait_for(lambda: shell.run("keychainctl status").text.count("Prompter: registered"),
                   "the prompter")


def test_the_dialog_ends_when_the_asking_program_does(shell, desktop):
    shell.send(f"setsid {GET} </dev/null & sleep 0.1; echo started")
    desktop.dialog()
    for entry in processes("keychainctl"):
        os.kill(int(entry.name), 9)
    world.wait_for(lambda: not pinentries(), "the dialog to end")
    assert not desktop.window()


def test_the_dialog_does_not_outlive_the_prompter(shell, desktop):
    asks(shell)
    desktop.dialog()
    os.kill(int(prompter().name), 9)
    assert status(shell) == 4
    world.wait_for(lambda: not pinentries(), "the dialog to end")


def test_the_dialog_has_its_user_s_rights_and_nothing_of_the_prompter_s(shell, desktop):
    asks(shell)
    dialog = desktop.dialog()
    group = grp.getgrnam("_keychain-prompt").gr_gid
    own = pwd.getpwnam(ALICE[0])
    assert groups(prompter()) == [own.pw_gid, group, group, group]
    assert groups(dialog) == [own.pw_gid] * 4
    open_files = {int(entry.name): os.readlink(entry) for entry in (dialog / "fd").iterdir()}
    assert open_files[0].startswith("socket:") and open_files[1] == open_files[0]
    assert open_files[2] == "/dev/null"
    of_prompter = {os.readlink(entry) for entry in (prompter() / "fd").iterdir()}
    assert {name for name in open_files.values() if name in of_prompter} <= {"/dev/null"}
    variables = {word.split(b"=")[0].decode()
                 for word in (dialog / "environ").read_bytes().split(b"\0") if word}
    assert variables <= {"DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
                         "TERM", "LANG", "LC_ALL", "LC_CTYPE", "LC_MESSAGES"}
    desktop.presses("Escape")
    assert status(shell) == 7


def groups(process):
    line, = [line for line in (process / "status").read_text().splitlines()
             if line.startswith("Gid:")]
    return [int(word) for word in line.split()[1:]]


def test_no_program_of_the_user_traces_the_prompter_or_reads_what_the_dialog_says(shell, desktop):
    asks(shell)
    dialog = desktop.dialog()
    attacker = pathlib.Path(__file__).with_name("attacker.py")
    traced = world.as_user(ALICE[0], "/usr/bin/python3", attacker, "trace", prompter().name)
    assert traced.stdout.strip() == "Operation not permitted"
    for number in 0, 1:
        tapped = world.as_user(ALICE[0], "head", "-c1", dialog / "fd" / str(number))
        assert tapped.returncode != 0 and tapped.stdout == ""
    desktop.presses("Escape")
    assert status(shell) == 7


def test_a_window_is_preferred_where_there_is_a_display(two_terminals, desktop):
    shell = world.Beside(*two_terminals, f"DISPLAY={desktop.display} keychainctl prompter")
    asks_there(shell)
    desktop.dialog()
    desktop.presses("Escape")
    assert status(shell) == 7


def test_a_pinentry_that_a_user_could_have_changed_is_not_started(two_terminals, desktop):
    shell, window = two_terminals
    forged = pathlib.Path("/run/tmp/forged-pinentry")
    forged.write_text("#!/bin/sh\ntouch /run/tmp/forged-was-started\n")
    forged.chmod(0o755)
    os.chown(forged, pwd.getpwnam(ALICE[0]).pw_uid, -1)
    covered = [path for name in PINENTRIES for path in pathlib.Path("/usr/bin").glob(name)]
    try:
        for path in covered:
            world.run("mount", "--bind", forged, path)
        window.send(f"DISPLAY={desktop.display} keychainctl prompter --desktop")
        window.terminal.expect("no pinentry can show questions here")
        assert not pathlib.Path("/run/tmp/forged-was-started").exists()
    finally:
        for path in covered:
            world.run("umount", path, check=False)
    assert len(covered) > 1


def test_the_terminal_is_used_where_the_display_is_gone(two_terminals):
    window = two_terminals[1]
    shell = world.Beside(*two_terminals, "DISPLAY=:1234 keychainctl prompter")
    asks_there(shell)
    window.terminal.expect("(?m)assword: ?$")
    window.terminal.sendline(ALICE[1])
    assert status(shell) == 0


def test_what_pam_says_meanwhile_is_shown_until_it_is_over(shell, desktop):
    service = pathlib.Path("/etc/pam.d/keychain-presence")
    usual = service.read_text()
    touched, sensor = pathlib.Path("/run/tmp/touched"), pathlib.Path("/run/tmp/sensor")
    sensor.write_text(f"#!/bin/sh\nuntil [ -e {touched} ]; do sleep 0.1; done\n")
    sensor.chmod(0o755)
    try:
        service.write_text("auth optional pam_echo.so Touch the sensor.\n"
                           f"auth optional pam_exec.so quiet {sensor}\n"
                           "auth required pam_permit.so\naccount required pam_permit.so\n")
        asks(shell)
        desktop.dialog()
        touched.touch()
        assert status(shell) == 0
        world.wait_for(lambda: not pinentries(), "the dialog to end")
    finally:
        service.write_text(usual)


def test_a_dialog_on_the_terminal_shows_the_daemon_s_words_above_pam_s(two_terminals):
    window = two_terminals[1]
    service = pathlib.Path("/etc/pam.d/keychain-presence")
    usual = service.read_text()
    try:
        service.write_text("auth optional pam_echo.so Be careful with 100%%.\n" + usual)
        shell = world.Beside(*two_terminals, "keychainctl prompter --desktop")
        asks_there(shell)
        for words in "The keychain asks:", "wants to read", "bank", "Be careful with 100%", "assword":
            window.terminal.expect(words)
        window.terminal.send(ALICE[1] + "\r")
        assert status(shell) == 0
        window.terminal.sendcontrol("c")
        window.terminal.expect_exact(window.PROMPT)
        assert ALICE[1] not in window.terminal.before
    finally:
        service.write_text(usual)


MODULE = r"""
#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>

static int say(const struct pam_conv *conv, int style, const char *text, char **answer) {
    struct pam_message message = {style, text};
    const struct pam_message *messages = &message;
    struct pam_response *response = NULL;
    int result = conv->conv(1, &messages, &response, conv->appdata_ptr);
    *answer = response != NULL ? response->resp : NULL;
    return result;
}

int pam_sm_authenticate(pam_handle_t *pam, int flags, int argc, const char **argv) {
    const struct pam_conv *conv;
    char *first, *second, *none;
    if (pam_get_item(pam, PAM_CONV, (const void **)&conv) != PAM_SUCCESS ||
        say(conv, PAM_PROMPT_ECHO_ON, "The <b>code</b>\n\033[2Jof today", &first) != PAM_SUCCESS ||
        say(conv, PAM_ERROR_MSG, "Half of it is right.", &none) != PAM_SUCCESS ||
        say(conv, PAM_PROMPT_ECHO_OFF, "Half: ", &second) != PAM_SUCCESS) {
        return PAM_CONV_ERR;
    }
    return first && second && !strcmp(first, "50%\xc3\xa9") && !strcmp(second, "a+b c")
               ? PAM_SUCCESS : PAM_AUTH_ERR;
}

int pam_sm_setcred(pam_handle_t *pam, int flags, int argc, const char **argv) {
    return PAM_SUCCESS;
}
"""


def test_several_prompts_of_one_conversation_are_each_answered(two_terminals, tmp_path):
    window = two_terminals[1]
    source, module = tmp_path / "pam_code.c", pathlib.Path("/run/tmp/pam_code.so")
    source.write_text(MODULE)
    world.run("gcc", "-shared", "-fPIC", "-o", module, source)
    service = pathlib.Path("/etc/pam.d/keychain-presence")
    usual = service.read_text()
    try:
        service.write_text(f"auth required {module}\naccount required pam_permit.so\n")
        shell = world.Beside(*two_terminals, "LANG=C.UTF-8 keychainctl prompter --desktop")
        asks_there(shell)
        for words in "wants to read", "<b>code</b>", r"u\{1b\}\[2Jof today", "is not shown", "nswer:":
            window.terminal.expect(words)
        window.terminal.send("50%\u00e9\r")
        for words in "wants to read", "Half of it is right.", "Half:":
            window.terminal.expect(words)
        window.terminal.send("a+b c\r")
        assert status(shell) == 0
    finally:
        service.write_text(usual)


def test_a_dialog_on_the_terminal_that_is_interrupted_leaves_the_terminal_as_it_was(two_terminals):
    shell, window = two_terminals
    before = window.run("stty -g").text
    shell = world.Beside(shell, window, "keychainctl prompter --desktop")
    asks_there(shell)
    window.terminal.expect("assword")
    window.terminal.sendcontrol("c")
    assert status(shell) in (4, 7)
    window.terminal.expect_exact(window.PROMPT)
    assert window.run("stty -g").text == before


def test_without_a_display_or_a_terminal_it_says_what_is_missing():
    said = world.as_user(BOB[0], "setsid", "-w", world.PREFIX / "libexec/keychain/keychain-prompter",
                         "--desktop")
    assert said.returncode == 1 and "no pinentry" in said.stderr


@pytest.mark.parametrize("is_active", [True, False])
def test_a_session_that_systemd_does_not_make_starts_it_by_itself(is_active, daemon):
    entry = pathlib.Path("/etc/xdg/autostart/keychain-prompter.desktop").read_text()
    words = shlex.split(re.search("^Exec=(.*)$", entry, re.MULTILINE)[1])
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    try:
        asked = folder / "systemctl"
        asked.write_text("#!/bin/sh\n[ \"$*\" = '--user --quiet is-active graphical-session.target' ]"
                         f" && exit {0 if is_active else 3}\nexit 1\n")
        asked.chmod(0o755)
        said = world.as_user(BOB[0], "setsid", "-w", "env", f"PATH={folder}:/usr/bin:/bin", *words)
    finally:
        shutil.rmtree(folder)
    # It is started, and has no display here.
    assert said.returncode == (0 if is_active else 1), said
    assert ("no pinentry" in said.stderr) != is_active


CONFIRM = """policy: v1
name: test
rules:
  - id: test.ask-first
    require: confirm
    within: 1h
    scope: session
    operations: read-secret
    resource: {service: [bank, shop]}
"""
PLAIN = "printf bank-s3cret | keychainctl add generic-password --service {} --account me"


@pytest.fixture
def asked_for_a_yes(daemon):
    """A policy for which a yes is enough."""
    policy = pathlib.Path("/etc/keychain/policies.d/50-test.yaml")
    before = daemon.log().count("rules in force")
    policy.write_text(CONFIRM)
    world.wait_for(lambda: daemon.log().count("rules in force") > before, "the policy")
    yield
    policy.unlink()


@pytest.fixture
def two_plain_terminals(asked_for_a_yes, login, tmp_path):
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    for service in "bank", "shop":
        assert shell.run(PLAIN.format(service)).status == 0
    return shell, login(ALICE, "-S", control, password=False)


@pytest.fixture
def plain(asked_for_a_yes, at_the_screen, desktop):
    shell, manager = at_the_screen
    for service in "bank", "shop":
        assert shell.run(PLAIN.format(service)).status == 0
    assert prompter_waits(manager, desktop) == ""
    return shell


def test_a_yes_in_a_window_serves_the_item_for_the_session(plain, desktop):
    shell = plain
    asks(shell)
    desktop.dialog()
    desktop.presses("Tab")
    desktop.presses("Return")
    assert status(shell) == 0 and "bank-s3cret" in shell.terminal.before
    world.wait_for(lambda: not pinentries(), "the dialog to end")
    asks(shell)
    assert status(shell) == 0
    # What was said of one item was not said of another.
    asks(shell, GET.replace("bank", "shop"))
    desktop.dialog()
    desktop.presses("Escape")
    assert status(shell) == 7


def test_a_no_in_a_window_is_a_no(plain, desktop):
    shell = plain
    asks(shell)
    desktop.dialog()
    desktop.presses("Escape")
    assert status(shell) == 7 and "s3cret" not in shell.terminal.before


def test_no_user_is_asked_for_a_yes_on_a_terminal(two_plain_terminals):
    shell, window = two_plain_terminals
    assert shell.run(GET).status == 6
    # A pinentry that takes the terminal is no window.
    for place in "--terminal", "--desktop":
        refused = world.Beside(shell, window, f"keychainctl prompter {place}").run(GET)
        assert refused.status == 6 and "s3cret" not in refused.text
        window.terminal.sendcontrol("c")
        window.terminal.expect_exact(window.PROMPT)


def test_no_user_is_asked_for_a_yes_on_a_display_that_may_be_a_program_s(
        two_plain_terminals, desktop):
    """Neither by a prompter that a program has started there, nor by its word."""
    shell = world.Beside(*two_plain_terminals, f"DISPLAY={desktop.display} keychainctl prompter")
    refused = shell.run(GET + " </dev/null")
    assert refused.status == 6 and "s3cret" not in refused.text and not pinentries()
