# SPDX-License-Identifier: Apache-2.0
"""keychain-starter, the one part with the rights that PAM's modules may need, which starts every program
that works for keychaind and its workers: what it takes, from which peer, and what becomes of programs
when it or its peer ends."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading
import time

import pytest

import world
from conftest import ALICE
from fuse_server import FileSystem
from graphical import processes
from test_foreign_files import RESTORE, earlier, endless_rows, importer  # noqa: F401 (fixture)
from test_presence import ADD, GET
from world import parent_of

FAILURE = 1
INSTALLED = world.PREFIX / "libexec/keychain/keychain-starter"
SOCKET = world.RUN / "starter.sock"
TWO_OF_ROOT = pathlib.Path("/run/starter-test")
CLIENT = pathlib.Path(__file__).with_name("starter_client.py")
OTHERS = ("keychain-import", "keychainctl-policy", "keychain-tpm", "keychain-fido")
# What stands for each program: it tells how it was started, and stays.
PROGRAM = """#!/bin/sh
cd /proc/$$
{ echo "$# $*"; tr '\\0' ' ' <environ; echo; ls -C -w 0 fd
  cut -d ' ' -f 1,6 stat; umask; readlink cwd; } >>TOLD
exec sleep 600
"""


class Starter:
    """The installed program in an installation whose keychaind and keychain-worker are a Python and
    whose other programs are scripts. It trusts them for where they lie and whose they are, as it does
    the product's."""

    def __init__(self, folder, before=()):
        self.folder = pathlib.Path(folder)
        self.told = self.folder / "told"
        self.path = self.folder / "starter.sock"
        self.daemon = self.folder / "sbin/keychaind"
        self.authentication = self.folder / "libexec/keychain/keychain-auth"
        for name in ("sbin", "libexec/keychain"):
            (self.folder / name).mkdir(parents=True)
        self.worker = self.authentication.with_name("keychain-worker")
        for each in (self.daemon, self.worker):
            shutil.copy(os.path.realpath("/usr/bin/python3"), each)
        program = self.folder / "libexec/keychain/keychain-starter"
        shutil.copy(INSTALLED, program)
        self.others = [self.authentication.with_name(name) for name in OTHERS]
        for each in (self.authentication, *self.others):
            each.write_text(PROGRAM.replace("TOLD", str(self.told)))
        for each in (self.daemon, self.worker, program, self.authentication, *self.others):
            each.chmod(0o755)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(self.path))
        self.listener.listen(512)
        self.process = subprocess.Popen(
            [*before, "bash", "-c", f'exec "$0" 3<&{self.listener.fileno()}', program],
            pass_fds=[self.listener.fileno()], stdin=subprocess.DEVNULL,
            stderr=open(self.folder / "log", "w"))

    def command(self, code, before=(), after="", program=None):
        return [*before, program or self.daemon, "-B", "-c",
                f"import sys; sys.argv = ['', '{self.path}', '']\n" + CLIENT.read_text().replace(
                    "__main__", "nothing") + "\n" + code + after]

    def run(self, code, **how):
        """What the code, run as keychaind's, evaluates to."""
        done = world.run(*self.command(f"import json; print(json.dumps({code}))", **how),
                         env={"PYTHONHOME": "/usr", "PATH": "/usr/bin:/bin"})
        return json.loads(done.stdout)

    def begin(self, code, **how):
        """Runs the code, which prints a line when it is ready and then waits for its end."""
        process = subprocess.Popen(
            self.command(code + "\nprint('ready', flush=True); sys.stdin.read()", **how),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={"PYTHONHOME": "/usr", "PATH": "/usr/bin:/bin"})
        return process, process.stdout.readline().strip()

    def children(self):
        return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()
                and parent_of(int(entry)) == self.process.pid]

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.listener.close()


def status_of(pid, name):
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    line, = [line for line in lines if line.startswith(name + ":")]
    return line.split()[1]


@pytest.fixture
def starter():
    TWO_OF_ROOT.mkdir()
    running = Starter(TWO_OF_ROOT)
    yield running
    running.stop()
    shutil.rmtree(TWO_OF_ROOT)


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


