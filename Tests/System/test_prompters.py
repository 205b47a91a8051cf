# SPDX-License-Identifier: Apache-2.0
"""Prompters that have the right group and the wrong manners: whatever they do, nothing opens that
PAM did not open, and the asking program hears of it at once."""

import grp
import pathlib
import pwd
import time

import pexpect
import pytest

import world
from conftest import ALICE
from test_contexts import FAILED, NOT_ALLOWED_TO_ASK, PRESENCE

PYTHON = "/usr/bin/python3 -B"
CANCELLED, TOO_MANY = "<22>", "<25>"


class Terminal:
    """A terminal outside any login, on which programs of a user run."""

    PROMPT = "root-of-the-test> "

    def __init__(self, user):
        self.user = pwd.getpwnam(user)
        self.shell = pexpect.spawn("/bin/bash", ["--norc", "--noprofile"], encoding="utf-8",
                                   timeout=world.PATIENCE, echo=False, env={"PATH": "/usr/bin:/bin"})
        self.shell.sendline(f"PS1='{self.PROMPT[:4]}''{self.PROMPT[4:]}'; set +m")
        self.shell.expect_exact(self.PROMPT)

    def start(self, command, group=None):
        group = self.user.pw_gid if group is None else group
        self.shell.sendline(f"setpriv --reuid {self.user.pw_uid} --regid {group} --clear-groups"
                            f" {command}")

    def prompter(self, how, answer="none"):
        group = grp.getgrnam("_keychain-prompt").gr_gid
        self.start(f"{PYTHON} {world.TOOLS}/prompter.py {how} '{answer}' &", group)
        assert self.heard() == "<registered>"

    def asks(self, *steps, after=""):
        self.start(f"{PYTHON} {world.TOOLS}/client.py {' '.join(steps)} {after}")

    def heard(self):
        self.shell.expect(r"<[^>]+>")
        return self.shell.match.group(0)

    def hears(self, word):
        self.shell.expect_exact(word)


@pytest.fixture
def terminal(login, tools):
    login(ALICE)
    terminal = Terminal(ALICE[0])
    terminal.asks(f"add:bank:{PRESENCE}")
    assert terminal.heard() == "<done>"
    yield terminal
    terminal.shell.close(force=True)


def test_one_that_behaves_is_heard(terminal):
    terminal.prompter("honest", ALICE[1])
    terminal.asks("read:bank:A")
    terminal.hears("<asked>")
    assert terminal.heard() == "<s3cret>"


@pytest.mark.parametrize("how", ["dies", "speaks", "shouts", "rambles", "lies"])
def test_one_that_fails_at_the_question_ends_it_and_opens_nothing(terminal, how, daemon):
    before = daemon.worker(ALICE[0])
    terminal.prompter(how, ALICE[1])
    terminal.asks("read:bank:A", "quiet:bank:A")
    terminal.hears("<asked>")
    terminal.hears(NOT_ALLOWED_TO_ASK)
    terminal.hears(NOT_ALLOWED_TO_ASK)
    assert daemon.process.poll() is None and daemon.worker(ALICE[0]) == before


def test_one_that_answers_before_it_is_asked_is_not_heard(terminal):
    terminal.prompter("early", ALICE[1])
    terminal.asks("read:bank:A")
    terminal.hears(NOT_ALLOWED_TO_ASK)


def test_one_that_answers_twice_has_its_second_answer_taken_for_nothing(terminal):
    # PAM asks again after the wrong answer; the right one was there before that question.
    terminal.prompter("twice", ALICE[1])
    terminal.asks("read:bank:A", "quiet:bank:A")
    terminal.hears("<asked>")
    terminal.hears(NOT_ALLOWED_TO_ASK)
    terminal.hears(NOT_ALLOWED_TO_ASK)


