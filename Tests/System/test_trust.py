# SPDX-License-Identifier: Apache-2.0
"""Trusted applications: which programs an item lets in, and what its user is asked about the others.

The programs are copies of one that uses the library, installed like any: what each is allowed is
what the kernel says of its file."""

import json
import pathlib
import pwd
import re
import shutil
import time

import pytest

import world
from conftest import ALICE
from graphical import PINENTRIES, PROMPTER, pinentries, prompter_waits
from test_desktop import at_the_screen, desktop, desktop_server  # noqa: F401 (fixtures)
from test_policies import admin  # noqa: F401 (a fixture)

OWNER, LISTED, STRANGER = (world.PREFIX / "bin" / name for name in ("owner", "listed", "stranger"))
ITEM = "generic-password --service mail --account me"
ADD = f"printf mail-s3cret | {OWNER} add {ITEM}"
GET = f"{STRANGER} get {ITEM}"
CHOICE = r"\[a\]lways: ?$"


@pytest.fixture(scope="module", autouse=True)
def programs(prepared):
    for program in (OWNER, LISTED, STRANGER):
        shutil.copy(world.CONTROL, program)
    yield
    for program in (OWNER, LISTED, STRANGER):
        program.unlink()


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD).status == 0
    listed = shell.run(f"{OWNER} access add {ITEM} --program {LISTED}", [ALICE[1]])
    assert listed.status == 0, listed
    assert f"would let in: “{LISTED}”" in listed.text
    return shell


def asks(shell, command=GET):
    shell.send(f"{command}; echo \"<status $?>\"")


def chooses(terminal, word, password=ALICE[1]):
    """Answers the question there, and gives what it said."""
    terminal.expect(f"(?m){CHOICE}")
    said = terminal.before
    terminal.sendline(word)
    if password is not None:
        terminal.expect("(?m)assword: ?$")
        terminal.sendline(password)
    return said


def status(shell):
    """How it ended; what it said before is kept in `said`."""
    shell.terminal.expect(r"<status (\d+)>\r\n")
    shell.said = shell.terminal.before
    found = int(shell.terminal.match.group(1))
    shell.terminal.expect_exact(shell.PROMPT)
    return found


def lets_in(shell, word, password=ALICE[1]):
    asks(shell)
    chooses(shell.terminal, word, password)
    assert status(shell) == 0


def shown(shell):
    """The item's list, as its own program sees it."""
    text = shell.run(f"{OWNER} access show {ITEM} --json").text
    return json.loads(text)["items"][0]["trusted"]


def test_a_listed_program_reads_and_is_not_asked(shell):
    read = shell.run(f"{LISTED} get {ITEM}")
    assert read.status == 0 and "mail-s3cret" in read.text
    # It may look for it by less than its whole name.
    assert "mail" in shell.run(f"{LISTED} list generic-password").text


def test_a_listed_program_does_nothing_but_read(shell):
    assert shell.run(f"{LISTED} delete {ITEM}").status == 3
    assert shell.run(f"{LISTED} update {ITEM} --new-label x").status == 3
    assert shell.run(f"{LISTED} access reset {ITEM}").status == 3
    # Nor does it learn who else is listed.
    assert '"trusted"' not in shell.run(f"{LISTED} access show {ITEM} --json").text
    assert shell.run(f"{OWNER} get {ITEM}").status == 0


def test_who_asks_for_what_is_in_the_question(shell):
    asks(shell)
    said = chooses(shell.terminal, "once")
    assert f"{STRANGER} wants to read the keychain item “mail”." in said.replace("\r\n", "\n")
    assert f"The item belongs to “{OWNER}”." in said
    assert "Other programs of yours could start it, or take it over." in said
    assert "mail-s3cret" not in said
    assert status(shell) == 0
    assert "mail-s3cret" in shell.said


def test_once_is_once(shell):
    lets_in(shell, "once")
    asks(shell)
    chooses(shell.terminal, "deny", None)
    assert status(shell) == 7
    assert "mail-s3cret" not in shell.said


