# SPDX-License-Identifier: Apache-2.0
"""What closes a keychain without being asked to: locked screens, sleep, sessions that end."""

import json
import signal
import time

import dbus
import pytest

import world
from conftest import ALICE, BOB

ADD = "printf {0}-s3cret | keychainctl add generic-password --service {0} --account me"
GET = "keychainctl get generic-password --service {0}"
LOCKED = 4
FORBIDDEN = 5
NOT_PROVEN = 6


@pytest.fixture
def logind(daemon):
    """Runs already, and the daemon has heard of it."""
    running = start(world.LoginManager(), daemon)
    yield running
    running.forget()


def start(logind, daemon):
    before = daemon.log().count("listening to logind")
    logind.start()
    world.wait_for(lambda: daemon.log().count("listening to logind") > before,
                   "the daemon to find logind")
    return logind


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = world.SSHServer(tmp_path_factory.mktemp("logind"), "keychain-test-logind",
                              auth=world.LOGIND_AUTH, session=world.LOGIND_SESSION).start()
    yield running
    running.stop()


@pytest.fixture
def session(login, server, logind):
    """A login that logind knows, with an item of each kind in its keychain."""
    logind.add_session("c1", ALICE[0])
    shell = login(server=server)
    for name, accessible in (("mail", "when-unlocked"), ("sync", "after-first-unlock"),
                             ("wifi", "always")):
        added = shell.run(ADD.format(name) + " --accessible " + accessible)
        assert added.status == 0, added
    return shell


def reads(shell):
    """Which of the items open."""
    return [name for name in ("mail", "sync", "wifi")
            if f"{name}-s3cret" in shell.run(GET.format(name)).text]


def wait_until_closed(shell, left=("sync", "wifi")):
    world.wait_for(lambda: reads(shell) == list(left), "the keychain to close")


def status(shell):
    return json.loads(shell.run("keychainctl status --json").text)["keychains"][0]


def until_heard(logind, daemon):
    """The daemon has heard everything that was said before. Each user's worker hears it from keychaind,
    and another user's tells that it has."""
    daemon.worker(BOB[0], start=True)
    logind.add_session("c9", BOB[0])
    logind.session("c9", "Lock")
    world.wait_for(lambda: "the screen of session c9 is locked" in daemon.log(), "the daemon")
    time.sleep(1)


# Screens


@pytest.mark.parametrize("how", [("SetLockedHint", True), ("Lock",)])
def test_a_locked_screen_closes_what_is_open_when_unlocked(how, session, logind):
    assert reads(session) == ["mail", "sync", "wifi"]
    logind.session("c1", *how)
    wait_until_closed(session)
    assert status(session)["reason"] == "screenLocked"
    assert "the screen was locked" in session.run("keychainctl status").text


def test_a_session_of_another_user_or_program_is_not_this_login_s(login, server, logind, daemon):
    """What PAM's environment says is held against what logind knows."""
    ours = world.pwd.getpwnam(ALICE[0]).pw_uid
    for uid, leader in ((world.pwd.getpwnam(BOB[0]).pw_uid, None), (ours, 1), (ours, "x")):
        world.next_login_is("c3")
        text = f"UID={uid}\nSTATE=active\nACTIVE=1\n"
        if leader is not None:
            world.pathlib.Path(world.LOGIND_LEADER).unlink()
            text += f"LEADER={leader}\n"
        (logind.folder / "sessions/c3").write_text(text)
        shell = login(server=server)
        shell.run(ADD.format("mail"))
        assert "mail" in reads(shell)
        (logind.folder / "sessions/c3").write_text(text.replace("STATE=active", "STATE=closing"))
        assert "mail" in reads(shell)
        shell.close()


def test_a_locked_screen_closes_the_keychain_in_all_logins(session, login, logind):
    other = login()
    assert reads(other) == ["mail", "sync", "wifi"]
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(other)


def test_a_locked_screen_is_nothing_to_other_users(session, login, logind):
    other = login(BOB)
    other.run(ADD.format("mail"))
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(session)
    assert reads(other) == ["mail"]


def test_a_screen_that_is_open_again_opens_nothing_by_itself(session, logind, daemon):
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(session)
    logind.session("c1", "SetLockedHint", False)
    logind.session("c1", "Unlock")
    until_heard(logind, daemon)
    assert reads(session) == ["sync", "wifi"]