def asking(daemon):
    """The starter of a daemon, and the question that it runs."""
    own, = [int(entry.name) for entry in processes("keychain-starter")
            if parent_of(entry.name) == daemon.pid]
    return own, [int(entry.name) for entry in processes("keychain-auth")
                 if parent_of(entry.name) == own]


# What it takes.

def test_each_record_that_makes_no_sense_is_refused_and_it_goes_on(starter):
    bad, good = "bad request", 'word() == "started"'
    refusals = {
        "word(b'')": bad, "word(b'KCST')": bad, "word(record()[:8])": bad,
        "word(record()[:-1])": bad, "word(record() + b'\\0')": bad, "word(b'x' * 65536)": bad,
        "word(magic=b'KCAV')": bad, "word(program=0)": bad, "word(program=2)": bad,
        "word(program=6)": bad, "word(program=8)": bad, "word(program=9)": bad,
        "word(version=2)": "other version", "word(version=4)": "other version",
        "word(user=0xffffffff)": bad,
        "word(service=b'su')": bad, "word(service=b'keychain-../su')": bad,
        "word(service=b'')": bad, "word(service=b'keychain-' + b'a' * 39)": bad,
        "word(account=b'')": bad, "word(account=b'a\\0b')": bad, "word(account=b'a\\nb')": bad,
        "word(account=b'a' * 256)": bad, "word(asker=b'bob')": bad,
        "word(service=b'keychain-approval')": bad,
        "word(service=b'keychain-approval', asker=b'alice')": bad,
        "word(service=b'keychain-no-such')": "no service",
    }
    told = starter.run("[" + ", ".join(f"[{ask}, {good}]" for ask in refusals) + "]")
    assert [[word, True] for word in refusals.values()] == told


def test_each_request_for_another_program_that_makes_no_sense_is_refused(starter):
    bad, good = "bad request", 'word() == "started"'
    import_, conversation = "descriptors=[readable(), writable()]", "descriptors=[conversation()]"
    refusals = [
        *(f"word(other(2, {seconds}), {import_})" for seconds in (0, 86401)),
        f"word(other(2), {import_})", f"word(other(2, 30, 30), {import_})",
        f"word(other(2, 30, user=0xffffffff), {import_})",
        *(f"word(policies({folders}), descriptors=[writable()])" for folders in (
            "b'etc'", "b'/a', b''" ", b'/b'", "b'/a\\nb'", "b'/' + b'a' * 511",
            "*[b'/a'] * 9", "b'/a', user=1000")),
        *(f"word(other(4, {numbers}), {conversation})" for numbers in (
            "1", "0, 0", "3, 0", "1, 1 << 24", "2, 1", "1, 0, 0")),
        *(f"word(other(5, {numbers}), {conversation})" for numbers in ("0", "3", "1, 0")),
        f"word(other(6, 1), {conversation})", f"word(bind(), {conversation}, bound=None)",
        "word(bind(0xffffffff), [], bound=None)", f"word(other(9, 1), {conversation})",
        *(f"word(adopt({number}), folders('/', '/run'))" for number in (
            "0", "1000", "0x7affffff", "0x7b010000", "0xffffffff")),
        "word(adopt(0x7b000000, user=0xffffffff), folders('/', '/run'))",
        *(f"word(end({number}), [os.pidfd_open(1)])" for number in (
            "0", "1000", "0x7affffff", "0x7b010000", "0xffffffff")),
        "word(other(7), folders('/', '/run'))", "word(other(7, 0x7b000000, 0), folders('/', '/run'))",
    ]
    told = starter.run("[" + ", ".join(f"[{ask}, {good}]" for ask in refusals) + "]")
    assert [[bad, True]] * len(refusals) == told


def test_the_conversation_is_one_socket_of_its_kind(starter):
    pair = "socket.socketpair(socket.AF_UNIX, socket.{})"
    told = starter.run(f"""[
        word(descriptors=[]), word(descriptors=[1]),
        word(descriptors=[each.detach() for each in {pair.format("SOCK_SEQPACKET")}]),
        word(descriptors=[{pair.format("SOCK_STREAM")}[0].detach()]),
        word(descriptors=[os.open("/dev/null", os.O_RDWR)]),
        word(descriptors=[{pair.format("SOCK_SEQPACKET")}[0].detach()])]""")
    assert told == ["bad request"] * 5 + ["started"]


