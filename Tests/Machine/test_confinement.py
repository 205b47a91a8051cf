# SPDX-License-Identifier: Apache-2.0
"""Our own programs under their AppArmor profiles: what each is for goes on, which `guest` holds in
every test, and what it is not for does not."""

import json
import pathlib

import pytest
from conftest import ALICE, BOB

PROFILES = {"keychain-import", "keychain-tpm", "keychain-fido", "keychain-prompter",
            "keychain-secrets"}
ADD = "printf kept | keychainctl add generic-password --service mail --account me"
GET = "keychainctl get generic-password --service mail </dev/null"
SECRETS = ("busctl --user call org.freedesktop.secrets /org/freedesktop/secrets"
           " org.freedesktop.Secret.Service ")


def confined(guest, program):
    """Under which profiles it runs."""
    return set(guest.run(f"find /proc -mindepth 2 -maxdepth 2 -name exe -lname '{program}'"
                         " -printf '%h/attr/current\\n' 2>/dev/null | xargs cat").text.splitlines())


@pytest.mark.short
def test_our_programs_do_their_work_under_their_profiles(guest):
    told = json.loads(guest.run("aa-status --json").text)["profiles"]
    assert {name: told.get(name) for name in PROFILES} == dict.fromkeys(PROFILES, "enforce")

    console = guest.consoles[0].login(*ALICE)
    assert console.run(ADD).status == 0
    # keychain-import: a backup, and back.
    assert console.run("keychainctl backup mine.backup", [ALICE[1]]).status == 0
    assert console.run("keychainctl restore mine.backup", [ALICE[1]]).status == 0
    assert console.run("keychainctl unlock", [ALICE[1]]).status == 0
    assert console.run(GET).text.strip() == "kept"
    # keychain-fido, of which no device is here.
    added = console.run("keychainctl protector add fido2", [ALICE[1]] * 2)
    assert added.status != 0 and "does not answer, or refused" not in added.text, added.text
    # keychain-prompter, on another terminal and on this one.
    other = guest.consoles[1].login(*ALICE)
    other.send("keychainctl prompter")
    other.terminal.expect("waiting")
    assert confined(guest, "/usr/libexec/keychain/keychain-prompter") == {
        "keychain-prompter (enforce)"}
    other.terminal.send("\x03")
    other.terminal.expect_exact(other.PROMPT)
    assert console.run("keychainctl add generic-password --service bank --flags user-presence <<<x"
                       ).status == 0
    assert console.run("keychainctl get generic-password --service bank", [ALICE[1]]).status == 0
    # keychain-secrets, on the user's bus.
    assert console.run("keychainctl secrets enable").status == 0
    alias = console.run(SECRETS + "ReadAlias s default")
    assert alias.status == 0 and "/org/freedesktop/secrets/collection/" in alias.text, alias.text
    found = console.run(SECRETS + "SearchItems 'a{ss}' 0")
    assert found.status == 0, found.text
    assert confined(guest, "/usr/libexec/keychain/keychain-secrets") == {
        "keychain-secrets (enforce)"}
    console.logout()


@pytest.mark.short
def test_under_its_profile_a_program_writes_and_starts_nothing_of_the_machine_s(guest):
    """As root, in the place of each program."""
    for profile in sorted(PROFILES):
        for command in "echo >/etc/keychain-test", "/bin/true":
            done = guest.run(f"aa-exec -p {profile} -- /bin/sh -c '{command}'", check=False)
            assert done.status != 0 and "ermission denied" in done.text, (profile, command, done)
    assert guest.run("test -e /etc/keychain-test", check=False).status == 1
    assert len(guest.denials()) >= len(PROFILES)
    # These were meant.
    guest.run("dmesg --clear")


# Calls of amd64.
OPEN_AT, SOCKET, CONNECT, KILL, PTRACE, SET_USER, MOUNT, KEYCTL, UNSHARE = (
    257, 41, 42, 62, 101, 105, 165, 250, 272)
REFUSED, NOT_PERMITTED, MISSING, NO_SUCH_FAMILY, READ_ONLY = -13, -1, -2, -97, -30
READ_KEY, SET_RIGHTS_OF_KEY = 11, 5
HERE, READING, WRITING = -100, 0, 1
TAKEOVER = pathlib.Path(__file__).parents[1] / "System/takeover.py"
# None of them has a network, a way to more rights, or another number.
BY_UNIT = [
    *[([SOCKET, family, kind, 0], (NO_SUCH_FAMILY, NOT_PERMITTED))
      for family, kind in ((2, 1), (10, 1), (16, 3), (17, 3))],
    *[([UNSHARE, kind], (NOT_PERMITTED,)) for kind in (0x10000000, 0x20000)],
    ([MOUNT, "none", "/mnt", "tmpfs", 0, 0], (NOT_PERMITTED,)),
    *[([OPEN_AT, HERE, path, WRITING], (REFUSED, NOT_PERMITTED, READ_ONLY, MISSING))
      for path in ("/etc/passwd", "/usr/bin/env", "/etc/pam.d/login", "/home/alice/.bashrc")],
]


