# SPDX-License-Identifier: Apache-2.0
"""A login keychain whose login got another password behind its back: the first program that needs it
has its user asked for the older one, and all is as before."""

import re

import pytest

import world
from conftest import ALICE, forget_keys
from test_login import ADD, ALONE, GET, NEW, end_logins, first_password_again, prove  # noqa: F401
from test_protectors import typed, write_down

NOW = (ALICE[0], NEW)
ASKED = "use your keychain “login”, which your login did not open"
REFUSED_LOCKED = "<24>"


@pytest.fixture
def later(login, first_password_again, daemon):  # noqa: F811
    """The first login after a boot, and after root gave its user another password."""
    prove(login)
    daemon.stop()
    forget_keys()
    daemon.start()
    world.make_account(*NOW)
    return login(NOW)


def operations(daemon, name):
    daemon.stop()
    records = re.findall(rf'"operation":"{name}","outcome":"(\w+)"',
                         (world.STATE / "audit.jsonl").read_text())
    daemon.start()
    return records


def test_the_first_program_that_needs_it_has_its_user_asked_and_all_is_in_step_again(later, login):
    opened = later.run(GET, [ALICE[1]])
    assert opened.status == 0 and "s3cret" in opened.text
    assert f"{world.CONTROL} wants to {ASKED}" in opened.text
    assert later.run(ALONE).text.strip() == "s3cret"
    end_logins()
    shell = login(NOW)
    assert shell.run(ALONE).text.strip() == "s3cret"
    shell.run("keychainctl lock")
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 6


@pytest.mark.parametrize("verb", ["add generic-password --service other",
                                  "update generic-password --service mail --secret-stdin",
                                  "delete generic-password --service mail"])
def test_an_item_can_be_added_changed_or_deleted_as_well(verb, later, daemon):
    done = later.run(f"printf other | keychainctl {verb}", [ALICE[1]])
    assert done.status == 0 and ASKED in done.text, done
    assert operations(daemon, "unlock")[-1] == "allowed"


def test_a_slip_is_told_and_three_end_the_question(later, daemon):
    opened = later.run(GET, ["", "not it", ALICE[1]])
    assert opened.status == 0 and opened.text.count("That does not open the keychain.") == 2


def test_guesses_are_counted_and_slow_down_all_that_follow(later, daemon):
    guessed = later.run(GET, ["a", "b", "c"])
    assert guessed.status == 6 and "s3cret" not in guessed.text
    # Nobody is asked now: it is locked, as it was before there was a question.
    assert later.run(GET).status == 4
    assert later.run("keychainctl unlock", [ALICE[1]]).status == 6
    assert operations(daemon, "unlock")[-3:].count("authenticationFailed") == 1


def test_a_no_is_an_answer(later):
    later.send(GET + "; echo \"<status $?>\"")
    later.terminal.expect("(?m)assword: ?$")
    later.terminal.sendcontrol("c")
    later.terminal.expect(r"<status (\d+)>")
    assert later.terminal.match.group(1) == "7"


def test_who_can_t_be_asked_or_does_not_want_to_hears_that_it_is_locked(later, tools, daemon):
    assert later.run(ALONE).status == 4
    quiet = later.run(f"/usr/bin/python3 -B {world.TOOLS}/client.py quiet:mail:x")
    assert quiet.text.strip() == REFUSED_LOCKED
    assert operations(daemon, "unlock")[-1] == "wrongPassword"  # the login's own


def test_the_recovery_key_does_as_well(login, first_password_again):  # noqa: F811
    login().run(ADD)
    end_logins()
    paper = write_down(login())
    end_logins()
    world.make_account(*NOW)
    shell = login(NOW)
    opened = typed(shell, GET, paper.lower())
    assert opened.status == 0 and "s3cret" in opened.text
    end_logins()
    assert login(NOW).run(ALONE).text.strip() == "s3cret"


def test_one_answer_serves_all_who_waited_for_it(login, first_password_again, tmp_path):  # noqa: F811
    prove(login)
    world.make_account(*NOW)
    control = str(tmp_path / "control")
    shell = login(NOW, "-M", "-S", control)
    window = login(NOW, "-S", control, password=False)
    window.send("keychainctl prompter")
    window.terminal.expect("waiting")
    shell.send(f"for n in 1 2 3; do {ALONE} & done; wait; echo \"<done>\"")
    window.terminal.expect(ASKED)
    window.terminal.expect("(?m)assword: ?$")
    window.terminal.sendline(ALICE[1])
    shell.terminal.expect("<done>\r\n")
    assert shell.terminal.before.count("s3cret") == 3
    window.terminal.expect("confirmed")
    assert ASKED not in window.terminal.before


def test_a_lock_while_the_question_is_open_counts(later, login):
    other = login(NOW)
    later.send(GET + "; echo \"<status $?>\"")
    later.terminal.expect("(?m)assword: ?$")
    assert other.run("keychainctl lock").status == 0
    later.terminal.sendline(ALICE[1])
    later.terminal.expect(r"<status (\d+)>")
    assert later.terminal.match.group(1) == "4" and "s3cret" not in later.terminal.before


def test_where_the_login_s_keys_are_gone_it_opens_and_stays_out_of_step(later, login):
    assert later.run(ALONE).status == 4
    ring = world.run("keyctl", "search", "@u", "keyring", world.keyring_name()).stdout.strip()
    found = re.search(r"(\d+) .*user: renewal:", world.run("keyctl", "show", ring).stdout)
    world.run("keyctl", "invalidate", found.group(1))
    assert later.run(GET, [ALICE[1]]).status == 0
    end_logins()
    shell = login(NOW)
    assert shell.run(ALONE).status == 4
    assert shell.run(GET, [ALICE[1]]).status == 0


def test_an_item_s_own_question_comes_after_it(login, first_password_again, tools):  # noqa: F811
    login().run(ADD.replace("mail", "bank") + " --flags user-presence")
    end_logins()
    login().close()
    world.make_account(*NOW)
    get = GET.replace("mail", "bank")
    opened = login(NOW).run(get, [ALICE[1], NEW])
    assert opened.status == 0 and "s3cret" in opened.text