def test_other_programs_get_descriptors_of_their_kinds_only(starter):
    pipe, file, null = "writable()", "readable()", "os.open('/dev/null', os.O_RDWR)"
    both = "readable('/run/starter-test/told', os.O_RDWR | os.O_CREAT)"
    refusals = [
        *(f"word(other(2, 30), descriptors=[{given}])" for given in (
            "", file, pipe, f"{pipe}, {file}", f"{both}, {pipe}", f"{null}, {pipe}",
            f"{file}, os.pipe()[0]", f"{file}, conversation()", f"{file}, {pipe}, {pipe}")),
        *(f"word(policies(b'/etc'), descriptors=[{given}])" for given in (
            "", file, "os.pipe()[0]", "conversation()", f"{pipe}, {pipe}")),
        *(f"word({ask}, descriptors=[{given}])" for ask in ("other(4, 2, 0)", "other(5, 2)")
          for given in ("", pipe, file, "conversation(), conversation()")),
    ]
    refusals += [
        f"word(adopt(0x7b000000), [{given}])" for given in (
            "", "*folders('/')", "*folders('/', '/run', '/')", f"{file}, *folders('/')",
            "*folders('/', '/tmp')", "os.open('/', os.O_PATH), *folders('/')")]
    refusals += [f"word(end(0x7b000000), [{given}])" for given in (
        "", file, pipe, "conversation()", "os.pidfd_open(1), os.pidfd_open(1)")]
    good = [
        "word(**rows())", "word(policies(b'/etc'), descriptors=[writable()])",
        "word(other(4, 2, 0), descriptors=[conversation()])",
        "word(other(5, 2), descriptors=[conversation()])",
    ]
    told = starter.run("[" + ", ".join(refusals + good) + "]")
    assert told == ["bad request"] * len(refusals) + ["started"] * len(good)


@pytest.mark.parametrize("asks, words, numbers, variables", [
    ("**rows(31)", "1 31", {0, 1, 2}, "SWIFT_BACKTRACE=enable=no"),
    ("policies(b'/usr/a', b'/etc/b c'), descriptors=[writable()]",
     "6 policy compile --policies /usr/a --policies /etc/b c", {0, 1, 2, 3}, ""),
    ("policies(), descriptors=[writable()]", "2 policy compile", {0, 1, 2, 3}, ""),
    ("other(4, 1, 1 << 0 | 1 << 11), descriptors=[conversation()]", "3 seal 0 11", {0, 1, 2, 3}, ""),
    ("other(4, 2, 0), descriptors=[conversation()]", "1 open", {0, 1, 2, 3}, ""),
    ("other(5, 1), descriptors=[conversation()]", "1 make", {0, 1, 2, 3}, ""),
    ("other(5, 2), descriptors=[conversation()]", "1 open", {0, 1, 2, 3}, ""),
])
def test_each_program_gets_its_words_and_descriptors_and_few_rights(
        starter, asks, words, numbers, variables):
    process, _ = starter.begin(f"asked = Question({asks})")
    lines = world.wait_for(
        lambda: starter.told.exists() and len(starter.told.read_text().splitlines()) == 6
        and starter.told.read_text().splitlines(), "the script")
    assert lines[0] == words and lines[1].strip() == variables
    assert {int(number) for number in lines[2].split() if int(number) < 10} == numbers
    child, = starter.children()
    assert status_of(child, "NoNewPrivs") == "1"
    # CAP_SETGID and CAP_SETUID.
    for kind in "CapPrm", "CapEff", "CapBnd":
        assert int(status_of(child, kind), 16) == 0xc0, kind
    process.communicate()


