# SPDX-License-Identifier: Apache-2.0
"""A keychain's life, cut off at each change that its user's worker makes to its files, by a kill or
by a power cut that loses what was not synced: whatever was acknowledged holds, nothing is half
there, and the old or the new password opens the keychain, always. A kill is the worker's alone; the
power is cut for all of the service.

A few points of each step are tried, always the same; KEYCHAIN_CRASH_POINTS=all tries them all."""

import os
import pwd
import shutil
import signal
import sqlite3
import tempfile

import pexpect
import pytest

import wire
import world
from conftest import ALICE, forget_keys

OLD, NEW = ALICE[1], "another horse 3"
ITEM = ("generic-password", "--service", "mail", "--account", "me")
LATER = ("generic-password", "--service", "later")
PASSCODE = ("generic-password", "--service", "passcode")
SAMPLE = 5
WAYS = ("before", "half", "lost", "torn")
POWER_CUTS = ("lost", "torn")


class Cut:
    """The library that ends a worker at a change, and what it is to do. It is in keychaind and in all
    workers, and counts what changes in one user's folder."""

    def __init__(self, folder):
        self.library = folder / "shim.so"
        self.plan = folder / "plan"
        self.counted = folder / "plan.count"
        world.run(world.TOP / "Tests/Crash/build", self.library)
        self.environment = {
            "LD_PRELOAD": str(self.library), "CRASH_PLAN": str(self.plan),
            "CRASH_UNDER": str(world.STATE / str(world.number_of(ALICE[0])))}

    def set(self, number, how="before"):
        self.counted.unlink(missing_ok=True)
        self.plan.write_text(f"{number} {how}\n")

    def lift(self):
        self.plan.unlink(missing_ok=True)

    def count(self):
        """Of the changes since it was set."""
        return int(self.counted.read_text())


@pytest.fixture(scope="module")
def cut():
    # A worker has to read the plan, and to end it.
    folder = world.pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    yield Cut(folder)
    shutil.rmtree(folder)


class Keeper:
    """The daemon, and copies of its files to come back to."""

    def __init__(self, folder, cut):
        self.folder, self.cut = folder, cut
        self.daemon = world.Daemon(folder / "keychaind.log")
        self.logins = []

    def empty(self):
        for entry in world.STATE.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    def start(self):
        self.daemon.start(environment=self.cut.environment)
        world.wait_for(
            lambda: (world.STATE / "0/system.keychain").exists()
            or self.daemon.process.poll() is not None,
            "the machine's keychain")

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
        """Whether it was accepted; None when the worker was gone."""
        heard, said = os.pipe()
        host = os.fork()
        if host == 0:
            try:
                os.write(said, reply_to(verb, **fields))
                os.close(said)
                while True:
                    signal.pause()
            finally:
                os._exit(1)
        self.logins.append(host)
        os.close(said)
        with open(heard) as answer:
            reply = answer.read()
        return None if reply == "" else reply == "accepted"

    def log_in(self, password):
        """Whether the keychain is open now."""
        self.tell(1, password=password)
        return "“login”: unlocked" in self.control("status").stdout

    def end_logins(self):
        for host in self.logins:
            os.kill(host, signal.SIGKILL)
            os.waitpid(host, 0)
        self.logins = []

    def control(self, *words, **options):
        return world.as_user(ALICE[0], world.CONTROL, *words, **options)

    def opens(self, password):
        """By hand, which changes nothing."""
        done = self.control("unlock", "--password-stdin", input=password + "\n")
        assert done.returncode in (0, 6), done
        return done.returncode == 0

    def item(self, words=ITEM):
        return self.control("get", *words).stdout.strip()


def reply_to(verb, **fields):
    entry = pwd.getpwnam(ALICE[0])
    frame = wire.login_frame(verb, entry.pw_uid, account=entry.pw_name, leader=os.getpid(),
                             **fields)
    try:
        return wire.login_reply("/run/keychain/login.sock", frame).encode()
    except OSError:
        return b""


@pytest.fixture(scope="module")
def keeper(cut, tmp_path_factory):
    """With copies of: a keychain that a first login made, one that a second login has opened, one
    whose password was changed, one that has changed since its backup, and one of an older version."""
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
    keeper.restore("proven")
    keeper.start()
    assert keeper.log_in(OLD)
    assert answered("backup", "kc-crash.backup", "--force")
    for words in (("update", *ITEM, "--secret-stdin"), ("add", *LATER)):
        assert keeper.control(*words, input="since").returncode == 0
    keeper.save("since")
    keeper.restore("proven")
    for path in world.STATE.glob("*/login.keychain"):
        database = sqlite3.connect(path)
        database.executescript((world.TOP / "Tests/Crash/older.sql").read_text())
        database.executescript("drop table quarantine; pragma user_version = 1;")
        database.close()
    keeper.save("older")
    yield keeper
    home("kc-crash.backup").unlink()
    cut.lift()
    keeper.stop()
    keeper.empty()


def home(name):
    return world.pathlib.Path(pwd.getpwnam(ALICE[0]).pw_dir, name)


def answered(verb, name, *options):
    """Whether what asks for its user was done; the user is there."""
    entry = pwd.getpwnam(ALICE[0])
    command = pexpect.spawn(
        "setpriv", ["--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid), "--clear-groups",
                    "keyctl", "session", "-", str(world.CONTROL), verb, str(home(name)), *options],
        cwd=entry.pw_dir, timeout=10, echo=False)
    command.delaybeforesend = None
    if command.expect(["assword: ?$", pexpect.EOF]) == 0:
        command.sendline(OLD)
        command.expect(pexpect.EOF)
    return command.wait() == 0


def change(keeper):
    return keeper.tell(4, password=OLD, new=NEW)


