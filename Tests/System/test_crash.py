# SPDX-License-Identifier: Apache-2.0
"""A password's life, cut off at each change that the daemon makes to its files: whatever was
acknowledged holds, and the old or the new password opens the keychain, always.

A few points of each step are tried, always the same; KEYCHAIN_CRASH_POINTS=all tries them all."""

import os
import shutil
import signal
import subprocess
import sys

import pytest

import wire
import world
from conftest import ALICE, forget_keys

OLD, NEW = ALICE[1], "another horse 3"
ITEM = ("generic-password", "--service", "mail", "--account", "me")
SAMPLE = 5


class Cut:
    """The library that ends the daemon at a change, and what it is to do."""

    def __init__(self, folder):
        self.library = folder / "cut.so"
        self.plan = folder / "plan"
        self.counted = folder / "plan.count"
        world.run("cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", self.library,
                  world.TOP / "Tests/System/crash/cut.c")
        self.environment = {"LD_PRELOAD": str(self.library), "CUT_UNDER": str(world.STATE),
                            "CUT_PLAN": str(self.plan)}

    def set(self, number, how="before"):
        self.counted.unlink(missing_ok=True)
        self.plan.write_text(f"{number} {how}\n")

    def lift(self):
        self.plan.unlink(missing_ok=True)


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    return Cut(tmp_path_factory.mktemp("cut"))


class Keeper:
    """The daemon, and copies of its files to come back to."""

    def __init__(self, folder, cut):
        self.folder, self.cut = folder, cut
        self.daemon = world.Daemon(folder / "keychaind.log")
        self.logins = []

    def empty(self):
        for entry in world.STATE.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def start(self, cutting=False):
        self.daemon.start(environment=self.cut.environment if cutting else {})

    def stop(self):
        self.daemon.stop()
        self.end_logins()
        forget_keys()

    def save(self, name):
        self.stop()
        shutil.copytree(world.STATE, self.folder / name, symlinks=True)

    def restore(self, name):
        self.empty()
        if (self.folder / name).exists():
            shutil.copytree(self.folder / name, world.STATE, symlinks=True, dirs_exist_ok=True)

    # What PAM's module asks for, as root, on behalf of a process that stays.

    def tell(self, verb, **fields):
        """Whether it was accepted; None when the daemon was gone."""
        arguments = [sys.executable, "-c", TELL, str(verb), *(
            f"{name}={text}" for name, text in fields.items())]
        host = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True, cwd=world.TOP / "Tests/System")
        self.logins.append(host)
        reply = host.stdout.readline().strip()
        return None if reply == "None" else reply == "accepted"

    def log_in(self, password):
        """Whether the keychain is open now."""
        self.tell(1, password=password)
        return "“login”: unlocked" in self.control("status").stdout

    def end_logins(self):
        for host in self.logins:
            host.kill()
            host.wait()
            host.stdin.close()
            host.stdout.close()
        self.logins = []

    def control(self, *words, **options):
        return world.as_user(ALICE[0], world.CONTROL, *words, **options)

    def opens(self, password):
        """By hand, which changes nothing."""
        done = self.control("unlock", "--password-stdin", input=password + "\n")
        assert done.returncode in (0, 6), done
        return done.returncode == 0

    def item(self):
        return self.control("get", *ITEM).stdout.strip()