def test_how_a_program_ended_is_told(starter):
    asks = {"keychain-auth": "", "keychain-import": "**rows()",
            "keychainctl-policy": "policies(), descriptors=[writable()]",
            "keychain-tpm": "other(4, 2, 0), descriptors=[conversation()]",
            "keychain-fido": "other(5, 2), descriptors=[conversation()]"}
    for words, status in (("exit 0", 0), ("exit 80", 80), ("kill -9 $$", 256)):
        for each in (starter.authentication, *starter.others):
            each.write_text(f"#!/bin/sh\n{words}\n")
            assert starter.run(f"ended({asks[each.name]})") == ["started", "ended", status], each


def test_a_program_that_is_not_installed_is_told_from_one_that_is_not_trusted(starter):
    asks = "word(other(4, 2, 0), descriptors=[conversation()])"
    program, = [each for each in starter.others if each.name == "keychain-tpm"]
    program.chmod(0o757)
    assert starter.run(asks) == "failed"
    program.unlink()
    assert starter.run(asks) == "not installed"
    assert starter.run("word(other(5, 2), descriptors=[conversation()])") == "started"
    starter.authentication.unlink()
    assert starter.run("word()") == "not installed"


def test_keychain_auth_gets_its_words_and_descriptors_and_nothing_else(starter):
    process, _ = starter.begin(
        "asked = Question(service=b'keychain-approval', account=b'ann', asker=b'al ice')")
    lines = world.wait_for(
        lambda: starter.told.exists() and len(starter.told.read_text().splitlines()) == 6
        and starter.told.read_text().splitlines(), "the script")
    assert lines[0] == "4 keychain-approval 1000 ann al ice"
    # The variables are the shell's own.
    assert not lines[1].strip()
    # Those that a shell makes for itself begin at 10.
    assert {int(number) for number in lines[2].split() if int(number) < 10} == {0, 1, 2, 3}
    pid, session = lines[3].split()
    assert pid == session and lines[4] == "0077"
    process.communicate()


def test_a_program_that_others_may_write_to_is_not_started(starter):
    starter.authentication.chmod(0o775)
    assert starter.run("word()") == "failed"
    starter.authentication.chmod(0o755)
    starter.authentication.parent.chmod(0o757)
    assert starter.run("word()") == "failed"
    starter.authentication.parent.chmod(0o755)
    assert starter.run("word()") == "started"
    assert "keychain-auth: not root's alone" in (starter.folder / "log").read_text()


# Whom it hears.

def test_it_hears_keychaind_alone(starter):
    assert starter.run("word()") == "started"
    assert starter.run("told()", program=starter.worker) == "not allowed"
    assert starter.run("told()") is None
    assert starter.run("told()", program="/usr/bin/python3") == "not allowed"
    # The same path in another mount namespace may be another file; as a rule it is not.
    assert starter.run("told()", before=["unshare", "--mount"]) is None
    assert starter.run("told()", before=elsewhere(starter)) == "not allowed"
    # The socket is closed to other users, and so is what listens there.
    starter.path.chmod(0o666)
    assert starter.run("told()", before=[
        "setpriv", "--reuid", "nobody", "--clear-groups"]) == "not allowed"


def elsewhere(starter):
    """A mount namespace in which another folder lies in the place of keychaind's, with a copy of it."""
    folder = starter.daemon.parent
    return ["unshare", "--mount", "sh", "-c", f"""
        cp -r {folder} {starter.folder}/copy-{folder.name} && mount --bind {starter.folder}/copy-{
        folder.name} {folder} && exec "$@" """, "sh"]


def test_in_a_mount_namespace_of_its_own_it_hears_the_keychaind_of_all_others():
    TWO_OF_ROOT.mkdir()
    running = Starter(TWO_OF_ROOT, before=["unshare", "--mount", "--propagation", "slave"])
    try:
        assert running.run("word()") == "started"
        assert running.run("told()", before=elsewhere(running)) == "not allowed"
    finally:
        running.stop()
        shutil.rmtree(TWO_OF_ROOT)


def test_another_file_beside_keychaind_is_another_program(starter):
    copy = starter.daemon.with_name("keychaind.other")
    shutil.copy(starter.daemon, copy)
    assert starter.run("told()", program=copy) == "not allowed"
    # Of the right name, in another folder.
    other = starter.folder / "libexec/keychain/keychaind"
    shutil.copy(starter.daemon, other)
    assert starter.run("told()", program=other) == "not allowed"


