# SPDX-License-Identifier: Apache-2.0
"""org.freedesktop.secrets where the user is asked, says no, or is not there: what each call does then, how
often the user is asked, and what answers are worth (secrets_prompts.py makes the calls)."""

import pathlib
import shutil

import pytest

import conftest
import world
from conftest import ALICE, BOB
from test_policies import admin  # noqa: F401 (a fixture)
from test_prompters import Terminal
from test_secret_service import desk, programs, work  # noqa: F401 (fixtures)

ASKED, DONE = "<asked>", "<status 0>"


@pytest.fixture(scope="module")
def cases(programs):
    shutil.copy(world.TOP / "Tests/System/secrets_prompts.py", world.TOOLS)
    return f"/usr/bin/python3 -B {world.TOOLS}/secrets_prompts.py"


def said(terminal, command):
    """What the prompter and the program say until the program's end."""
    terminal.on_a_bus(command)
    heard = [terminal.heard()]
    while not heard[-1].startswith("<status"):
        heard.append(terminal.heard())
    assert heard[-1] == DONE, terminal.shell.before
    return heard


def opened(terminal):
    assert terminal.login.run("keychainctl unlock", [ALICE[1]]).status == 0


def alone(terminal, command):
    """With no prompter."""
    opened(terminal)
    done = terminal.login.run(f"dbus-run-session -- {command}")
    assert done.status == 0, done


# CreateCollection.

@pytest.fixture
def collections(desk):
    yield desk
    world.run("sh", "-c", f"find {world.STATE} -name '*.keychain*' ! -name 'login.*' -delete")


def test_a_collection_is_named_by_its_label_and_made_with_a_password_of_its_user_s(collections, cases):
    collections.prompter("honest", ALICE[1])
    opened(collections)
    # One question each, and none for what is there or refused.
    assert said(collections, f"{cases} creates") == [ASKED] * 4 + [DONE]


def test_no_collection_is_made_where_the_user_says_no_or_is_not_there(collections, cases):
    alone(collections, f"{cases} creates_for_no_one")
    collections.prompter("refuses")
    assert said(collections, f"{cases} creates_none") == [ASKED, DONE]


def test_the_default_collection_of_a_user_who_has_none_is_login(daemon, cases):
    assert world.as_user(BOB[0], world.CONTROL, "secrets", "enable").returncode == 0
    terminal = Terminal(BOB[0])
    terminal.on_a_bus = lambda command: terminal.start(
        f"env HOME={terminal.user.pw_dir} dbus-run-session -- {command}; echo \"<status $?>\"")
    terminal.prompter("honest", "a new password")
    assert said(terminal, f"{cases} creates_login") == [ASKED, DONE]
    terminal.shell.close(force=True)


# SetAlias.

def test_aliases_are_set_and_removed_and_the_default_one_for_a_user_who_agrees(work, cases):
    work.prompter("honest", ALICE[1])
    assert said(work, f"{cases} sets_aliases") == [ASKED, DONE]


def test_no_alias_default_is_set_where_the_user_says_no_or_is_not_there(work, cases):
    alone(work, f"{cases} sets_no_default")
    work.prompter("refuses")
    assert said(work, f"{cases} sets_no_default") == [ASKED, DONE]


# Budgets.

def refuses_twice(terminal, cases, what):
    terminal.prompter("refuses")
    assert said(terminal, f"{cases} refused_twice {what}") == [ASKED, ASKED, DONE]


@pytest.mark.parametrize("what", ["unlock", "create"])
def test_after_two_nos_no_prompt_is_offered(desk, cases, what):
    refuses_twice(desk, cases, what)


def test_after_two_nos_no_collection_s_deletion_is_offered(work, cases):
    refuses_twice(work, cases, "collection")


def test_after_two_nos_no_item_s_deletion_is_offered(guarded, cases):
    refuses_twice(guarded, cases, "item")


@pytest.mark.parametrize("case, what, questions", [("guarded", "secret", 1), ("work", "alias", 2)])
def test_after_a_no_a_call_that_asks_by_itself_says_what_it_says_with_no_user_there(
        request, cases, case, what, questions):
    """Calls in the pause after a no count for base.prompt-flood, so that a read asks no second time."""
    terminal = request.getfixturevalue(case)
    terminal.prompter("refuses")
    assert said(terminal, f"{cases} calls_refused {what}") == [ASKED] * questions + [DONE]


# Secrets.