def log_in_with(password):
    def act(keeper):
        return keeper.tell(1, password=password)
    return act


def set_by_hand(keeper):
    done = keeper.control("set-password", "--password-stdin", input=f"{OLD}\n{NEW}\n")
    return done.returncode == 0


def mend(keeper):
    done = keeper.control("unlock", "--password-stdin", input=OLD + "\n")
    return done.returncode == 0


def account_without_password(keeper):
    world.run("passwd", "-d", ALICE[0])


def come_in_without(keeper):
    return keeper.tell(1, authenticated=True)


def restore(keeper):
    return answered("restore", "kc-crash.backup")


def both_once_changed(keeper, done):
    assert keeper.opens(OLD)
    assert keeper.opens(NEW) or not done
    assert keeper.item() == "s3cret"


def the_old_one(keeper, done):
    assert keeper.opens(OLD)
    assert keeper.item() == "s3cret"


def the_new_one(keeper, done):
    assert keeper.opens(NEW)
    assert keeper.item() == "s3cret"


def the_one_it_was_set_to(keeper, done):
    new, old = keeper.opens(NEW), keeper.opens(OLD)
    assert new != old and (new or not done)
    assert keeper.item() == "s3cret"


def any_login(keeper, done):
    # The device opens it until a login has proved a password.
    assert keeper.opens(NEW) or keeper.opens(OLD)
    keeper.control("lock")
    assert keeper.log_in(NEW)
    assert keeper.item() == "s3cret"


def nothing_but_the_passcode(keeper, done):
    def secret_is_there():
        return any(world.STATE.glob("*/login.device-secret"))
    assert keeper.opens(OLD)
    assert (keeper.item(), keeper.item(PASSCODE)) in (("s3cret", "s3cret"), ("s3cret", ""))
    assert secret_is_there() or keeper.item(PASSCODE) == ""
    # The next such login does what is left to do.
    come_in_without(keeper)
    keeper.control("status")
    world.make_account(*ALICE)
    assert not secret_is_there()
    assert keeper.opens(OLD)
    assert (keeper.item(), keeper.item(PASSCODE)) == ("s3cret", "")


def made_whole(keeper, done):
    assert keeper.log_in(OLD)
    assert keeper.control("add", *ITEM, input="s3cret").returncode == 0


def whole_or_nothing(keeper, done):
    assert keeper.opens(OLD)
    found = keeper.item(), keeper.item(LATER)
    assert found == ("s3cret", "") if done else found in (("since", "since"), ("s3cret", ""))


class Step:
    """From which files; what the worker is asked for while it is cut; what holds afterwards; and
    what comes before, or that it is cut from its start."""

    def __init__(self, files, act, holds, before=None, from_start=False):
        self.files, self.act, self.holds = files, act, holds
        self.before, self.from_start = before, from_start


STEPS = {
    "creation": Step("nothing", log_in_with(OLD), made_whole),
    "confirmation of a first password": Step("provisional", log_in_with(OLD), the_old_one),
    "a second login with another password": Step("provisional", log_in_with(NEW), any_login),
    "change": Step("proven", change, both_once_changed),
    "confirmation of a change": Step("changed", log_in_with(NEW), the_new_one),
    "a password set by hand": Step("proven", set_by_hand, the_one_it_was_set_to),
    "the mending of one that differs": Step(
        "proven", mend, both_once_changed, before=log_in_with(NEW)),
    "a passcode's end": Step(
        "proven", come_in_without, nothing_but_the_passcode, before=account_without_password),
    "restoring a backup": Step("since", restore, whole_or_nothing, before=log_in_with(OLD)),
    "migration": Step("older", log_in_with(OLD), the_old_one, from_start=True),
}


def perform(keeper, cut, step, number, how):
    """Cuts the worker off; whether the act was acknowledged, and how many changes there were."""
    keeper.restore(step.files)
    if step.from_start:
        cut.set(number, how)
    keeper.start()
    if step.before:
        step.before(keeper)
    if not step.from_start:
        cut.set(number, how)
    done = step.act(keeper)
    # What a login leads to comes after its answer. After a kill the next worker answers, to which
    # nothing happens.
    keeper.control("status")
    count = cut.count()
    if how in POWER_CUTS and 0 < number <= count:
        keeper.daemon.kill()
    keeper.stop()
    cut.lift()
    return done, count


def points(count):
    """The first, the last, some between, and a power cut when all was acknowledged."""
    if os.environ.get("KEYCHAIN_CRASH_POINTS") == "all":
        return [(number, how) for number in range(1, count + 2) for how in WAYS]
    chosen = sorted({1 + (count - 1) * index // (SAMPLE - 1) for index in range(SAMPLE)})
    return [(number, WAYS[number % len(WAYS)]) for number in chosen] + [(count + 1, "lost")]


@pytest.mark.parametrize("name", STEPS)
def test_a_cut_anywhere_in(name, keeper, cut):
    step = STEPS[name]
    _, count = perform(keeper, cut, step, 0, "before")
    assert count >= 3, "nothing was written"
    cuts = 0
    for number, how in points(count):
        done, reached = perform(keeper, cut, step, number, how)
        if 0 < reached < number <= count:
            # A change that a worker makes by itself now and then was among those counted.
            number = reached
            done, reached = perform(keeper, cut, step, number, how)
        cuts += reached >= number
        keeper.start()
        # What is unlocked by hand belongs to a login.
        assert keeper.tell(1)
        try:
            step.holds(keeper, done)
        except AssertionError as error:
            raise AssertionError(f"{name}, {how} change {number} of {count}: {error}") from error
        finally:
            keeper.stop()
    assert cuts >= 2, "it was not cut"