def test_a_keychaind_whose_file_was_replaced_is_heard_until_it_is_restarted(starter):
    code = "sys.stdin.readline(); print(word(), flush=True)"
    process, _ = starter.begin("print('ready', flush=True)\n" + code)
    new = starter.daemon.with_name("new")
    shutil.copy(starter.daemon, new)
    new.rename(starter.daemon)
    process.stdin.write("\n")
    process.stdin.flush()
    assert process.stdout.readline().strip() == "started"
    process.communicate()


# Whose connections are.

def test_a_connection_carries_requests_of_its_user_alone(starter):
    seals = "other(4, 2, 0, user={}), [conversation()], bound={}"
    told = starter.run(f"""[
        word(bound=1000), word(bound=1001), word(bound=None),
        word({seals.format(1000, 1000)}), word({seals.format(1000, 0)}),
        word({seals.format(0, 1000)}), word({seals.format(0, 0)}),
        word({seals.format(1000, None)})]""")
    no = "not allowed"
    assert told == ["started", no, no, "started", no, no, "started", no]


def test_what_keychaind_asks_for_itself_is_asked_on_connections_of_no_user(starter):
    told = starter.run("""[word(*ask, bound=bound) for bound in (None, 0, 1000) for ask in (
        (policies(), [writable()]), (bind(), []), (bind(0), []))]""")
    no = "not allowed"
    assert told == ["started", "done", "done"] + [no] * 6
    assert starter.run("word(adopt(0x7b000000), folders('/', '/run'), bound=1000)") == no
    assert starter.run("word(end(0x7b000000), [os.pidfd_open(1)], bound=1000)") == no


def test_a_bound_connection_may_be_handed_on_to_a_program_that_is_not_heard_itself(starter):
    starter.authentication.write_text("#!/bin/sh\nexit 80\n")
    assert starter.run("handed_on()") == ["1", "0", "2", "80"]


def test_so_many_connections_of_one_user_wait_and_end_when_nothing_is_asked(starter):
    told = starter.run("""(lambda waiting: [
        [each.word for each in waiting], word(bind(), [], bound=None), word(user=1001),
        [each.next() for each in waiting], word()])(
            [Question(bind(), [], bound=None) for _ in range(16)])""")
    assert told == [["done"] * 16, "busy", "started", [None] * 16, "started"]


# Folders.

NUMBER = 0x7B000007


@pytest.fixture
def folders(starter):
    states, runtime = starter.folder / "states", starter.folder / "run"
    for each in states, runtime:
        each.mkdir(mode=0o755)
    return states, runtime


def adopted(starter, folders, user=1000, number=NUMBER):
    states, runtime = folders
    return starter.run(f"word(adopt({number}, {user}), folders('{states}', '{runtime}'))")


def owner(path):
    facts = path.lstat()
    return facts.st_uid, facts.st_gid, oct(facts.st_mode & 0o7777)


def test_folders_and_files_become_the_number_s(starter, folders):
    states, runtime = folders
    (states / "1000").mkdir(mode=0o700)
    kept = states / "1000/login.keychain"
    kept.touch(0o600)
    for _ in range(2):
        assert adopted(starter, folders) == "done"
        assert owner(states / "1000") == owner(runtime / "users/1000") == (NUMBER, NUMBER, "0o700")
        assert owner(kept) == (NUMBER, NUMBER, "0o600")
        assert owner(runtime / "users") == (0, 0, "0o711")
    assert adopted(starter, folders, user=0, number=NUMBER + 1) == "done"
    assert owner(states / "0")[0] == NUMBER + 1 and owner(states)[0] == 0


def test_a_folder_of_another_number_and_a_file_with_several_names_are_refused(starter, folders):
    states, _ = folders
    assert adopted(starter, folders) == "done"
    assert adopted(starter, folders, number=NUMBER + 1) == "foreign folder"
    assert owner(states / "1000")[0] == NUMBER
    secret = states / "secret"
    secret.touch(0o600)
    os.link(secret, states / "1000/taken")
    assert adopted(starter, folders) == "foreign folder"
    assert owner(secret)[0] == 0
    assert "user 1000: taken: has several names" in (starter.folder / "log").read_text()