TELL = """
import os, pwd, sys
import wire
verb, *fields = sys.argv[1:]
fields = dict(field.split("=", 1) for field in fields)
entry = pwd.getpwnam("kc-alice")
frame = wire.login_frame(int(verb), entry.pw_uid, account=entry.pw_name, leader=os.getpid(), **fields)
try:
    print(wire.login_reply("/run/keychain/login.sock", frame), flush=True)
except OSError:
    print(None, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def keeper(cut, tmp_path_factory):
    """With copies of: a keychain that a first login made, one that a second login has opened, and
    one whose password was changed."""
    keeper = Keeper(tmp_path_factory.mktemp("keeper"), cut)
    keeper.empty()
    keeper.start()
    assert keeper.log_in(OLD)
    for flags in ((), ("--accessible", "when-passcode-set-this-device-only")):
        service = "mail" if not flags else "passcode"
        added = keeper.control("add", "generic-password", "--service", service, "--account", "me",
                               *flags, input="s3cret")
        assert added.returncode == 0, added
    keeper.save("provisional")
    keeper.start()
    assert keeper.log_in(OLD)
    keeper.save("proven")
    keeper.start()
    assert keeper.tell(4, password=OLD, new=NEW)
    keeper.save("changed")
    yield keeper
    cut.lift()
    keeper.stop()
    keeper.empty()


def change(keeper):
    return keeper.tell(4, password=OLD, new=NEW)


def log_in_with(password):
    def act(keeper):
        return keeper.tell(1, password=password)
    return act


def set_by_hand(keeper):
    done = keeper.control("set-password", "--password-stdin", input=f"{OLD}\n{NEW}\n")
    return done.returncode == 0


def either(keeper, done):
    assert keeper.opens(NEW) or keeper.opens(OLD)


def both_once_changed(keeper, done):
    assert keeper.opens(OLD)
    assert keeper.opens(NEW) or not done


def the_old_one(keeper, done):
    assert keeper.opens(OLD)


def the_new_one(keeper, done):
    assert keeper.opens(NEW)


def the_one_it_was_set_to(keeper, done):
    new, old = keeper.opens(NEW), keeper.opens(OLD)
    assert new != old and (new or not done)


def any_login(keeper, done):
    # The device opens it until a login has proved a password.
    assert keeper.opens(NEW) or keeper.opens(OLD)
    keeper.control("lock")
    assert keeper.log_in(NEW)


def made_whole(keeper, done):
    assert keeper.log_in(OLD)
    assert keeper.control("add", *ITEM, input="s3cret").returncode == 0


# What is cut; from which files; what the daemon is asked for; what holds afterwards.
STEPS = {
    "creation": ("nothing", log_in_with(OLD), made_whole),
    "confirmation of a first password": ("provisional", log_in_with(OLD), the_old_one),
    "a second login with another password": ("provisional", log_in_with(NEW), any_login),
    "change": ("proven", change, both_once_changed),
    "confirmation of a change": ("changed", log_in_with(NEW), the_new_one),
    "a password set by hand": ("proven", set_by_hand, the_one_it_was_set_to),
}


def perform(keeper, cut, files, act, number, how):
    """Cuts the daemon off; whether the act was acknowledged all the same."""
    keeper.restore(files)
    keeper.start(cutting=True)
    cut.set(number, how)
    done = act(keeper)
    # What a login leads to comes after its answer.
    keeper.control("status")
    if number == 0:
        count = int(cut.counted.read_text())
        cut.lift()
        keeper.stop()
        return count
    world.wait_for(lambda: keeper.daemon.process.poll() is not None, "the daemon's end")
    assert keeper.daemon.process.returncode == -signal.SIGKILL
    cut.lift()
    keeper.end_logins()
    forget_keys()
    return done


def points(count):
    """The first, the last, and some between."""
    if os.environ.get("KEYCHAIN_CRASH_POINTS") == "all":
        return [(number, how) for number in range(1, count + 1) for how in ("before", "half")]
    chosen = sorted({1 + (count - 1) * index // (SAMPLE - 1) for index in range(SAMPLE)})
    return [(number, ("before", "half")[number % 2]) for number in chosen]


@pytest.mark.parametrize("step", STEPS)
def test_a_cut_anywhere_in(step, keeper, cut):
    files, act, holds = STEPS[step]
    count = perform(keeper, cut, files, act, 0, "before")
    assert count >= 3, "nothing was written"
    for number, how in points(count):
        done = perform(keeper, cut, files, act, number, how)
        keeper.start()
        # What is unlocked by hand belongs to a login.
        assert keeper.tell(1)
        try:
            holds(keeper, done)
            assert keeper.item() == "s3cret"
        except AssertionError as error:
            raise AssertionError(f"{step}, {how} change {number} of {count}: {error}") from error
        finally:
            keeper.stop()
