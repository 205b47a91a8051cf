# SPDX-License-Identifier: Apache-2.0
"""Questions on a terminal that other programs of its user read, or could read; and the programs that have
it open for a good reason."""

import os
import pathlib
import pwd
import shutil

import pytest

import world
from conftest import ALICE, BOB
from graphical import processes
from test_others import STACK, su
from test_presence import ADD, GET

NOBODY_TO_ASK, CANCELLED = 4, 7
READER = f"/usr/bin/python3 -B {world.TOOLS}/terminal_reader.py"
ASKED = r"(?m)assword: ?$"
NAMED = r"“(/\S*python\S*)” \(process (\d+)\) has this terminal open from elsewhere"


@pytest.fixture
def shell(login, tools):
    shutil.copy(world.TOP / "Tests/System/terminal_reader.py", world.TOOLS)
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


class Reader:
    """A program of another login of the user's."""

    def __init__(self, login, how, path):
        self.shell = login()
        # In no session of that login's own terminal either.
        self.shell.send(f"exec setsid -w {READER} {how} {path}")

    def heard(self):
        self.shell.terminal.expect(r"<([^>]*)>\r\n")
        return self.shell.terminal.match.group(1)

    def expect(self, word):
        heard = self.heard()
        while heard != word:
            heard = self.heard()
        return self

    def end(self):
        for reader in readers():
            os.kill(reader, 9)
        world.wait_for(lambda: not readers(), "the reader to end")


def readers():
    found = []
    for entry in processes("python3", os.path.basename(os.path.realpath("/usr/bin/python3"))):
        try:
            if b"terminal_reader.py" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


@pytest.fixture(autouse=True)
def no_reader_stays():
    yield
    for reader in readers():
        os.kill(reader, 9)


def terminal_of(shell):
    return shell.run("tty").text.strip()


def asks(shell):
    shell.send(f"{GET}; echo \"<status $?>\"")


def asks_beside(shell, login, how):
    """The reader comes once the command was typed, of which it would take keys, too."""
    terminal = terminal_of(shell)
    shell.send(f"while [ ! -e ~/go ]; do sleep 0.1; done; rm -f ~/go; {GET}; echo \"<status $?>\"")
    reader = Reader(login, how, terminal).expect("there")
    of_alice("go").touch()
    return reader


def of_alice(name):
    return pathlib.Path(pwd.getpwnam(ALICE[0]).pw_dir, name)


def ended(shell):
    """Its status, and what was said before."""
    shell.terminal.expect(r"<status (\d+)>\r\n")
    number, said = int(shell.terminal.match.group(1)), shell.terminal.before
    shell.terminal.expect_exact(shell.PROMPT)
    return number, said


def answers(shell):
    """It is asked, and opens the item."""
    asks(shell)
    shell.terminal.expect(ASKED)
    shell.terminal.sendline(ALICE[1])
    number, said = ended(shell)
    assert number == 0 and "bank-s3cret" in said, said


@pytest.mark.parametrize("how", ["reads", "holds", "writes"])
def test_a_program_of_another_login_that_has_the_terminal_open_is_named_and_nothing_asked(
        login, shell, how):
    reader = asks_beside(shell, login, how)
    assert shell.terminal.expect([NAMED, ASKED]) == 0
    assert [int(shell.terminal.match.group(2))] == readers()
    number, said = ended(shell)
    assert number == NOBODY_TO_ASK and "bank-s3cret" not in said
    reader.end()
    answers(shell)


def test_while_a_question_stands_no_program_can_open_the_terminal(login, shell):
    terminal = terminal_of(shell)
    asks(shell)
    shell.terminal.expect(ASKED)
    reader = Reader(login, "tries", terminal).expect("Device or resource busy")
    shell.terminal.sendline(ALICE[1])
    number, said = ended(shell)
    assert number == 0 and "bank-s3cret" in said
    # Afterwards it is as it was.
    reader.expect("there")


def test_a_reader_that_no_open_file_shows_is_noticed(login, shell):
    reader = asks_beside(shell, login, "hides")
    shell.terminal.expect("nother program reads what is typed")
    number, said = ended(shell)
    assert number == CANCELLED and "bank-s3cret" not in said
    reader.end()


