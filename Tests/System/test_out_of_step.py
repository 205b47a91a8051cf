# SPDX-License-Identifier: Apache-2.0
"""A login keychain whose login got another password behind its back: the first program that needs it
has its user asked for the older one, and all is as before."""

import re
import shutil

import pytest

import world
from conftest import ALICE, forget_keys
from test_login import ADD, ALONE, GET, NEW, end_logins, first_password_again, prove  # noqa: F401
from test_policies import admin  # noqa: F401
from test_protectors import typed, write_down

NOW = (ALICE[0], NEW)
ASKED = "use your keychain “login”, which your login did not open"
REFUSED_LOCKED = "<24>"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tmp_path_factory.mktemp("proven") / "files"


@pytest.fixture
def reset(login, first_password_again, daemon, files):  # noqa: F811
    """A keychain that two logins have opened, a boot, and another password from root."""
    if not files.exists():
        prove(login)
        daemon.stop()
        shutil.copytree(world.STATE, files)
    daemon.stop()
    for entry in world.STATE.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(files, world.STATE, dirs_exist_ok=True)
    forget_keys()
    daemon.start()
    world.make_account(*NOW)


@pytest.fixture
def later(login, reset):
    return login(NOW)


def operations(daemon, name):
    daemon.stop()
    records = re.findall(rf'"operation":"{name}","outcome":"(\w+)"',
                         world.audit_text())
    daemon.start()
    return records


def test_the_first_program_that_needs_it_has_its_user_asked_and_all_is_in_step_again(later, login):
    opened = later.run(GET, [ALICE[1]])
    assert opened.status == 0 and "s3cret" in opened.text
    assert f"{world.CONTROL} wants to {ASKED}" in opened.text
    # From now on either does, as a screen locker's would.
    later.run("keychainctl lock")
    assert later.run("keychainctl unlock", [NEW]).status == 0
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
    # Each pause is twice the one before: soon no question is asked, and it is
    # locked as it was before.
    tries = range(6)
    assert any(later.run(GET, ["a", "b", "c"]).status == 4 for _ in tries)
    assert any("too many tries" in later.run("keychainctl unlock", ["a"]).text for _ in tries)
    assert "authenticationFailed" in operations(daemon, "unlock")


def test_the_policy_s_limits_on_questions_count_it(admin, later):  # noqa: F811
    admin("""rules:
  - id: test.once
    replaces: base.prompt-flood
    limit: {rate: 1/1h, by: [user, exe], then: deny}
    when: {prompted: true}
""")
    assert later.run(GET, ["a", "b", "c"]).status == 6
    refused = later.run(GET)
    assert refused.status == 4 and "test.once" in refused.text


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


def test_one_answer_serves_all_who_waited_for_it(login, reset, tmp_path):
    control = str(tmp_path / "control")
    shell = login(NOW, "-M", "-S", control)
    window = login(NOW, "-S", control, password=False)
    shell = world.Beside(shell, window)
    shell.send(f"for n in 1 2 3; do {GET} & done; wait; echo \"<done>\"")
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
    found = re.search(r"(\d+) .*user: renewal:", world.keys_of_daemon())
    gone = world.as_number(world.worker_number(ALICE[0]), "keyctl", "invalidate", found.group(1))
    assert gone.returncode == 0, gone
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
