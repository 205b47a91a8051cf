# SPDX-License-Identifier: Apache-2.0
"""Programs that a user's service manager started belong to no login. Their user is asked on the display
that logind says is that user's, where the program that shows windows there is the login's own."""

import os
import pathlib
import pwd
import shutil

import pytest

import world
from conftest import ALICE, BOB
from graphical import (LOGIND, PROMPTER, Desktop, ServiceManager, logind_says, pinentries,
                       prompter_waits)
from test_login import ADD as ADD_MAIL, GET as MAIL
from test_login import NEW, end_logins, first_password_again  # noqa: F401
from test_others import STACK, su
from test_policies import admin  # noqa: F401 (a fixture)
from test_presence import ADD, GET


@pytest.fixture
def logind():
    yield logind_says
    shutil.rmtree(LOGIND, ignore_errors=True)


@pytest.fixture
def alice(login):
    ServiceManager.require()
    shell = login(ALICE)
    assert shell.run(ADD).status == 0
    manager = ServiceManager(ALICE[0])
    yield manager
    manager.close()


@pytest.fixture
def desktop():
    desktop = Desktop()
    yield desktop
    desktop.close()


def test_the_desktop_s_unit_asks_for_the_programs_beside_it(alice, logind, desktop):
    logind(alice.user.pw_uid, desktop.display)
    assert prompter_waits(alice, desktop) == ""
    asking = alice.start(GET)
    desktop.dialog()
    desktop.types(ALICE[1])
    desktop.presses("Return")
    said, _ = asking.communicate(timeout=world.PATIENCE)
    assert asking.returncode == 0 and "bank-s3cret" in said


def test_what_the_service_manager_started_reads_what_a_login_has_opened(alice, login):
    assert login(ALICE).run(ADD_MAIL).status == 0
    read = alice.run(MAIL)
    assert read.status == 0 and read.text == "s3cret"
    end_logins()
    refused = alice.run(MAIL)
    assert refused.status == 4 and "s3cret" not in refused.text


def reads_unless(circumstances, alice, admin):
    """Whether a program of the service manager reads where that is forbidden in these alone."""
    admin(f"""rules:
  - id: test.circumstances
    forbid: Not so.
    operations: read-secret
    {circumstances}
""")
    read = alice.run(MAIL)
    assert read.status in (0, 5), read
    return read.status == 0


REMOTE, LOCAL = "when: {remote: true}", "when: {remote: false}"
# The service of these tests is called neither sshd nor like a desktop.
OTHER, SEAT = "subject: {session: other}", "subject: {session: seat}"


def test_what_the_service_manager_started_is_judged_as_its_user_s_logins_are(alice, login, admin):
    assert login(ALICE).run(ADD_MAIL).status == 0
    for circumstances, reads in ((REMOTE, False), (LOCAL, True), (OTHER, False), (SEAT, True)):
        assert reads_unless(circumstances, alice, admin) == reads, circumstances
    local = su(ALICE, (ALICE[1],), STACK, caller=BOB)
    for circumstances in (REMOTE, LOCAL, OTHER, SEAT):
        assert not reads_unless(circumstances, alice, admin), circumstances
    local.close()


def test_beside_a_login_that_only_logind_knows_no_fact_of_a_session_is_known(alice, logind, admin):
    end_logins()
    local = su(ALICE, (ALICE[1],), STACK, caller=BOB)
    assert local.run(ADD_MAIL).status == 0
    assert reads_unless(REMOTE, alice, admin)
    for remote in (False, True):
        logind(alice.user.pw_uid, kind="tty", remote=remote)
        for circumstances in (REMOTE, LOCAL, SEAT, "when: {screen-locked: true}"):
            assert not reads_unless(circumstances, alice, admin), circumstances
    local.close()