@pytest.mark.parametrize("types", [True, False])
def test_a_terminal_that_is_given_away_while_a_question_stands_ends_it(login, shell, types):
    path = str(of_alice(f"given-{types}"))
    reader = Reader(login, "takes", path).expect("listens")
    shell.run(f"{READER} gives {path} & sleep 0.5")
    asks(shell)
    shell.terminal.expect(ASKED)
    pathlib.Path(path + ".now").touch()
    reader.expect("there")
    if types:
        shell.terminal.send(ALICE[1] + "\r")
    shell.terminal.expect(NAMED)
    shell.terminal.expect("not used. If that was a password, change it")
    number, said = ended(shell)
    assert number == NOBODY_TO_ASK and "bank-s3cret" not in said


def test_a_reader_with_another_user_s_number_is_noticed(login, shell):
    reader = Reader(login, "another", terminal_of(shell)).expect("needs a map")
    process, = readers()
    own = pwd.getpwnam(ALICE[0]).pw_uid
    try:
        pathlib.Path(f"/proc/{process}/uid_map").write_text(f"0 {own} 1\n1 300000 10\n")
    except OSError as error:
        pytest.skip(f"no map of users can be written here: {error.strerror}")
    reader.shell.send("")
    reader.expect("there")
    assert "\t300000\t" in pathlib.Path(f"/proc/{process}/status").read_text()
    asks(shell)
    assert shell.terminal.expect([NAMED, ASKED]) == 0
    assert ended(shell)[0] == NOBODY_TO_ASK


@pytest.mark.parametrize("files", ["", "3</dev/tty </dev/null >/dev/null 2>&1"])
def test_a_program_of_the_terminal_s_own_that_left_its_session_is_named(shell, files):
    """Also one that has it open by the name that each process has for its own terminal."""
    shell.run(f"setsid -f sleep 60 {files}; sleep 0.3")
    asks(shell)
    shell.terminal.expect(r"“/\S*sleep” \(process (\d+)\) has this terminal open")
    os.kill(int(shell.terminal.match.group(1)), 9)
    assert ended(shell)[0] == NOBODY_TO_ASK
    answers(shell)


def test_after_a_prompter_was_killed_the_terminal_serves_again(shell):
    asks(shell)
    shell.terminal.expect(ASKED)
    prompter, = processes("keychain-prompter")
    os.kill(int(prompter.name), 9)
    shell.terminal.expect(r"<status (\d+)>")
    shell.terminal.sendline("stty sane -echo")
    shell.terminal.expect_exact(shell.PROMPT)
    answers(shell)
    assert "opened" in shell.run("(: </dev/tty) && echo opened").text


# Programs that have it open for a good reason.

def test_a_program_that_has_its_own_terminal_open_does_no_harm(login, shell):
    login().run("(sleep 60 3</dev/tty &)")
    answers(shell)


def test_programs_of_the_same_session_do_no_harm(shell):
    shell.run("(sleep 60 &) ; bash -c 'sleep 60 & disown'")
    answers(shell)


def test_what_has_left_the_terminal_does_no_harm(shell):
    shell.run("setsid -f sleep 60 </dev/null >/dev/null 2>&1")
    answers(shell)


def test_a_terminal_below_another_one_does_no_harm(shell):
    shell.send("script -q /dev/null")
    shell.terminal.expect(r"\$ $")
    shell.send(f"PS1='{shell.PROMPT[:4]}''{shell.PROMPT[4:]}';"
               f" bind 'set enable-bracketed-paste off'; stty -echo; PATH={world.PREFIX}/bin:$PATH")
    shell.terminal.expect_exact(shell.PROMPT)
    answers(shell)


def test_a_shell_that_su_began_is_asked_there(daemon, tools):
    shell = su(ALICE, (ALICE[1],), STACK, caller=BOB)
    assert shell.run(ADD).status == 0
    answers(shell)


@pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
def test_a_pane_of_a_multiplexer_is_asked_there(shell):
    def pane():
        return shell.run("tmux -L keychain capture-pane -p").text

    shell.run("tmux -L keychain -f /dev/null new-session -d -x 180 -y 40")
    try:
        shell.run(f"tmux -L keychain send-keys 'PATH={world.PREFIX}/bin:$PATH {GET}' Enter")
        world.wait_for(lambda: "assword:" in pane(), "the question")
        shell.run(f"tmux -L keychain send-keys '{ALICE[1]}' Enter")
        world.wait_for(lambda: "bank-s3cret" in pane(), "the item")
    finally:
        shell.run("tmux -L keychain kill-server")