def test_where_a_rule_says_so_secrets_travel_encrypted_alone(desk, admin, cases):
    admin("""rules:
  - id: test.encrypted
    forbid: Secrets travel encrypted.
    operations: read-secret
    subject: {via: secret-service, transfer: plain}
    resource: {class: attributed}
""")
    alone(desk, f"{cases} encrypts")


def test_the_example_of_an_open_desktop_gives_each_program_what_others_keep(desk, admin, cases):
    opened(desk)
    other = world.TOOLS / "another-secret-tool"
    shutil.copy("/usr/bin/secret-tool", other)

    def on_a_bus(command):
        return desk.login.run(f"dbus-run-session -- sh -c '{command}'")

    # As stored by the fixture, by secret-tool.
    assert "s3cret" not in on_a_bus(f"{other} lookup a b").text
    example = (world.TOP / "Policies/examples/10-compatibility.yaml").read_text()
    admin(example[example.index("rules:"):example.index("tests:")])
    assert "s3cret" in on_a_bus(f"{other} lookup a b").text
    # While it is locked too, so that no program makes a second one.
    assert desk.login.run("keychainctl lock").status == 0
    told = on_a_bus("dbus-send --session --print-reply --dest=org.freedesktop.secrets"
                    " /org/freedesktop/secrets org.freedesktop.Secret.Service.SearchItems"
                    " dict:string:string:a,b").text
    assert told.count("/collection/login/") == 1, told
    opened(desk)
    cleared = on_a_bus(f"{other} clear a b; secret-tool lookup a b")
    assert cleared.status == 1 and "s3cret" not in cleared.text, cleared


def test_what_is_open_is_named_before_what_a_proof_opens(desk, admin, cases):
    admin("""rules:
  - id: test.guarded
    require: presence
    operations: read-secret
    resource: {class: attributed, label: kept}
""")
    alone(desk, f"{cases} open_first")


@pytest.fixture
def guarded(desk, admin):
    """Reading an item wants a proof, and so does deleting one that is labelled so."""
    admin("""rules:
  - id: test.guarded
    require: presence
    within: 1m
    operations: read-secret
    resource: {class: attributed}
  - id: test.kept
    require: presence
    operations: delete
    resource: {class: attributed, label: kept}
""")
    opened(desk)
    return desk


def test_a_read_asks_for_the_proof_once_for_many_connections(guarded, cases):
    guarded.prompter("honest", ALICE[1])
    assert said(guarded, f"{cases} asked_for") == [ASKED, DONE]


def test_an_item_without_attributes_is_unlocked_as_others_are(guarded, cases):
    guarded.prompter("honest", ALICE[1])
    assert said(guarded, f"{cases} unlocks_without_attributes") == [ASKED, DONE]


def test_an_answer_that_comes_after_the_call_serves_the_next_one(guarded, cases):
    guarded.prompter("tardy", ALICE[1])
    assert said(guarded, f"{cases} answered_late") == [ASKED, DONE]


def test_an_item_that_asks_for_a_proof_is_deleted_by_a_prompt(guarded, cases):
    guarded.prompter("honest", ALICE[1])
    assert said(guarded, f"{cases} deletes_item") == [ASKED, DONE]


def test_an_item_stays_where_the_user_says_no_or_is_not_there(guarded, cases):
    alone(guarded, f"{cases} keeps_item_of_no_one")
    guarded.prompter("refuses")
    assert said(guarded, f"{cases} keeps_item") == [ASKED, DONE]


# A locked keychain.

def test_ten_saves_and_ten_reads_of_new_connections_ask_once(desk, cases):
    desk.prompter("honest", ALICE[1])
    assert said(desk, f"{cases} saves_and_reads") == [ASKED, DONE]


@pytest.mark.parametrize("case, questions", [
    ("stands_in", 1), ("stands_in_for_none", 1), ("stands_in_no_more", 0)])
def test_what_stands_in_for_a_search_is_its_best_match_once_the_keychain_is_open(
        desk, daemon, cases, case, questions):
    opened(desk)
    home = pathlib.Path(desk.user.pw_dir)
    # Behind the prompter, whose terminal must be the program's.
    desk.start(f"env HOME={home} dbus-run-session -- sh -c '{cases} {case}; echo \"<status $?>\"' &")
    desk.hears("<ready>")
    daemon.stop()
    conftest.forget_keys()
    daemon.start()
    desk.prompter("honest", ALICE[1])
    (home / "restarted").touch()
    heard = [desk.heard() for _ in range(questions + 1)]
    (home / "restarted").unlink()
    assert heard == [ASKED] * questions + [DONE]