def test_a_yes_that_is_only_typed_is_worth_nothing(shell):
    asks(shell)
    chooses(shell.terminal, "always", "wrong")
    for _ in range(2):
        shell.terminal.expect("(?m)assword: ?$")
        shell.terminal.sendline("wrong too")
    shell.terminal.expect(r"<status (\d+)>")
    assert shell.terminal.match.group(1) == "6"
    shell.terminal.expect_exact(shell.PROMPT)
    assert [entry["program"] for entry in shown(shell)] == [f"exe:{LISTED}"]


def test_always_outlives_the_daemon_and_is_taken_back(shell, daemon):
    lets_in(shell, "always")
    daemon.restart()
    assert "mail-s3cret" in shell.run(GET).text
    entry = next(entry for entry in shown(shell) if entry["program"] == f"exe:{STRANGER}")
    assert "listedBy" not in entry and entry["strength"] == "root" and entry["listedAt"]
    removed = shell.run(f"{OWNER} access remove {ITEM} --program {STRANGER}", [ALICE[1]])
    assert removed.status == 0
    asks(shell)
    chooses(shell.terminal, "deny", None)
    assert status(shell) == 7


def test_a_session_ends_with_the_login(shell, login, daemon):
    lets_in(shell, "session")
    assert shell.run(GET).status == 0
    daemon.restart()
    assert shell.run(GET).status == 0
    other = login()
    asks(other)
    chooses(other.terminal, "deny", None)
    assert status(other) == 7
    shell.close()
    world.wait_for(lambda: not any(name.startswith("trust:") for name in world.names_of_records()),
                   "what was allowed to end")


def test_a_lock_ends_what_was_allowed_for_the_session(shell):
    lets_in(shell, "session")
    assert shell.run("keychainctl lock").status == 0
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    asks(shell)
    chooses(shell.terminal, "deny", None)
    assert status(shell) == 7


def test_what_was_allowed_for_the_session_is_taken_back(shell):
    lets_in(shell, "session")
    assert shell.run(f"{OWNER} access reset {ITEM}", [ALICE[1]]).status == 0
    assert shell.run(GET).status == 3
    assert shell.run(f"{LISTED} get {ITEM}").status == 3
    assert "lets in no other program" in shell.run(f"{OWNER} access show {ITEM}").text


def test_a_program_that_was_refused_twice_is_not_heard(shell):
    for _ in range(2):
        asks(shell)
        chooses(shell.terminal, "deny", None)
        assert status(shell) == 7
        time.sleep(2.2)
    assert shell.run(GET).status == 3


@pytest.mark.parametrize("command", [
    "setsid -w {get} </dev/null", "{get} --no-prompt", "{get} --group exe:/x",
    "{stranger} get generic-password --service mail", "{stranger} list generic-password",
    "{stranger} get generic-password --service mail --account you",
])
def test_where_no_question_is_asked_nothing_is_told(shell, command):
    found = shell.run(command.format(get=GET, stranger=STRANGER))
    assert found.status in (0, 3, 5) and "mail" not in found.text.replace(command, ""), found
    # The very same as where there is nothing.
    other = shell.run(command.format(get=GET, stranger=STRANGER).replace("mail", "none"))
    assert (found.status, found.text.replace("mail", "none")) == (other.status, other.text)


def test_what_is_not_there_is_asked_for_like_what_is(shell, tools):
    """A program that offers its terminal hears the same, before anything is shown."""
    for service in "mail", "none":
        told = shell.run(f"/usr/bin/python3 -B {world.TOOLS}/attacker.py offer_a_terminal {service}")
        assert told.text.strip() == "told to start a prompter"


def test_an_item_without_a_list_is_not_asked_about(shell):
    assert shell.run(f"printf x | {OWNER} add generic-password --service own --account me"
                     ).status == 0
    assert shell.run(f"{STRANGER} get generic-password --service own --account me").status == 3