LOCKERS = {
    # root, who renews credentials (gdm and login)
    "gdm": (f"auth required pam_unix.so\nauth optional {world.MODULE}\n",
            None, ["authenticate", "setcred(PAM_REINITIALIZE_CRED)"]),
    # its user, who renews them too (swaylock)
    "swaylock": (f"auth required pam_unix.so\nauth optional {world.MODULE} unlock\n",
                 ALICE[0], ["authenticate", "setcred(PAM_REFRESH_CRED)"]),
    # its user, who does nothing else (kscreenlocker)
    "kscreenlocker": (f"auth required pam_unix.so\nauth optional {world.MODULE} unlock\n",
                      ALICE[0], ["authenticate"]),
}


def unlock_screen(locker, password):
    stack, user, calls = LOCKERS[locker]
    world.write_service(f"keychain-test-{locker}", stack + "account required pam_permit.so\n")
    command = ["pamtester", f"keychain-test-{locker}", ALICE[0], *calls]
    run = world.run if user is None else lambda *c, **o: world.as_user(user, *c, **o)
    return run(*command, input=password + "\n", **({"check": False} if user is None else {}))


@pytest.mark.parametrize("locker", LOCKERS)
def test_a_screen_locker_s_password_opens_the_keychain_again(locker, session, logind):
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(session)
    unlocked = unlock_screen(locker, ALICE[1])
    assert unlocked.returncode == 0, unlocked
    logind.session("c1", "SetLockedHint", False)
    assert reads(session) == ["mail", "sync", "wifi"]
    assert "reason" not in status(session)


@pytest.mark.parametrize("locker", LOCKERS)
def test_a_wrong_password_at_a_screen_locker_opens_nothing(locker, session, logind):
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(session)
    assert unlock_screen(locker, "not it").returncode != 0
    assert reads(session) == ["sync", "wifi"]


# Sleep


def test_sleep_waits_until_the_keys_are_gone(session, logind):
    assert logind.inhibitors() == ["sleep:shutdown"]
    logind.signal("PrepareForSleep", "b", True)
    world.wait_for(lambda: logind.inhibitors() == [], "the daemon to let the machine sleep")
    assert not any(name.startswith("unlock:") for name in world.names_of_keys())
    logind.signal("PrepareForSleep", "b", False)
    world.wait_for(lambda: logind.inhibitors() == ["sleep:shutdown"], "the next delay")
    assert reads(session) == ["sync", "wifi"]
    assert status(session)["reason"] == "slept"


@pytest.mark.parametrize("way, answer", [
    *((way, "yes") for way in world.LoginManager.WAYS_TO_THE_DISK),
    ("Hibernate", "no"), ("Hibernate", "challenge")])
def test_where_the_machine_may_hibernate_no_class_key_stays_in_memory(
        way, answer, daemon, login, server):
    logind = start(world.LoginManager(**{way: answer}), daemon)
    try:
        logind.add_session("c1", ALICE[0])
        shell = login(server=server)
        for name, accessible in (("mail", "when-unlocked"), ("sync", "after-first-unlock"),
                                 ("wifi", "always")):
            shell.run(ADD.format(name) + " --accessible " + accessible)
        logind.signal("PrepareForSleep", "b", True)
        world.wait_for(lambda: logind.inhibitors() == [], "the daemon to let the machine sleep")
        kinds = {name.split(":")[0] for name in world.names_of_keys()}
        assert not kinds & {"unlock", "first-unlock", "device", "renewal", "machine"}, kinds
        # The device's keys are no secret to the disk: they are made again.
        assert reads(shell) == ["wifi"]
        assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
        assert reads(shell) == ["mail", "sync", "wifi"]
    finally:
        logind.forget()


def test_a_shutdown_takes_all_keys_with_it(session, logind):
    logind.signal("PrepareForShutdown", "b", True)
    world.wait_for(lambda: logind.inhibitors() == [], "the daemon to let the machine go down")
    kinds = {name.split(":")[0] for name in world.names_of_keys()}
    assert not kinds & {"unlock", "first-unlock", "device"}, kinds


# Sessions