def test_a_process_of_the_number_ends_and_no_other(starter):
    """A worker that was given up."""
    def runs_as(number):
        process = subprocess.Popen(
            ["setpriv", "--reuid", str(number), "--clear-groups", "sleep", "600"])
        world.wait_for(lambda: status_of(process.pid, "Uid") == str(number), "its number")
        return process

    own, others, roots = runs_as(NUMBER), runs_as(NUMBER + 1), runs_as(0)
    try:
        told = starter.run(f"[word(end({NUMBER}), [os.pidfd_open(each)]) for each in"
                           f" ({own.pid}, {others.pid}, {roots.pid})]")
        assert told == ["done", "failed", "failed"]
        assert own.wait(world.PATIENCE) == -signal.SIGKILL
        assert others.poll() is None and roots.poll() is None
        assert f"user 1000: a process could not be ended as one of uid {NUMBER}" in (
            starter.folder / "log").read_text()
    finally:
        for process in own, others, roots:
            process.kill()
            process.wait()


# How a question ends.

def test_a_question_ends_with_its_connection(starter):
    process, _ = starter.begin("asked = [Question(), Question(user=1001)]; asked[1].close()")
    world.wait_for(lambda: len(starter.children()) == 1, "the second question to end")
    process.kill()
    world.wait_for(lambda: not starter.children(), "the question of the one that was killed to end")
    process.communicate()
    assert starter.process.poll() is None


def test_more_words_change_nothing_and_its_end_is_told(starter):
    starter.authentication.write_text("#!/bin/sh\nsleep 1\nexit 80\n")
    assert starter.run("""(lambda asked: [
        asked.connection.send(b'more'), asked.word, asked.next(), asked.status, asked.next()])(
            Question())""") == [4, "started", "ended", 80, None]


def test_what_a_user_sends_is_closed_where_it_holds_up_no_other(starter):
    """A socket that lingers keeps the process waiting that closes it."""
    told = starter.run("""[word_for(lingering()), word(user=1001),
        word_for(lingering(), more=lingering()), word(user=1001)]""")
    assert told == ["bad request", "started"] * 2


def test_a_file_whose_server_does_not_answer_holds_up_no_other_user(starter):
    seal = "other(4, 2, 0{}), [conversation()]"
    with FileSystem(ALICE[0], programs=["keychain-starte"]) as files:
        given = f"word_for(received('{files.socket}'))"
        told = starter.run(f"[{given}, {given}, word({seal.format(', user=1001')})]")
        assert told == ["bad request", "bad request", "started"]
        held = world.wait_for(lambda: len(files.held()) == 2 and files.held(), "both to wait")
        assert {thread for _, _, thread in held} <= set(starter.children())
        # What waits is the user's, who may have two of these at once.
        assert starter.run(f"word({seal.format('')})") == "busy"
        files.release()
        world.wait_for(lambda: not starter.children(), "them to end")
        assert starter.run(f"word({seal.format('')})") == "started"


def test_what_it_started_ends_with_it(starter):
    process, _ = starter.begin("asked = Question()")
    child, = starter.children()
    starter.process.kill()
    world.wait_for(lambda: not pathlib.Path(f"/proc/{child}").exists() or status_of(
        child, "State") == "Z", "the question to end")
    process.communicate()


def test_so_many_questions_of_one_user_and_of_all_and_no_more(starter):
    told = starter.run("""(lambda asked: [
        [each.word for each in asked[:16]], asked[16].word, word(user=2000),
        asked[0].close(), time.sleep(1), word()])([Question() for _ in range(17)])""")
    assert told == [["started"] * 16, "busy", "started", None, None, "started"]
    world.wait_for(lambda: not starter.children(), "them to end")
    told = starter.run("""(lambda asked: [
        [each.word for each in asked], word(user=4000)])(
            [Question(user=user) for user in range(3000, 3016) for _ in range(16)])""")
    assert told == [["started"] * 256, "busy"]