def test_what_logind_counts_and_is_no_login_leaves_the_facts_known(alice, logind, admin):
    end_logins()
    local = su(ALICE, (ALICE[1],), STACK, caller=BOB)
    assert local.run(ADD_MAIL).status == 0
    for what in ({"role": "background"}, {"role": "manager"}, {"state": "closing"}):
        logind(alice.user.pw_uid, kind="unspecified", remote=True, **what)
        assert reads_unless(REMOTE, alice, admin), what
    local.close()


def test_no_user_is_asked_while_another_has_the_screen(alice, logind, desktop):
    logind(alice.user.pw_uid, desktop.display)
    assert prompter_waits(alice, desktop) == ""
    logind(alice.user.pw_uid, desktop.display, active=False)
    refused = alice.run(GET)
    assert refused.status == 4 and "s3cret" not in refused.text and not pinentries()


def test_a_login_from_elsewhere_is_not_asked_about_at_the_screen(alice, logind, desktop, login):
    logind(alice.user.pw_uid, desktop.display)
    assert prompter_waits(alice, desktop) == ""
    alone = login(ALICE).run("setsid -w " + GET + " </dev/null 2>&1")
    assert alone.status == 4 and "s3cret" not in alone.text and not pinentries()


def test_without_a_display_that_logind_knows_the_unit_is_refused(alice, logind, desktop):
    assert "no login session" in prompter_waits(alice, desktop)
    # A terminal is no display.
    logind(alice.user.pw_uid, desktop.display, kind="tty")
    assert "no login session" in prompter_waits(alice, desktop)


def test_a_user_s_display_is_no_other_user_s(alice, logind, desktop):
    logind(pwd.getpwnam(BOB[0]).pw_uid, desktop.display)
    assert "no login session" in prompter_waits(alice, desktop)


def test_a_program_in_no_part_of_the_service_manager_is_not_taken_for_one(alice, logind, desktop):
    logind(alice.user.pw_uid, desktop.display)
    assert prompter_waits(alice, desktop) == ""
    refused = world.as_user(ALICE[0], "setsid", "-w", *GET.split())
    assert refused.returncode == 4 and "s3cret" not in refused.stdout and not pinentries()


def test_a_login_that_did_not_open_its_keychain_is_asked_where_it_is(alice, logind, desktop, login,
                                                                     first_password_again):
    """The desktop's programs at the screen, those of a login from elsewhere never."""
    end_logins()
    shell = login(ALICE)
    assert shell.run(ADD_MAIL).status == 0
    shell.close()
    world.make_account(ALICE[0], NEW)
    logind(alice.user.pw_uid, desktop.display)
    remote = login((ALICE[0], NEW))
    assert prompter_waits(alice, desktop) == ""
    alone = remote.run("setsid -w " + MAIL + " </dev/null 2>&1")
    assert alone.status == 4 and not pinentries()
    asking = alice.start(MAIL)
    desktop.dialog()
    desktop.types(ALICE[1])
    desktop.presses("Return")
    said, _ = asking.communicate(timeout=world.PATIENCE)
    assert asking.returncode == 0 and "s3cret" in said


AS_ALICE = ("setpriv", "--reuid", ALICE[0], "--regid", ALICE[0], "--clear-groups")
COMPOSITOR = """
import ctypes, os, signal, sys
import dbus.bus
if os.fork() == 0:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    bus = dbus.bus.BusConnection("unix:path=/run/dbus/system_bus_socket")
    with open(sys.argv[1] + ".new", "w") as file:
        print(os.getpid(), bus.get_unique_name(), file=file)
    os.rename(sys.argv[1] + ".new", sys.argv[1])
    signal.pause()
os.execvp(sys.argv[2], sys.argv[2:])
"""


def test_a_prompter_that_is_not_the_unit_has_no_display(alice, logind, desktop):
    logind(alice.user.pw_uid, desktop.display)
    assert "no login session" in prompter_waits(alice, desktop, "test")


