# SPDX-License-Identifier: Apache-2.0
"""“All of it”: programs that a user lets into all that another one keeps over the Secret Service, and
how that ends."""

import json
import shutil
import time

import pytest

import world
from conftest import ALICE
from graphical import pinentries, prompter_waits
from test_desktop import at_the_screen, desktop, desktop_server  # noqa: F401 (fixtures)
from test_policies import PYTHON, admin, audit  # noqa: F401 (a fixture)
from test_secret_service import desk, paths, programs  # noqa: F401 (fixtures)
from test_trust import NO, YES, status

ACCESS = "keychainctl secrets access"


@pytest.fixture
def copies():
    folder = world.TOOLS / "three"
    folder.mkdir()
    copies = [folder / name for name in ("old", "new", "other")]
    for program in copies:
        shutil.copy("/usr/bin/secret-tool", program)
    yield copies
    shutil.rmtree(folder)


@pytest.fixture
def three(desk, copies):
    """Programs of which the first keeps three things, and the last is a stranger."""
    desk.old, desk.new, desk.other = copies
    shutil.copy(world.TOP / "Tests/System/let_in_client.py", world.TOOLS)
    assert desk.login.run("keychainctl unlock", [ALICE[1]]).status == 0
    for number in "123":
        kept = on_a_bus(desk, f"printf k{number} | {desk.old} store --label=L{number} app browser n {number}")
        assert kept.status == 0, kept
    return desk


def on_a_bus(desk, command):
    """Where no user can be asked."""
    return desk.login.run(f"dbus-run-session -- sh -c '{command}'", seconds=4 * world.PATIENCE)


def found(desk, program, pairs="app browser"):
    return sorted(set(paths(on_a_bus(desk, f"{program} search --all {pairs}").text)))


def joins(desk, program, how="everything"):
    """Lets the program in, by a question about the first thing."""
    desk.prompter(how, ALICE[1])
    desk.on_a_bus(f"{program} lookup app browser n 1")
    desk.hears("<to choose>")
    desk.hears("<asked>")
    desk.hears("k1")
    desk.hears("<status 0>")
    desk.shell.sendline("kill $!; wait $!")


def listed(desk):
    said = desk.login.run(f"{ACCESS} --json", [ALICE[1]])
    assert said.status == 0, said
    return json.loads(said.text[said.text.index("{"):])["access"]


def test_a_program_that_moved_has_all_of_it_while_locked_and_over_a_restart(three, daemon):
    old, new, other = three.old, three.new, three.other
    assert found(three, new) == []
    joins(three, new)
    all_ = found(three, old)
    assert len(all_) == 3 and found(three, new) == all_
    # It reads what no question was about, replaces it where it lies, and deletes it.
    assert "k2" in on_a_bus(three, f"{new} lookup app browser n 2").text
    changed = on_a_bus(three, f"printf minted | {new} store --label=L2 app browser n 2")
    assert changed.status == 0 and found(three, old) == all_, changed
    assert "minted" in on_a_bus(three, f"{old} lookup app browser n 2").text
    assert on_a_bus(three, f"{new} clear app browser n 3").status == 0
    left = found(three, old)
    assert len(left) == 2 and found(three, new) == left
    # What it makes is its own.
    assert on_a_bus(three, f"printf own | {new} store --label=own app browser n 4").status == 0
    assert found(three, old) == left and len(found(three, new)) == 3
    assert found(three, other) == []
    daemon.restart()
    assert len(found(three, new)) == 3 and found(three, other) == []
    assert three.login.run("keychainctl lock").status == 0
    assert len(found(three, new)) == 3 and found(three, other) == []
    # No key is minted over one that is locked.
    assert on_a_bus(three, f"{new} lookup app browser n 2 || printf m | {new} store --label=L app browser n 2") \
        .status != 0
    assert three.login.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert "minted" in on_a_bus(three, f"{new} lookup app browser n 2").text


def test_always_is_for_one_item_and_does_not_change_it(three):
    joins(three, three.new, "always")
    assert len(found(three, three.new)) == 1
    assert "Access is denied" in on_a_bus(three, f"{three.new} clear app browser n 1").text


def test_both_are_listed_and_taken_back_by_a_user_who_is_present(three, daemon):
    old, new, other = (f"exe:{program}" for program in (three.old, three.new, three.other))
    joins(three, three.new)
    joins(three, three.other, "always")
    refused = three.login.run(f"setsid -w {ACCESS} </dev/null 2>&1 | cat")
    assert "exe:" not in refused.text, refused
    text = three.login.run(ACCESS, [ALICE[1]])
    assert text.status == 0 and "everything" in text.text and "L1" in text.text, text
    entries = listed(three)
    assert [(entry["program"], entry["group"], entry.get("label")) for entry in entries] \
        == [(new, old, None), (other, old, "L1")], entries
    item = entries[1]["item"]
    # No program takes it back by itself.
    three.login.run(
        f"setsid -w {ACCESS} remove --program {three.new} --everything-of {three.old} </dev/null 2>&1 | cat")
    assert len(found(three, three.new)) == 3
    for entry, what in ((other, f"--item {item}"), (new, f"--everything-of {old}")):
        gone = three.login.run(f"{ACCESS} remove --program {entry} {what}", [ALICE[1]] * 2)
        assert gone.status == 0, gone
    assert found(three, three.new) == [] and found(three, three.other) == []
    assert listed(three) == []
    assert len(found(three, three.old)) == 3
    again = three.login.run(f"{ACCESS} remove --program {new} --everything-of {old}", [ALICE[1]] * 2)
    assert again.status != 0, again