def test_a_session_that_logind_has_removed_ends_its_unlock_though_its_leader_lives(
        session, logind):
    logind.signal("SessionRemoved", "so", "c1", dbus.ObjectPath(logind.PATH + "/session/c1"))
    wait_until_closed(session)
    assert not any(name.startswith("unlock:") for name in world.names_of_keys())
    assert not any(name.startswith("session:") for name in world.names_of_records())


def test_a_session_that_is_closing_ends_its_unlock_at_its_next_use(session, logind):
    (logind.folder / "sessions/c1").write_text("STATE=closing\nACTIVE=0\n")
    assert reads(session) == ["sync", "wifi"]


def test_a_user_whom_logind_has_removed_has_no_open_keychain(session, logind):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    logind.signal("UserRemoved", "uo", dbus.UInt32(uid),
                  dbus.ObjectPath(f"{logind.PATH}/user/{uid}"))
    wait_until_closed(session)


def end(shell, how, logind, name):
    if how == "logout":
        shell.close()
    elif how == "removed":
        logind.signal("SessionRemoved", "so", name,
                      dbus.ObjectPath(f"{logind.PATH}/session/{name}"))
    else:
        own = shell.run("echo $(ps -o ppid= -p $(ps -o ppid= -p $$))").text.split()[-1]
        assert world.run("ps", "-o", "user=", "-p", own).stdout.strip() == "root"
        world.run("kill", "-KILL", own)


@pytest.mark.parametrize("first", ["logout", "removed", "killed"])
@pytest.mark.parametrize("second", ["logout", "removed", "killed"])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_sessions_the_last_one_s_end_closes_in_whatever_order(
        first, second, order, login, server, logind, session):
    logind.add_session("c2", ALICE[0])
    shells = [(session, "c1"), (login(server=server), "c2")]
    # A user links keyrings at will.
    for shell, _ in shells:
        shell.run("keyctl unlink @u @s; keyctl link @s @u")
    one, other = (shells[i] for i in order)
    end(one[0], first, logind, one[1])
    world.wait_for(lambda: sum(n.startswith("unlock:") for n in world.names_of_keys()) == 1,
                   "the first session's unlock to end")
    assert reads(other[0]) == ["mail", "sync", "wifi"]
    end(other[0], second, logind, other[1])
    world.wait_for(lambda: not any(n.startswith(("unlock:", "session:"))
                                   for n in world.names_of_keys() + world.names_of_records()),
                   "the last unlock to end")
    refused = world.as_user(ALICE[0], world.CONTROL, *GET.format("mail").split()[1:])
    assert refused.returncode == LOCKED, refused
    world.as_user(ALICE[0], "keyctl", "clear", "@u")


# The bus


def test_a_screen_that_was_locked_without_the_daemon_closes_the_keychain(session, logind, daemon):
    daemon.stop()
    logind.session("c1", "SetLockedHint", True)
    daemon.start()
    wait_until_closed(session)


def test_a_restart_closes_nothing_twice(session, logind, daemon):
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(session)
    daemon.stop()
    daemon.start()
    world.wait_for(lambda: daemon.log().count("listening to logind") == 2, "logind")
    assert reads(session) == ["sync", "wifi"]
    assert daemon.log().count("the screen of session c1 is locked") == 1


def test_the_doctor_tells_a_bus_without_logind_from_none(logind):
    doctor = lambda: world.run(world.CONTROL, "doctor", check=False).stdout
    assert "logind tells of locked screens and sleep" in doctor()
    logind.processes[1].terminate()
    logind.processes[1].wait(world.PATIENCE)
    world.wait_for(lambda: "logind is not on the system bus" in doctor(), "the doctor to miss it")
    logind.stop()
    assert "there is no D-Bus system bus, and so no logind" in doctor()


def test_a_bus_that_restarts_is_heard_again(session, logind, daemon):
    logind.stop()
    world.wait_for(lambda: "logind can't be heard" in daemon.log(), "the daemon to notice")
    assert reads(session) == ["mail", "sync", "wifi"]
    start(logind, daemon)
    logind.add_session("c1", ALICE[0])
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(session)