@pytest.mark.parametrize("ask, takes, most", [
    ("other(2, 30, user=user)", "readable(), writable()", 4),
    ("policies()", "writable()", 4),
    ("other(4, 2, 0, user=user)", "conversation()", 2),
    ("other(5, 2, user=user)", "conversation()", 16),
])
def test_each_program_is_counted_by_itself(starter, ask, takes, most):
    told = starter.run(f"""(lambda asked: [[each.word for each in asked], word()])([
        Question({ask}, [{takes}]) for user in [1000] * {most + 1} + [1001]])""")
    last = "busy" if "policies" in ask else "started"  # they are root's for all
    assert told == [["started"] * most + ["busy", last], "started"]


def test_a_connection_that_says_nothing_holds_up_no_other(starter):
    told = starter.run("""(lambda silent: [
        word(), [each.settimeout(30) or each.recv(10) == b"" for each in silent]])(
            [connect() for _ in range(300)])""")
    assert told == ["started", [True] * 300]


@pytest.mark.parametrize("kind", ["nothing", "file", "stream", "unheard"])
def test_it_runs_with_a_listening_socket_of_its_kind_only(kind, tmp_path):
    given = {
        "nothing": lambda: None, "file": lambda: open("/dev/null"),
        "stream": lambda: listening(socket.SOCK_STREAM, tmp_path),
        "unheard": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET),
    }[kind]()
    moves = f"3<&{given.fileno()}" if given else "3<&-"
    done = subprocess.run(["bash", "-c", f'exec "$0" {moves}', INSTALLED], capture_output=True,
                          pass_fds=[given.fileno()] if given else [], timeout=world.PATIENCE)
    assert done.returncode == 2 and b"is started by systemd or keychaind" in done.stderr


def listening(kind, folder):
    each = socket.socket(socket.AF_UNIX, kind)
    each.bind(str(folder / "socket"))
    each.listen()
    return each


# With the daemon.

def test_no_worker_gets_rights_by_starting_a_program_and_what_asks_pam_may(shell, daemon):
    for pid in (daemon.pid, daemon.worker(ALICE[0])):
        # The first thread of all stays; others may have ended meanwhile.
        threads = {int(task) for task in os.listdir(f"/proc/{pid}/task")}
        assert status_of(pid, "NoNewPrivs") == "1"
        for thread in threads:
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                assert status_of(thread, "NoNewPrivs") == "1"
    shell.send(GET)
    shell.terminal.expect("assword")
    own, (child,) = asking(daemon)
    assert status_of(own, "NoNewPrivs") == status_of(child, "NoNewPrivs") == "0"
    shell.terminal.sendline(ALICE[1])
    shell.terminal.expect("bank-s3cret")


def children_of(pid):
    return {int(entry) for entry in os.listdir("/proc") if entry.isdigit()
            and parent_of(int(entry)) == pid}


def test_neither_keychaind_nor_a_worker_starts_a_program_itself(shell, earlier, daemon):  # noqa: F811
    """While a file is read that takes long, and policies are loaded again and again."""
    listening = {int(entry.name)
                 for entry in processes("keychain-starter", "keychain-broker", "keychain-audit",
                                        "keychain-worker")
                 if parent_of(int(entry.name)) == daemon.pid}
    worker = daemon.worker(ALICE[0])
    own, _ = asking(daemon)
    endless_rows(earlier)
    restoring = threading.Thread(target=lambda: shell.run(RESTORE, [ALICE[1]]))
    restoring.start()
    reader = importer()
    compilers = set()

    def seen():
        os.kill(daemon.pid, signal.SIGHUP)
        for _ in range(100):
            compilers.update(parent_of(int(entry.name)) for entry in processes("keychainctl-policy"))
            assert children_of(daemon.pid) <= listening | {
                int(entry.name) for entry in processes("keychain-audit")}
            assert not children_of(worker)
        return compilers - {None}

    world.wait_for(seen, "policies to be compiled")
    assert parent_of(reader) == own and compilers - {None} == {own}
    os.kill(reader, signal.SIGKILL)
    restoring.join(world.PATIENCE)


