# SPDX-License-Identifier: Apache-2.0
"""A program that starts by itself at a login runs the keychain's tools on another program's item, in
each kind of session: right after the login, and after its user has answered other questions."""

import contextlib
import os
import pathlib

import pytest

import world
from conftest import ALICE, BOB
from test_contexts import PRESENCE, answer, heard, start
from test_others import STACK, session, su

ITEM = "generic-password --service script"
TOOL = world.CONTROL
TOOLS_GROUP = f"exe:{TOOL}"
OWNER = f"exe:{os.path.realpath('/usr/bin/python3')}"
ATTEMPTS = (f"get {ITEM}", "list generic-password", f"update {ITEM} --new-comment mine",
            f"update {ITEM} --new-group {TOOLS_GROUP}", f"delete {ITEM}",
            "delete generic-password --all", f"access add {ITEM} --program {TOOL}",
            f"access show {ITEM}")
NOBODY_TO_ASK = 4


@pytest.fixture(scope="module", autouse=True)
def with_tools(tools):
    pass


def owner_adds(shell, name="script"):
    start(shell, f"add:{name}:0")
    assert heard(shell) == "<done>"


def owner_reads(shell):
    start(shell, "read:script:A")
    assert heard(shell) == "<s3cret>"


def attempts(run):
    """Each is refused, and says nothing of the item."""
    for words in ATTEMPTS:
        got = run(words)
        status, said = ((got.status, got.text) if isinstance(got, world.Result)
                        else (got.returncode, got.stdout + got.stderr))
        assert status == NOBODY_TO_ASK, (words, got)
        assert "s3cret" not in said and "script" not in said.replace(ITEM, ""), (words, got)


def by_itself(shell):
    """As an autostart program of the login does: on no terminal, with no input."""
    return lambda words: shell.run(f"setsid -w {TOOL} {words} </dev/null 2>&1")


@contextlib.contextmanager
def on_a_terminal(login, tmp_path):
    shell = su(ALICE, (ALICE[1],), STACK, caller=BOB)
    yield shell, by_itself(shell)
    shell.close()
    pathlib.Path("/etc/pam.d/su-l").unlink()


@contextlib.contextmanager
def by_ssh(login, tmp_path):
    shell = login()
    yield shell, by_itself(shell)


@contextlib.contextmanager
def by_ssh_without_a_terminal(login, tmp_path):
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    # What the first connection's login is asked to run besides.
    command = ["ssh", "-F", "none", "-S", control, f"{ALICE[0]}@127.0.0.1"]
    yield shell, lambda words: world.run(*command, f"{TOOL} {words}", check=False,
                                         stdin=world.subprocess.DEVNULL)


@contextlib.contextmanager
def by_cron(login, tmp_path):
    shell = login()
    with session("cron", ALICE[0]):
        yield shell, lambda words: world.as_user(ALICE[0], TOOL, *words.split())


@contextlib.contextmanager
def by_a_service_manager(login, tmp_path):
    # A process of the user's that descends from no login, while there is one.
    shell = login()
    yield shell, lambda words: world.as_user(ALICE[0], "setsid", "-w", TOOL, *words.split())


@pytest.mark.parametrize("kind", [on_a_terminal, by_ssh, by_ssh_without_a_terminal, by_cron,
                                  by_a_service_manager])
def test_right_after_a_login_the_tools_open_nothing_of_others(kind, login, tmp_path):
    with kind(login, tmp_path) as (shell, run):
        owner_adds(shell)
        attempts(run)
        # The user is asked, and may have it.
        got = shell.run(f"{TOOL} get {ITEM}", [ALICE[1]])
        assert got.status == 0 and "s3cret" in got.text
        # That was for the terminal on which it was given.
        attempts(run)
        owner_reads(shell)


def test_what_starts_with_the_shell_is_asked_about(login):
    owner_adds(login())
    home = pathlib.Path(world.pwd.getpwnam(ALICE[0]).pw_dir)
    profile, stolen = home / ".bash_profile", home / "stolen"
    profile.write_text(f"{TOOL} get {ITEM} --no-prompt >{stolen} 2>&1 </dev/null\n"
                       f"setsid -w {TOOL} get {ITEM} >>{stolen} 2>&1 </dev/null\n")
    try:
        shell = login()
        assert stolen.exists() and "s3cret" not in stolen.read_text()
        owner_reads(shell)
    finally:
        profile.unlink()
        stolen.unlink(missing_ok=True)