@pytest.mark.parametrize("moves", [False, True])
def test_a_prompter_below_another_program_has_no_display(alice, logind, desktop, moves):
    """That one could trace its dialogs, also from the service manager's control group."""
    logind(alice.user.pw_uid, desktop.display)
    scope = alice.groups[-1]
    for group in scope, scope.parent:
        os.chown(group / "cgroup.procs", alice.user.pw_uid, -1)
    move = f"echo $$ >{scope}/cgroup.procs;" if moves else ""
    wrapped = f"/bin/sh -c '{PROMPTER} & {move} wait'"
    assert "no login session" in prompter_waits(alice, desktop, command=wrapped)


def test_a_display_that_a_program_made_is_no_user_s(alice, logind, desktop):
    own = Desktop(*AS_ALICE)
    try:
        for display in desktop.display, own.display:
            logind(alice.user.pw_uid, display)
            assert "no login session" in prompter_waits(alice, own)
        assert prompter_waits(alice, desktop) != ""
    finally:
        own.close()


def test_a_display_that_logind_does_not_name_is_no_user_s(alice, logind, desktop):
    """Root's, and another user's for all that is known."""
    for display in ":77", None:
        logind(alice.user.pw_uid, display)
        assert "no login session" in prompter_waits(alice, desktop)


@pytest.fixture
def bus():
    running = world.Bus().start()
    yield running
    running.stop()


@pytest.fixture
def compositor(alice, bus):
    """An X server of the user's, and its child, which could have screen and keyboard from logind."""
    told = pathlib.Path(alice.user.pw_dir, "compositor")
    desktop = Desktop(*AS_ALICE, "/usr/bin/python3", "-c", COMPOSITOR, told)
    world.wait_for(told.exists, "the compositor")
    pid, name = told.read_text().split()
    yield desktop, pid, name
    desktop.close()
    told.unlink()


def test_the_program_that_has_the_screen_from_logind_shows_its_user_s_windows(
        alice, logind, compositor):
    desktop, _, name = compositor
    logind(alice.user.pw_uid, kind="wayland", controller=name)
    assert prompter_waits(alice, desktop) == ""
    asking = alice.start(GET)
    desktop.dialog()
    desktop.types(ALICE[1])
    desktop.presses("Return")
    said, _ = asking.communicate(timeout=world.PATIENCE)
    assert asking.returncode == 0 and "bank-s3cret" in said


def test_a_program_beside_the_one_that_has_the_screen_shows_none(alice, logind, compositor):
    desktop, pid, name = compositor
    logind(alice.user.pw_uid, kind="wayland", controller=":1.9999")
    assert "no login session" in prompter_waits(alice, desktop)
    other = world.dbus.bus.BusConnection(world.Bus.ADDRESS)
    logind(alice.user.pw_uid, kind="wayland", controller=other.get_unique_name())
    assert "no login session" in prompter_waits(alice, desktop)
    other.close()
    # Nor the service manager, from which each of the user's units may have its sockets.
    logind(alice.user.pw_uid, kind="wayland", controller=name)
    (alice.groups[0] / "cgroup.procs").write_text(pid)
    assert "no login session" in prompter_waits(alice, desktop)


@pytest.mark.parametrize("session", [
    {"kind": "x11", "began": "tty"}, {"kind": "wayland", "began": "tty"},
    {"kind": "wayland", "seat": None}, {"kind": "wayland", "seat": None, "display": ":7\nSEAT=seat0"},
    {"kind": "wayland", "began": "x11"}])
def test_a_session_that_needs_no_controller_is_shown_by_none(alice, logind, desktop, compositor,
                                                             session):
    """Any program of its user may take control there, and call the session what it likes. The last one
    has root's X server."""
    own, _, name = compositor
    logind(alice.user.pw_uid, controller=name, **session)
    assert "no login session" in prompter_waits(alice, own)


def test_a_display_whose_server_has_ended_asks_no_question(alice, logind, desktop):
    logind(alice.user.pw_uid, desktop.display)
    assert prompter_waits(alice, desktop) == ""
    desktop.process.kill()
    desktop.process.wait(world.PATIENCE)
    refused = alice.run(GET)
    assert refused.status == 4 and not pinentries()