def test_another_file_at_a_listed_path_is_another_program(shell):
    if world.as_user(ALICE[0], "unshare", "-Urm", "true").returncode != 0:
        pytest.skip("no user namespaces for users here")
    seen = shell.run(f"unshare -Urm sh -c 'mount --bind {STRANGER} {LISTED} && {LISTED} get {ITEM}"
                     " --no-prompt'")
    assert seen.status != 0 and "mail-s3cret" not in seen.text


def test_a_path_that_its_user_can_change_is_said_to_be_one(shell):
    shell.run(f"cp {STRANGER} ~/mine")
    asks(shell, f"~/mine get {ITEM}")
    said = chooses(shell.terminal, "always")
    assert re.search("An unverified program, “/[^”]*/mine”, wants to read", said)
    assert status(shell) == 0
    assert any(entry["strength"] == "weak" and entry["program"].endswith("/mine")
               for entry in shown(shell))
    assert "weak" in shell.run(f"{OWNER} access show {ITEM}").text


def test_a_listed_program_whose_folder_is_opened_is_another(shell):
    (world.PREFIX / "bin").chmod(0o777)
    try:
        assert shell.run(f"{LISTED} get {ITEM} --no-prompt").status == 3
    finally:
        (world.PREFIX / "bin").chmod(0o755)
    assert shell.run(f"{LISTED} get {ITEM}").status == 0


def test_a_forbidding_rule_wins_over_the_list(shell, admin):
    admin(f"""rules:
  - id: test.not-these
    forbid: Not these.
    operations: read-secret
    subject: {{exe: [{LISTED}, {STRANGER}]}}
""")
    assert shell.run(f"{LISTED} get {ITEM}").status == 5
    # A program that is not listed hears nothing of the rule, and no question is asked.
    assert shell.run(GET).status == 3


def test_where_a_rule_keeps_lists_as_they_are_always_is_not_offered(shell, admin):
    admin("""rules:
  - id: test.keep
    forbid: Lists stay.
    operations: change-acl
""")
    asks(shell)
    shell.terminal.expect(r"(?m)\[s\]ession[^\n]*: ?$")
    assert "lways" not in shell.terminal.before + shell.terminal.after
    shell.terminal.sendline("once")
    shell.terminal.expect("(?m)assword: ?$")
    shell.terminal.sendline(ALICE[1])
    assert status(shell) == 0
    assert shell.run(f"{OWNER} access reset {ITEM}").status == 5


def test_what_the_item_asks_for_is_asked_once(shell):
    assert shell.run(f"{OWNER} update {ITEM} --new-accessible when-unlocked"
                     " --new-flags user-presence", [ALICE[1]]).status == 0
    lets_in(shell, "session")
    # From now on the item's own question alone.
    assert shell.run(GET, [ALICE[1]]).status == 0


def test_the_tool_shows_and_takes_back_what_other_programs_have(shell):
    said = shell.run(f"keychainctl access show {ITEM}", [ALICE[1]])
    assert f"exe:{LISTED}" in said.text and f"exe:{OWNER}" in said.text
    removed = shell.run(f"keychainctl access remove {ITEM} --program {LISTED}", [ALICE[1]])
    assert removed.status == 0, removed
    assert f"no longer let in: “{LISTED}”" in removed.text
    assert shell.run(f"{LISTED} get {ITEM} --no-prompt").status == 3


def test_lists_are_changed_by_their_user_alone(shell):
    alone = shell.run(f"setsid -w {OWNER} access reset {ITEM} </dev/null")
    assert alone.status == 4
    assert shell.run(f"{OWNER} access reset {ITEM} --no-prompt").status == 4
    assert shell.run(f"{STRANGER} access add {ITEM} --program {STRANGER}").status == 3
    assert len(shown(shell)) == 1


def test_the_audit_tells_of_every_decision(shell, daemon):
    lets_in(shell, "once")
    lets_in(shell, "always")
    asks(shell, f"{LISTED} get generic-password --service none --account me")
    assert status(shell) == 3
    assert shell.run(f"{OWNER} access remove {ITEM} --program {STRANGER}", [ALICE[1]]).status == 0
    asks(shell)
    chooses(shell.terminal, "deny", None)
    assert status(shell) == 7
    daemon.stop()
    records = [json.loads(line) for line in
               world.audit_text().splitlines()]
    told = [(record["trust"], record["outcome"]) for record in records if record.get("trust")]
    assert told == [("added", "allowed"), ("once", "allowed"), ("always", "allowed"),
                    ("removed", "allowed"), ("denied", "cancelled")], told
    assert all("presence" in record["evidence"] or "passcode" in record["evidence"]
               for record in records if record.get("trust") and record["outcome"] == "allowed")