def test_a_program_that_is_on_the_bus_has_it_no_longer_at_once(three):
    joins(three, three.new)
    # The same program as one that stays.
    shutil.copy(PYTHON, three.new)
    three.on_a_bus(f"{three.new} -B {world.TOOLS}/let_in_client.py")
    three.hears("<3 open, 0 locked, k")
    gone = three.login.run(
        f"{ACCESS} remove --program {three.new} --everything-of {three.old}", [ALICE[1]] * 2)
    assert gone.status == 0, gone
    three.shell.sendline("")
    three.hears("<0 open, 0 locked, NoSuchObject>")
    three.shell.sendcontrol("d")
    three.hears("<status 0>")


def test_the_programs_of_the_group_are_told_of_what_it_changes(three):
    joins(three, three.new)
    shutil.copy(PYTHON, three.old)
    told = on_a_bus(three, f"{three.old} -B {world.TOOLS}/let_in_client.py"
                           f" {three.new} store --label=changed app browser n 2")
    assert told.status == 0, told


def test_a_rule_about_strangers_ends_it(three, admin):
    joins(three, three.new)
    admin("""rules:
  - id: test.strangers
    forbid: Each program has its own.
    operations: [read-secret, read-attributes, update, delete]
    subject: {via: secret-service, member: false}
    resource: {class: attributed}
""")
    assert found(three, three.new) == []
    assert on_a_bus(three, f"{three.new} lookup app browser n 2").status == 1
    assert len(found(three, three.old)) == 3


def test_where_a_rule_keeps_lists_as_they_are_all_of_it_is_not_to_be_had(three, admin):
    admin("""rules:
  - id: test.lists
    forbid: Lists stay as they are.
    operations: change-acl
""")
    three.prompter("everything", ALICE[1])
    three.on_a_bus(f"{three.new} lookup app browser n 1")
    three.hears("<to choose>")
    three.hears("<status 1>")
    assert found(three, three.new) == []


def test_another_program_of_the_user_lets_none_in(three):
    """Neither by writing the record, nor by an answer that it gives, nor with a wrong password."""
    folder = f"/var/lib/keychain/{three.user.pw_uid}"
    for command in (f"ls {folder}", f"cat {folder}/login.keychain", f"touch {folder}/login.keychain-wal"):
        tried = three.login.run(command)
        assert tried.status != 0, tried
    # As a prompter without the group.
    three.start(f"/usr/bin/python3 -B {world.TOOLS}/prompter.py everything '{ALICE[1]}' &")
    assert three.heard().startswith("<refused")
    three.hears("<hung up>")
    three.prompter("everything", "guess")
    three.on_a_bus(f"{three.new} lookup app browser n 1")
    three.hears("<to choose>")
    three.hears("<asked>")
    three.hears("<status 1>")
    assert found(three, three.new) == []


def test_a_program_that_was_refused_twice_is_not_asked_about(three):
    three.prompter("deny", ALICE[1])

    def said():
        three.on_a_bus(f"{three.new} lookup app browser n 1")
        heard = [three.heard()]
        while not heard[-1].startswith("<status"):
            heard.append(three.heard())
        return heard

    for wanted in ["<to choose>", "<status 1>"], ["<to choose>", "<status 1>"], ["<status 1>"]:
        assert said() == wanted
        # A refusal is followed by a pause of two seconds, the second one by a minute.
        time.sleep(2.1)


def test_the_audit_tells_who_joined_and_who_took_it_back(three, daemon):
    joins(three, three.new)
    gone = three.login.run(
        f"{ACCESS} remove --program {three.new} --everything-of {three.old}", [ALICE[1]] * 2)
    assert gone.status == 0, gone
    told = [(line["trust"], line["outcome"]) for line in audit(daemon) if line.get("trust")]
    assert ("everything", "allowed") in told and ("removed", "allowed") in told, told


@pytest.mark.parametrize("last, has", [(YES, 2), (NO, 1)])
def test_in_windows_all_of_it_is_one_dialog_more_and_takes_the_password(
        at_the_screen, desktop, login, programs, copies, last, has):
    shell, manager = at_the_screen
    old, new, _ = copies
    assert shell.run("rm -rf ~/.local/share/dbus-1; keychainctl secrets enable").status == 0
    bus = "dbus-run-session -- sh -c"
    for number in "12":
        kept = shell.run(f"{bus} 'printf k{number} | {old} store --label=L{number} app browser n {number}'")
        assert kept.status == 0, kept
    assert prompter_waits(manager, desktop) == ""
    shell.send(f"setsid -w {bus} '{new} lookup app browser n 1' </dev/null; echo \"<status $?>\"")
    seen = set()

    def dialog():
        world.wait_for(lambda: [p for p in pinentries() if p.name not in seen], "a dialog")
        seen.update(entry.name for entry in pinentries())
        desktop.dialog()

    for keys in (YES, YES, YES, last):
        dialog()
        for key in keys:
            desktop.presses(key)
    dialog()
    desktop.types(ALICE[1])
    desktop.presses("Return")
    assert status(shell) == 0 and "k1" in shell.said
    # In a login without a display no user can be asked.
    quiet = login().run(f"{bus} '{new} search --all app browser'")
    assert len(set(paths(quiet.text))) == has, quiet
