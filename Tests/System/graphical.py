# SPDX-License-Identifier: Apache-2.0
"""A desktop: an X server, the control groups of a user's service manager, and what logind writes down
of the login that shows windows. What logind says is in its files, which systemd's library reads; the
control groups are the kernel's own."""

import os
import pathlib
import pwd
import subprocess

import pytest

import world

PINENTRIES = ("pinentry-gnome3", "pinentry-qt", "pinentry-gtk-2", "pinentry-curses", "pinentry-tty")


class Desktop:
    """An X server, and what is on its screen."""

    def __init__(self, *before):
        """The words before the server's own say as whom, and with what child, it runs."""
        reading, writing = os.pipe()
        self.process = subprocess.Popen(
            [*before, "Xvfb", "-displayfd", str(writing), "-nolisten", "tcp", "-ac", "-noreset",
             "-screen", "0", "1024x768x24"],
            pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        with open(reading) as number:
            self.display = ":" + number.readline().strip()

    def tool(self, *words, check=True):
        return world.run("xdotool", *words, check=check,
                         env={"DISPLAY": self.display, "PATH": os.environ["PATH"]})

    def window(self):
        """The dialog, once it is there and has the keyboard."""
        found = self.tool("search", "--onlyvisible", "--name", "Keychain", check=False)
        return found.stdout.split()[:1]

    def dialog(self):
        world.wait_for(self.window, "a dialog")
        return world.wait_for(pinentries, "a pinentry")[0]

    def types(self, text):
        self.tool("type", "--delay", "20", text)

    def presses(self, key):
        self.tool("key", key)

    def close(self):
        self.process.terminate()
        self.process.wait(world.PATIENCE)


def processes(*names):
    """Those that the kernel says run such a program, which are the world's own."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            program = os.readlink(entry / "exe")
        except OSError:
            continue
        if os.path.basename(program) in names:
            found.append(entry)
    return found


def pinentries():
    return processes(*PINENTRIES)


def prompter():
    found, = processes("keychain-prompter")
    return found


GROUPS = [path for path in (pathlib.Path("/sys/fs/cgroup/unified"), pathlib.Path("/sys/fs/cgroup"))
          if (path / "cgroup.procs").exists()]
LOGIND = pathlib.Path("/run/systemd")
PROMPTER = f"{world.PREFIX}/libexec/keychain/keychain-prompter --desktop"
UNIT = "keychain-prompter"


def prompter_waits(manager, desktop, unit=UNIT, command=PROMPTER):
    """What it complains of; nothing where it was taken."""
    prompter = manager.start(command, unit, DISPLAY=desktop.display)
    line = prompter.stdout.readline()
    return line if "waiting" not in line else ""


class ServiceManager:
    """What `user@UID.service` is to the kernel: a part of the control groups, and for the prompter the
    parent, itself a child of the first process."""

    MANAGER = 'echo $$ >"$1"; /bin/sh -c "$2"; exit'

    @staticmethod
    def require():
        if not GROUPS or not os.access(GROUPS[0], os.W_OK):
            pytest.skip("no control groups of the second version here")

    def __init__(self, name):
        self.user = pwd.getpwnam(name)
        uid = self.user.pw_uid
        top = GROUPS[0] / f"user.slice/user-{uid}.slice/user@{uid}.service"
        self.groups = [top / f"session.slice/{name}.service" for name in ("test", UNIT)]
        self.groups.append(top / "init.scope")
        self.made = [path for path in (*self.groups, *self.groups[0].parents)
                     if not path.exists()]
        for group in self.groups:
            group.mkdir(parents=True)
        self.processes = []

    def start(self, command, unit="test", **environment):
        procs = self.groups[0].with_name(f"{unit}.service") / "cgroup.procs"
        words = ["/bin/sh", "-c", f"echo $$ >{procs}; exec setpriv --reuid {self.user.pw_uid}"
                 f" --regid {self.user.pw_gid} --clear-groups setsid -w {command}"]
        if unit == UNIT:
            # The first shell ends at once, and leaves its child to the first process.
            words = ["/bin/sh", "-c", '"$@" &', "sh", "/bin/sh", "-c", self.MANAGER, "sh",
                     str(self.groups[-1] / "cgroup.procs"), words[-1]]
        process = world.subprocess.Popen(
            words,
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
        for group in self.groups:
            (group / "cgroup.kill").write_text("1")
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


def logind_says(uid, display=None, *, active=True, kind="x11", began=None, seat="seat0",
                session="c2", controller=None, remote=False, role="user", state=None):
    """The user's display session, as logind writes it down. It began as what it is, if not as another
    kind."""
    for folder in "seats", "users", "sessions":
        (LOGIND / folder).mkdir(parents=True, exist_ok=True)
    state = state or ("active" if active else "online")
    (LOGIND / f"users/{uid}").write_text(
        f"NAME=x\nSTATE={state}\nDISPLAY={session}\nSESSIONS={session}\n"
        f"ACTIVE_SESSIONS={session if active else ''}\n")
    (LOGIND / f"sessions/{session}").write_text(
        f"UID={uid}\nUSER=x\nACTIVE={int(active)}\nIS_DISPLAY=1\nSTATE={state}\nREMOTE={int(remote)}\n"
        f"TYPE={kind}\nORIGINAL_TYPE={began or kind}\nCLASS={role}\nSCOPE=session-{session}.scope\n"
        + (f"SEAT={seat}\n" if seat else "")
        + (f"DISPLAY={display}\n" if display else "")
        + (f"CONTROLLER={controller}\n" if controller else ""))