def tried(guest, process, wanted):
    """Has the process make these calls, each with the answers that it may get."""
    told = json.loads(guest.run(f"/usr/bin/python3 /run/takeover.py {process}",
                                input=json.dumps([call for call, _ in wanted])).text)
    assert len(told) == len(wanted)
    for (call, answers), answer in zip(wanted, told):
        assert answer in answers if answers else answer >= 0, (process, call, answer)
    return told


def address(path):
    """Of a local socket, and its length."""
    text = "\1\0" + path
    return text, len(text) + 1


def refusals(files, keys, users, processes):
    return [*[([OPEN_AT, HERE, path, READING], (REFUSED, MISSING)) for path in files],
            *[([KEYCTL, order, key, 0, 0], (REFUSED, NOT_PERMITTED))
              for key in keys for order in (READ_KEY, SET_RIGHTS_OF_KEY)],
            *[([SET_USER, user], (NOT_PERMITTED,)) for user in users],
            *[([KILL, process, 9], (NOT_PERMITTED,)) for process in processes],
            *[([PTRACE, 16, process, 0, 0], (NOT_PERMITTED,)) for process in processes]]


@pytest.mark.short
def test_a_process_that_was_taken_over_has_what_its_unit_gives_it(guest):
    """The rest: System/test_rights_of_processes.py, without units."""
    shells = [guest.consoles[place].login(*who) for place, who in enumerate((ALICE, BOB))]
    for shell in shells:
        assert shell.run(ADD).status == 0
    users = [int(guest.run(f"id -u {name}").text) for name, _ in (ALICE, BOB)]
    alices, bobs = (int(guest.run(f"pgrep -x kc:{user}").text) for user in users)
    folders = [f"/var/lib/keychain/{user}" for user in users]
    numbers = [int(guest.run(f"stat -c %u {folder}").text) for folder in folders]
    assert {number in range(0x7B000000, 0x7B010000) for number in numbers} == {True}
    assert len({*numbers}) == 2
    keychaind, broker = (int(guest.run(f"pgrep -x {name}").text)
                         for name in ("keychaind", "keychain-broker"))
    keys = [[int(line.split()[0], 16) for line in guest.run(
        f"setpriv --reuid={number} --clear-groups cat /proc/keys").text.splitlines()
        if f" {number} " in line] for number in numbers]
    assert min(map(len, keys)) > 2
    guest.run("cat >/run/takeover.py", input=TAKEOVER.read_text())

    # A worker.
    facts = guest.run(f"grep -E '^(Uid|Cap|NoNew)' /proc/{alices}/status").text
    assert f"Uid:\t{numbers[0]}\t{numbers[0]}\t{numbers[0]}\t{numbers[0]}\n" in facts, facts
    assert facts.count("0000000000000000\n") >= 4 and "NoNewPrivs:\t1" in facts, facts
    tried(guest, alices, [
        ([OPEN_AT, HERE, f"{folders[0]}/login.keychain", READING], None), *BY_UNIT,
        *refusals([folders[1], f"{folders[1]}/login.keychain", "/var/lib/keychain/device.key",
                   "/var/lib/keychain/audit", "/run/keychain/private", "/etc/shadow",
                   f"/run/keychain/users/{users[1]}", "/home/bob", "/home/alice", "/dev/tpm0", "/dev/mem",
                   f"/proc/{bobs}/mem", "/proc/1/environ", "/run/dbus", "/run/systemd/private"],
                  keys[1], [0, *users, numbers[1]], [1, keychaind, broker, bobs])])
    for name in "starter", "broker", "audit", "worker", "login":
        made, = tried(guest, alices, [([SOCKET, 1, 1 if name == "login" else 5, 0], None)])
        tried(guest, alices, [([CONNECT, made, *address(f"/run/keychain/{name}.sock")], (REFUSED,))])

    # keychaind, and the broker, which may read files.
    every_key = [key for some in keys for key in some]
    tried(guest, keychaind, [
        *BY_UNIT, *refusals([*folders, *(f"/run/keychain/users/{user}" for user in users), "/home/alice"],
                            every_key, [*users, *numbers], [alices, bobs])])
    tried(guest, broker, [
        *BY_UNIT, *[([OPEN_AT, HERE, f"{folder}/login.keychain", WRITING], (NOT_PERMITTED,))
                    for folder in folders],
        *refusals([], every_key, [*users, *numbers], [])])
    # None was harmed.
    assert [shell.run(GET).text.strip() for shell in shells] == ["kept", "kept"]
    for shell in shells:
        shell.logout()