def test_a_registered_prompter_is_asked_for_the_programs_on_its_terminal(login, tmp_path):
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    assert shell.run(ADD).status == 0
    assert shell.run(f"{OWNER} access add {ITEM} --program {LISTED}", [ALICE[1]]).status == 0
    window = login(ALICE, "-S", control, password=False)
    beside = world.Beside(shell, window, "keychainctl prompter --terminal")
    asks(beside, f"{GET} </dev/null")
    said = chooses(window.terminal, "session")
    assert f"{STRANGER} wants to read" in said
    shell.terminal.expect(r"mail-s3cret.*<status 0>")


@pytest.fixture
def windows(at_the_screen, desktop):
    """A shell, in whose login a prompter waits on the desktop; and how its dialogs are answered."""
    shell, manager = at_the_screen
    assert shell.run(ADD).status == 0
    assert shell.run(f"{OWNER} access add {ITEM} --program {LISTED}", [ALICE[1]]).status == 0
    assert prompter_waits(manager, desktop) == ""
    seen = set()

    def answer(*keys):
        world.wait_for(lambda: [p for p in pinentries() if p.name not in seen], "a dialog")
        seen.update(entry.name for entry in pinentries())
        desktop.dialog()
        for key in keys:
            desktop.presses(key)

    return shell, answer


YES, NO = ("Tab", "Return"), ("Escape",)


def test_in_a_window_a_yes_is_enough_for_the_session(windows):
    shell, answer = windows
    asks(shell)
    for keys in (YES, YES, NO):
        answer(*keys)
    assert status(shell) == 0 and "mail-s3cret" in shell.said
    assert shell.run(GET).status == 0
    assert [entry["program"] for entry in shown(shell)] == [f"exe:{LISTED}"]


def test_a_window_that_is_closed_allows_the_least(windows):
    shell, answer = windows
    asks(shell)
    answer(*YES)
    answer(*NO)
    assert status(shell) == 0
    asks(shell)
    answer(*NO)
    assert status(shell) == 7 and "mail-s3cret" not in shell.said


def test_in_a_window_too_always_takes_the_password(windows, desktop):
    shell, answer = windows
    asks(shell)
    for keys in (YES, YES, YES):
        answer(*keys)
    answer()
    desktop.types(ALICE[1])
    desktop.presses("Return")
    assert status(shell) == 0
    assert f"exe:{STRANGER}" in [entry["program"] for entry in shown(shell)]


def test_a_prompter_with_windows_asks_for_no_yes_on_a_terminal(at_the_screen, desktop, tools):
    """Which may be that of the program that wants the yes."""
    shell, manager = at_the_screen
    assert shell.run(ADD).status == 0
    assert shell.run(f"{OWNER} access add {ITEM} --program {LISTED}", [ALICE[1]]).status == 0
    shutil.copy(world.TOP / "Tests/System/own_terminal.py", world.TOOLS)
    shown = pathlib.Path(pwd.getpwnam(ALICE[0]).pw_dir, "shown")
    command = f"/usr/bin/python3 -B {world.TOOLS}/own_terminal.py {shown} {PROMPTER}"
    assert prompter_waits(manager, desktop, command=command) == ""
    windows = [path for name in PINENTRIES[:3] for path in pathlib.Path("/usr/bin").glob(name)]
    try:
        for path in windows:
            world.run("mount", "--bind", "/bin/false", path)
        asks(shell)
        assert status(shell) == 7 and "mail-s3cret" not in shell.said
    finally:
        for path in windows:
            world.run("umount", path, check=False)
    assert b"wants to read" not in shown.read_bytes()