def test_on_the_user_s_own_terminal_a_background_program_has_the_user_asked(login):
    shell = login()
    owner_adds(shell)
    shell.send(f"{TOOL} get {ITEM} </dev/null; echo \"<status $?>\"")
    shell.terminal.expect(f"{TOOL} wants to read the keychain item")
    shell.terminal.expect("(?m)assword: ?$")
    shell.terminal.sendcontrol("c")
    shell.terminal.expect(r"<status (\d+)>")
    assert shell.terminal.match.group(1) == "7" and "s3cret" not in shell.terminal.before


def test_a_question_of_another_program_opens_nothing_to_the_tools(login, tmp_path):
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    owner_adds(shell)
    window = login(ALICE, "-S", control, password=False)
    program = world.Beside(shell, window)
    start(program, f"add:bank:{PRESENCE}", "read:bank:A")
    assert heard(program) == "<done>"
    answer(window)
    assert heard(program) == "<s3cret>"
    attempts(by_itself(shell))
    # On its own terminal neither, once no program of the other one writes there.
    program.send("exit")
    asked = shell.run(f"{TOOL} get {ITEM}", [ALICE[1]])
    assert "assword" in asked.text, asked


def test_the_question_says_what_it_opens_for_whom_and_how_long(login):
    shell = login()
    owner_adds(shell)
    name = shell.run("tty").text.split()[-1].removeprefix("/dev/")
    asked = " ".join(shell.run(f"{TOOL} get {ITEM}", [ALICE[1]]).text.split())
    assert (f"For 5 minutes the answer also opens the items of all your other programs to the"
            f" same program on terminal {name}.") in asked


def test_an_answer_serves_its_terminal_for_reading_and_for_nothing_else(login, tmp_path):
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    for name in ("script", "other"):
        owner_adds(shell, name)
    assert "s3cret" in shell.run(f"{TOOL} get {ITEM}", [ALICE[1]]).text
    # No more answers than these are given: what asks for another fails.
    assert "s3cret" in shell.run(f"{TOOL} get generic-password --service other").text
    window = login(ALICE, "-S", control, password=False)
    assert "s3cret" in window.run(f"{TOOL} get {ITEM}", [ALICE[1]]).text
    asks = ("list generic-password", f"delete generic-password --service other",
            f"update {ITEM} --new-group {TOOLS_GROUP}")
    for words in asks:
        assert shell.run(f"setsid -w {TOOL} {words} </dev/null").status == NOBODY_TO_ASK, words
        quiet = shell.run(f"{TOOL} {words} --no-prompt")
        assert quiet.status == NOBODY_TO_ASK or "script" not in quiet.text, words
    owner_reads(shell)


def test_deleting_another_program_s_item_takes_an_answer_of_its_own(login):
    shell = login()
    owner_adds(shell)
    assert shell.run(f"{TOOL} get {ITEM}", [ALICE[1]]).status == 0
    shell.send(f"{TOOL} delete {ITEM}; echo \"<status $?>\"")
    shell.terminal.expect(f"{TOOL} wants to delete the keychain item .script.")
    shell.terminal.expect("(?m)assword: ?$")
    shell.terminal.sendline(ALICE[1])
    shell.terminal.expect(r"<status 0>")
    start(shell, "read:script:A")
    assert heard(shell) == "<10>"


def test_an_item_moves_to_the_tool_s_own_group_only_when_its_user_was_told(login):
    shell = login()
    owner_adds(shell)
    assert shell.run(f"{TOOL} get {ITEM}", [ALICE[1]]).status == 0
    moved = shell.run(f"{TOOL} update {ITEM} --new-group {TOOLS_GROUP}", [ALICE[1]])
    assert moved.status == 0
    said = " ".join(moved.text.split())
    assert f"It would give the item for good to “{TOOL}”, which opens it unasked" in said
    # From now on it is the tool's own.
    assert "s3cret" in by_itself(shell)(f"get {ITEM}").text
    assert shell.run(f"{TOOL} update {ITEM} --new-group {OWNER}").status != 0


def test_a_program_changes_moves_and_deletes_its_own_items_unasked(login):
    shell = login()
    run = by_itself(shell)
    assert shell.run(f"printf mine | {TOOL} add generic-password --service own").status == 0
    own = "generic-password --service own"
    assert run(f"update {own} --new-accessible after-first-unlock --new-flags none").status == 0
    assert run(f"update {own} --new-accessible when-unlocked --new-flags none").status == 0
    assert "own" in run("list generic-password").text
    assert run(f"delete {own}").status == 0
