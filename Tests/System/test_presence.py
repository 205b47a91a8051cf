# SPDX-License-Identifier: Apache-2.0
"""Items that ask for their user before they open."""

import pytest

import world
from conftest import ALICE
from graphical import processes

ADD = ("printf bank-s3cret | keychainctl add generic-password --service bank --account me"
       " --flags user-presence")
GET = "keychainctl get generic-password --service bank --account me"


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


def test_the_right_password_opens_the_item(shell):
    answered = shell.run(GET, [ALICE[1]])
    assert answered.status == 0 and "bank-s3cret" in answered.text


def test_the_question_says_who_asks_for_what(shell):
    text = shell.run(GET, [ALICE[1]]).text
    assert f"{world.CONTROL} wants to read" in text and "“bank”" in text


def test_three_wrong_answers_end_the_question(shell):
    answered = shell.run(GET, ["wrong", "wrong too", "wrong again"])
    assert answered.status == 6 and "bank-s3cret" not in answered.text


def test_presence_is_asked_for_each_time(shell):
    assert shell.run(GET, [ALICE[1]]).status == 0
    assert shell.run(GET, [ALICE[1]]).status == 0


def test_ctrl_c_is_a_cancel_and_no_answer(shell):
    shell.send(GET + "; echo \"<status $?>\"")
    shell.terminal.expect("(?m)assword: ?$")
    shell.terminal.sendcontrol("c")
    shell.terminal.expect(r"<status (\d+)>")
    assert shell.terminal.match.group(1) == "7"


def test_with_no_user_to_ask_the_answer_comes_at_once(shell):
    alone = shell.run("setsid -w " + GET + " </dev/null 2>&1")
    assert alone.status == 4 and "bank-s3cret" not in alone.text


def test_a_registered_prompter_is_asked_for_the_programs_on_its_terminal(login, tmp_path):
    # Two terminals of one login: the second goes through the first's connection.
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    assert shell.run(ADD).status == 0
    window = login(ALICE, "-S", control, password=False)
    shell = world.Beside(shell, window)
    shell.send(GET + " </dev/null; echo \"<status $?>\"")
    window.terminal.expect("wants to read")
    window.terminal.expect("(?m)assword: ?$")
    window.terminal.sendline(ALICE[1])
    shell.terminal.expect(r"bank-s3cret.*<status 0>")
    assert "bank-s3cret" not in window.terminal.before


def test_a_prompter_on_one_terminal_is_asked_for_no_program_elsewhere(login, tmp_path):
    control = str(tmp_path / "control")
    shell = login(ALICE, "-M", "-S", control)
    assert shell.run(ADD).status == 0
    window = login(ALICE, "-S", control, password=False)
    window.send("keychainctl prompter")
    window.terminal.expect("waiting")
    # Neither a program without a terminal, nor one with another terminal, which asks on its own.
    assert shell.run("setsid -w " + GET + " </dev/null 2>&1").status == 4
    assert shell.run(GET, [ALICE[1]]).status == 0
    window.terminal.sendcontrol("c")
    window.terminal.expect_exact(window.PROMPT)
    assert "wants to" not in window.terminal.before


def test_a_prompter_in_the_background_leaves_its_terminal_to_the_programs(shell):
    shell.run("(keychainctl prompter </dev/null >/dev/null &)")
    world.wait_for(lambda: processes("keychain-prompter"), "the prompter")
    assert shell.run(GET, [ALICE[1]]).status == 0


def test_the_item_is_deleted_without_a_question(shell):
    assert shell.run("keychainctl delete generic-password --service bank").status == 0
    assert shell.run(GET).status == 3


def test_an_empty_password_is_not_an_answer(shell):
    answered = shell.run(GET, ["", "", ""])
    assert answered.status in (6, 7) and "bank-s3cret" not in answered.text


def test_a_keychain_that_is_locked_while_the_question_is_open_stays_locked(login):
    shell, other = login(), login()
    assert shell.run(ADD).status == 0
    shell.send(GET + "; echo \"<status $?>\"")
    shell.terminal.expect("(?m)assword: ?$")
    assert other.run("keychainctl lock").status == 0
    shell.terminal.sendline(ALICE[1])
    shell.terminal.expect(r"<status (\d+)>")
    assert shell.terminal.match.group(1) == "4"
    assert "bank-s3cret" not in shell.terminal.before