def test_one_that_answers_late_answers_nothing(terminal):
    terminal.prompter("late", ALICE[1])
    terminal.asks("read:bank:A", after="& asking=$!")
    terminal.hears("<asked>")
    terminal.shell.sendline("kill $asking")
    # It registers anew and answers the question that is over.
    terminal.hears("<registered>")
    terminal.asks("read:bank:B")
    terminal.hears(NOT_ALLOWED_TO_ASK)


def test_a_yes_is_no_password(terminal):
    terminal.prompter("yes")
    terminal.asks("read:bank:A", "quiet:bank:A")
    for _ in range(3):
        terminal.hears("<asked>")
    terminal.hears(FAILED)
    terminal.hears(NOT_ALLOWED_TO_ASK)


def test_one_terminal_s_prompter_is_not_asked_for_another_s_program(terminal):
    terminal.prompter("honest", ALICE[1])
    other = Terminal(ALICE[0])
    other.asks("read:bank:A")
    assert other.heard() == NOT_ALLOWED_TO_ASK
    other.shell.close(force=True)


def test_a_second_prompter_is_refused_while_the_first_lives(terminal):
    terminal.prompter("honest", ALICE[1])
    group = grp.getgrnam("_keychain-prompt").gr_gid
    terminal.start(f"{PYTHON} {world.TOOLS}/prompter.py honest x &", group)
    assert terminal.heard() == "<refused 11>"


@pytest.fixture
def patient(daemon):
    """Without the baseline's limit on how often a program may ask."""
    policy = pathlib.Path("/etc/keychain/policies.d/50-test.yaml")
    before = daemon.log().count("rules in force")
    policy.write_text("policy: v1\nname: test\nrules:\n  - id: test.patient\n"
                      "    replaces: base.prompt-flood\n"
                      "    limit: {rate: 100/1m, by: [user, exe], then: deny}\n"
                      "    when: {prompted: true}\n")
    world.wait_for(lambda: daemon.log().count("rules in force") > before, "the policy")
    yield
    policy.unlink()


def test_three_questions_wait_behind_the_one_that_is_shown_and_a_fifth_is_refused(
        terminal, patient):
    terminal.prompter("slow", ALICE[1])
    for name in "ABCDE":
        terminal.asks(f"read:bank:{name}", after="&")
    heard = []
    while TOO_MANY not in heard:
        heard.append(terminal.heard())
    assert set(heard) <= {"<asked>", TOO_MANY}
    answers = world.TOOLS / "answers"
    answers.touch()
    try:
        heard += [terminal.heard() for _ in range(9 - len(heard))]
    finally:
        answers.unlink()
    assert sorted(word for word in heard if word != "<asked>") == [TOO_MANY] + ["<s3cret>"] * 4


def test_wrong_answers_slow_down_all_that_follow_and_a_right_one_does_not(terminal, patient):
    terminal.prompter("yes")
    terminal.asks("read:bank:A", "read:bank:B")
    heard = [word for word in (terminal.heard() for _ in range(5)) if word != "<asked>"]
    assert heard == [FAILED, TOO_MANY]


def test_the_second_no_is_heard_for_a_minute(terminal, patient):
    terminal.prompter("refuses")
    for _ in range(2):
        terminal.asks("read:bank:A")
        terminal.hears("<asked>")
        terminal.hears(CANCELLED)
        time.sleep(2.1)
    terminal.asks("read:bank:A")
    terminal.hears(TOO_MANY)


def test_a_no_on_one_terminal_silences_no_program_on_another(terminal, patient):
    terminal.prompter("refuses")
    for _ in range(2):
        terminal.asks("read:bank:A")
        terminal.hears("<asked>")
        terminal.hears(CANCELLED)
        time.sleep(2.1)
    other = Terminal(ALICE[0])
    other.prompter("honest", ALICE[1])
    other.asks("read:bank:A")
    other.hears("<asked>")
    assert other.heard() == "<s3cret>"
    other.shell.close(force=True)