def test_a_bus_that_hangs_keeps_no_program_waiting(session, logind, daemon, login):
    logind.processes[0].send_signal(signal.SIGSTOP)
    began = time.monotonic()
    assert reads(session) == ["mail", "sync", "wifi"]
    login(BOB).close()
    assert time.monotonic() - began < world.PATIENCE / 3  # of the bus, 25 s
    began = time.monotonic()
    daemon.stop()
    assert time.monotonic() - began < world.PATIENCE / 3
    daemon.start()
    assert reads(session) == ["mail", "sync", "wifi"]
    logind.processes[0].send_signal(signal.SIGCONT)
    world.wait_for(lambda: daemon.log().count("listening to logind") == 2, "logind")


FORGERY = """
import dbus, dbus.bus, dbus.lowlevel, sys
bus = dbus.bus.BusConnection("unix:path=/run/dbus/system_bus_socket")
for name in bus.list_names():
    if not name.startswith(":"):
        continue
    for path, interface, member, signature, arguments in (
        ("/org/freedesktop/login1/session/c1", "org.freedesktop.login1.Session", "Lock", "", ()),
        ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep", "b",
         (True,)),
        ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "UserRemoved", "uo",
         (dbus.UInt32(int(sys.argv[1])), dbus.ObjectPath("/x"))),
        ("/org/freedesktop/login1", "org.freedesktop.login1.Manager", "SessionRemoved", "so",
         ("c1", dbus.ObjectPath("/x"))),
        ("/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged", "sss",
         ("org.freedesktop.login1", "", bus.get_unique_name())),
    ):
        message = dbus.lowlevel.SignalMessage(path, interface, member)
        message.set_destination(name)
        message.append(signature=signature, *arguments)
        bus.send_message(message)
bus.flush()
print("sent")
"""


def test_what_another_user_says_in_logind_s_words_is_not_heard(session, logind, daemon):
    uid = world.pwd.getpwnam(ALICE[0]).pw_uid
    sent = world.as_user(BOB[0], "/usr/bin/python3", "-c", FORGERY, str(uid))
    assert sent.stdout == "sent\n", sent
    until_heard(logind, daemon)
    assert reads(session) == ["mail", "sync", "wifi"]
    assert logind.inhibitors() == ["sleep:shutdown"]
    logind.session("c1", "SetLockedHint", True)
    wait_until_closed(session)


# What policies hear of it


@pytest.fixture
def admin(daemon):
    folder = world.pathlib.Path("/etc/keychain/policies.d")
    file = folder / "50-locking.yaml"

    def write(text):
        before = daemon.log().count("rules in force")
        file.write_text("policy: v1\nname: locking\nrules:\n" + text)
        world.wait_for(lambda: daemon.log().count("rules in force") > before, "the policy")

    folder.mkdir(parents=True, exist_ok=True)
    yield write
    file.unlink()


NOT_BEHIND_A_LOCKED_SCREEN = """
  - id: locking.screen
    forbid: The screen is locked.
    operations: read-secret
    resource: {service: wifi}
    when: {screen-locked: true}
"""


def test_a_rule_can_name_the_locked_screen(session, logind, admin, daemon):
    admin(NOT_BEHIND_A_LOCKED_SCREEN)
    get = GET.format("wifi")
    assert session.run(get).status == 0
    logind.session("c1", "SetLockedHint", True)
    world.wait_for(lambda: session.run(get).status == FORBIDDEN, "the screen to be known locked")
    logind.session("c1", "SetLockedHint", False)
    world.wait_for(lambda: session.run(get).status == 0, "the screen to be known open")
    # Unknown again: what forbids does so then.
    logind.stop()
    world.wait_for(lambda: session.run(get).status == FORBIDDEN, "the screen to be unknown")


@pytest.mark.parametrize("event", ["screen", "sleep", "lock by hand"])
def test_what_was_proven_before_counts_no_longer_after(event, session, logind, admin):
    admin("""
  - id: locking.fresh
    require: login
    within: 12h
    scope: session
    operations: read-secret
    resource: {service: wifi}
""")
    # Not even asked: the login has proven it.
    get = f"setsid -w {GET.format('wifi')} </dev/null 2>&1"
    assert session.run(get).status == 0
    if event == "screen":
        logind.session("c1", "SetLockedHint", True)
    elif event == "sleep":
        logind.signal("PrepareForSleep", "b", True)
    else:
        session.run("keychainctl lock")
    # No question can bring a login's proof back.
    world.wait_for(lambda: session.run(get).status == NOT_PROVEN, "the proof to be forgotten")
