# SPDX-License-Identifier: Apache-2.0
"""Programs that a user's service manager started belong to no login. Their user is asked on the display
that logind says is his. What logind says is in its files, which systemd's library reads; the control
groups are the kernel's own."""

import os
import pathlib
import pwd
import shutil

import pytest

import world
from conftest import ALICE, BOB
from test_desktop import Desktop, pinentries
from test_login import ADD as ADD_MAIL, GET as MAIL
from test_login import NEW, end_logins, first_password_again  # noqa: F401
from test_presence import ADD, GET

GROUPS = [path for path in (pathlib.Path("/sys/fs/cgroup/unified"), pathlib.Path("/sys/fs/cgroup"))
          if (path / "cgroup.procs").exists()]
LOGIND = pathlib.Path("/run/systemd")
PROMPTER = f"{world.PREFIX}/libexec/keychain/keychain-prompter --desktop"


class ServiceManager:
    """What `user@UID.service` is to the kernel: a part of the control groups."""

    def __init__(self, name):
        self.user = pwd.getpwnam(name)
        uid = self.user.pw_uid
        top = GROUPS[0] / f"user.slice/user-{uid}.slice"
        self.group = top / f"user@{uid}.service/session.slice/test.service"
        self.made = [path for path in (self.group, *self.group.parents) if not path.exists()]
        self.group.mkdir(parents=True)
        self.processes = []

    def start(self, command, **environment):
        procs = self.group / "cgroup.procs"
        process = world.subprocess.Popen(
            ["/bin/sh", "-c", f"echo $$ >{procs}; exec setpriv --reuid {self.user.pw_uid}"
             f" --regid {self.user.pw_gid} --clear-groups setsid -w {command}"],
            env={"PATH": os.environ["PATH"], "HOME": self.user.pw_dir, **environment}, text=True,
            cwd="/", stdin=world.subprocess.DEVNULL, stdout=world.subprocess.PIPE,
            stderr=world.subprocess.STDOUT)
        self.processes.append(process)
        return process

    def run(self, command):
        process = self.start(command)
        said, _ = process.communicate(timeout=world.PATIENCE)
        return world.Result(process.returncode, said)

    def close(self):
        (self.group / "cgroup.kill").write_text("1")
        for process in self.processes:
            process.kill()
            process.wait()
            process.stdout.close()
        for path in self.made:
            world.wait_for(lambda: removed(path), "the control group to be empty")


def removed(path):
    try:
        path.rmdir()
    except OSError:
        return False
    return True


def logind_says(uid, *, active=True, kind="x11", session="c2"):
    """The user's display session, as logind writes it down."""
    for folder in "seats", "users", "sessions":
        (LOGIND / folder).mkdir(parents=True, exist_ok=True)
    state = "active" if active else "online"
    (LOGIND / f"users/{uid}").write_text(
        f"NAME=x\nSTATE={state}\nDISPLAY={session}\nSESSIONS={session}\n"
        f"ACTIVE_SESSIONS={session if active else ''}\n")
    (LOGIND / f"sessions/{session}").write_text(
        f"UID={uid}\nUSER=x\nACTIVE={int(active)}\nIS_DISPLAY=1\nSTATE={state}\nREMOTE=0\n"
        f"TYPE={kind}\nCLASS=user\nSCOPE=session-{session}.scope\nSEAT=seat0\n")


@pytest.fixture
def logind():
    yield logind_says
    shutil.rmtree(LOGIND, ignore_errors=True)


@pytest.fixture
def alice(login):
    if not GROUPS or not os.access(GROUPS[0], os.W_OK):
        pytest.skip("no control groups of the second version here")
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


def prompter_waits(manager, desktop):
    prompter = manager.start(PROMPTER, DISPLAY=desktop.display)
    line = prompter.stdout.readline()
    return line if "waiting" not in line else ""


def test_the_desktop_s_unit_asks_for_the_programs_beside_it(alice, logind, desktop):
    logind(alice.user.pw_uid)
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


def test_nobody_is_asked_while_another_has_the_screen(alice, logind, desktop):
    logind(alice.user.pw_uid)
    assert prompter_waits(alice, desktop) == ""
    logind(alice.user.pw_uid, active=False)
    refused = alice.run(GET)
    assert refused.status == 4 and "s3cret" not in refused.text and not pinentries()


def test_a_login_from_elsewhere_is_not_asked_about_at_the_screen(alice, logind, desktop, login):
    logind(alice.user.pw_uid)
    assert prompter_waits(alice, desktop) == ""
    alone = login(ALICE).run("setsid -w " + GET + " </dev/null 2>&1")
    assert alone.status == 4 and "s3cret" not in alone.text and not pinentries()


def test_without_a_display_that_logind_knows_the_unit_is_refused(alice, logind, desktop):
    assert "no login session" in prompter_waits(alice, desktop)
    # A terminal is no display.
    logind(alice.user.pw_uid, kind="tty")
    assert "no login session" in prompter_waits(alice, desktop)


def test_another_user_s_display_is_nobody_else_s(alice, logind, desktop):
    logind(pwd.getpwnam(BOB[0]).pw_uid)
    assert "no login session" in prompter_waits(alice, desktop)


def test_a_program_in_no_part_of_the_service_manager_is_not_taken_for_one(alice, logind, desktop):
    logind(alice.user.pw_uid)
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
    logind(alice.user.pw_uid)
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