def test_a_file_is_not_read_and_policies_stay_where_the_starter_hangs(
        shell, earlier, daemon):  # noqa: F811
    own, _ = asking(daemon)
    os.kill(own, signal.SIGSTOP)
    try:
        assert shell.run(RESTORE, [ALICE[1]]).status != 0
        assert shell.run("keychainctl status").status == 0
        os.kill(daemon.pid, signal.SIGHUP)
        world.wait_for(lambda: "keychain-starter does not answer); what was in force stays in force"
                       in daemon.log(), "the load to be given up")
    finally:
        os.kill(own, signal.SIGCONT)
    assert shell.run(RESTORE, [ALICE[1]]).status == 0


def test_a_daemon_whose_starter_was_killed_starts_with_its_policies(shell, daemon):
    before = daemon.log().count("rules in force")
    daemon.stop(signal.SIGKILL)
    daemon.start()
    world.wait_for(lambda: daemon.log().count("rules in force") > before, "policies", 10)


def test_no_user_reaches_its_socket(daemon):
    assert oct(SOCKET.stat().st_mode & 0o777) == "0o600" and SOCKET.stat().st_uid == 0
    code = ("import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)"
            f".connect('{SOCKET}')")
    assert "PermissionError" in world.as_user(ALICE[0], "/usr/bin/python3", "-c", code).stderr


@pytest.mark.parametrize("killed", ["keychaind", "the worker"])
def test_a_question_ends_with_what_asked_it_and_was_killed(killed, shell, daemon):
    shell.send(GET)
    shell.terminal.expect("assword")
    own, (child,) = asking(daemon)
    if killed == "keychaind":
        daemon.kill()
        world.wait_for(lambda: not pathlib.Path(f"/proc/{own}").exists(), "the starter to end")
    else:
        daemon.kill_worker(ALICE[0])
    world.wait_for(lambda: not pathlib.Path(f"/proc/{child}").exists(), "the question to end")
    if killed == "keychaind":
        daemon.start()
    shell.terminal.expect_exact(shell.PROMPT)


def test_a_starter_that_is_killed_fails_the_question_under_way_and_no_other(shell, daemon):
    shell.send(GET + "; echo \"<status $?>\"")
    shell.terminal.expect("assword")
    own, _ = asking(daemon)
    os.kill(own, signal.SIGKILL)
    shell.terminal.expect(r"keychain-starter does not answer.*<status (\d+)>")
    assert int(shell.terminal.match.group(1)) == FAILURE
    shell.terminal.expect_exact(shell.PROMPT)
    answered = shell.run(GET, [ALICE[1]])
    assert answered.status == 0 and "bank-s3cret" in answered.text
    assert asking(daemon)[0] != own
    assert "keychain-starter ended while keychain-auth ran" in daemon.log()


def test_a_starter_that_hangs_is_said_to_and_logins_go_on(shell, daemon, login):
    own, _ = asking(daemon)
    os.kill(own, signal.SIGSTOP)
    try:
        answered = shell.run(GET)
        assert answered.status == FAILURE
        assert "keychain-starter does not answer" in answered.text
        # The keychain is open; what asks nothing needs no starter.
        assert login().run("keychainctl add generic-password --service plain --account me"
                           " </dev/null").status == 0
        told = world.run(world.CONTROL, "doctor", check=False)
        assert "WRONG  keychain-starter does not answer" in told.stdout
    finally:
        os.kill(own, signal.SIGCONT)
    assert "bank-s3cret" in shell.run(GET, [ALICE[1]]).text


def test_the_doctor_names_a_starter_that_is_not_there(shell, daemon):
    fine = "keychain-starter starts what works for keychaind"
    assert fine in world.run(world.CONTROL, "doctor", check=False).stdout
    assert fine in shell.run("keychainctl doctor").text
    SOCKET.unlink()
    for told in (world.run(world.CONTROL, "doctor", check=False).stdout,
                 shell.run("keychainctl doctor").text):
        assert "WRONG  keychain-starter does not listen" in told
        assert "systemctl start keychain-starter.socket" in told
