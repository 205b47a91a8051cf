# SPDX-License-Identifier: Apache-2.0
"""keychain-audit, to which the audit's files belong: what it takes, from which peers, what it can still
do, tried with its very rights, and what becomes of records when it ends, hangs or has no room."""

import json
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
import time

import pytest

import traced
import world
from conftest import ALICE, BOB
from test_presence import ADD, GET
from traced import allowed_calls, amd64, call_numbers, status

INSTALLED = world.PREFIX / "libexec/keychain/keychain-audit"
SOCKET = world.RUN / "audit.sock"
PLACE = pathlib.Path("/run/audit-test")
CLIENT = pathlib.Path(__file__).with_name("audit_client.py")
ALLOWED = allowed_calls("kc_allow_only_appending")
OWN = "_keychain-audit"
REFUSED, NOT_PERMITTED = -13, -1  # EACCES, EPERM
# As its unit has it: no root, and one right, by which it knows its peer.
AS_A_UNIT = ["setpriv", "--reuid", OWN, "--regid", OWN, "--clear-groups",
             "--inh-caps=-all,+sys_ptrace", "--ambient-caps=-all,+sys_ptrace",
             "--bounding-set=-all,+sys_ptrace", "--no-new-privs"]
HERE = -100  # AT_FDCWD


class Keeper:
    """The installed program in an installation whose keychaind is a Python. It trusts that one for
    where it lies and whose it is, as it does the product's."""

    def __init__(self, before=()):
        self.folder = PLACE
        self.path = PLACE / "audit.sock"
        self.files = PLACE / "audit"
        self.daemon = PLACE / "sbin/keychaind"
        self.program = PLACE / "libexec/keychain/keychain-audit"
        for each, source in ((self.daemon, os.path.realpath("/usr/bin/python3")),
                             (self.program, INSTALLED)):
            each.parent.mkdir(parents=True)
            shutil.copy(source, each)
            each.chmod(0o755)
        if before:
            self.files.mkdir(mode=0o700)
            shutil.chown(self.files, OWN, OWN)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(str(self.path))
        self.listener.listen(16)
        self.options = dict(
            pass_fds=[self.listener.fileno()], extra_groups=[4], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=open(PLACE / "log", "a"))
        self.words = [*before, "bash", "-c", f'exec "$0" "$@" 3<&{self.listener.fileno()}',
                      self.program, str(self.files)]
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.words, **self.options)
        return self

    def command(self, code, before=(), program=None):
        return [*before, program or self.daemon, "-B", "-c",
                f"import sys; sys.argv = ['', '{self.path}', '']\n" + CLIENT.read_text().replace(
                    "__main__", "nothing") + "\n" + code]

    ENVIRONMENT = {"PYTHONHOME": "/usr", "PATH": "/usr/bin:/bin"}

    def run(self, code, first="", **how):
        """What the code, run as keychaind's behind other code, evaluates to."""
        done = world.run(*self.command(f"{first}\nimport json; print(json.dumps({code}))", **how),
                         env=self.ENVIRONMENT)
        return json.loads(done.stdout)

    def connect(self, code="c = lines()"):
        """A keychaind that stays connected, once it is heard."""
        process = subprocess.Popen(
            self.command(code + "\nprint('ready', flush=True); sys.stdin.read()"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.ENVIRONMENT)
        assert process.stdout.readline() == "ready\n"
        return process

    def confined(self):
        """Starts it with a connection, and waits until it waits for a record."""
        peer = self.connect()
        self.start()
        world.wait_for(lambda: status(self.process.pid).get("Seccomp") == "2"
                       and world.waits_for_more(self.process.pid), "it to wait for records")
        return peer

    def text(self, name="1000.jsonl"):
        return (self.files / name).read_text()

    def ended(self):
        return self.process.wait(world.PATIENCE)

    def stop(self):
        if self.process and self.process.returncode is None:
            self.process.kill()
            self.process.wait()
        self.listener.close()
        shutil.rmtree(PLACE)


def made(*before):
    PLACE.mkdir()
    return Keeper(*before)


@pytest.fixture(params=["child", "unit"])
def keeper(request, prepared):
    running = made(*([AS_A_UNIT] if request.param == "unit" else []))
    yield running
    running.stop()


@pytest.fixture
def shell(login):
    shell = login()
    assert shell.run(ADD).status == 0
    return shell


# What it takes.

def test_each_user_has_a_file_that_is_the_program_s_alone(keeper):
    keeper.start()
    assert keeper.run(
        "[one.append(b'first'), other.append(b'other'), one.send(record(b'sec', more=1), record(b'ond'))"
        ".hear()]", "c = Control(); one, other = c.serve(), c.serve(0)") == ["written"] * 3
    assert keeper.ended() == 0
    assert keeper.text() == "first\nsecond\n" and keeper.text("0.jsonl") == "other\n"
    own = pwd.getpwnam(OWN)
    for path, mode in ((keeper.files, 0o700), (keeper.files / "1000.jsonl", 0o600)):
        told = path.stat()
        assert (told.st_uid, told.st_gid, stat.S_IMODE(told.st_mode)) == (
            own.pw_uid, own.pw_gid, mode)


BAD = {
    "b'x'": "bad record", "b'KCAL'": "bad record", "record(b'')": "bad record",
    "record(b'half')[:-1]": "bad record", "record()[:16]": "bad record",
    "record()[:15]": "bad record", "record() + b'more'": "bad record",
    "record(b'a' * 4097)": "bad record", "b'x' * 65536": "bad record",
    "record(length=1)": "bad record", "record(length=0xffffffff)": "bad record",
    "record(magic=b'KCST')": "bad record", "record(more=2)": "bad record",
    "record(user=0xffffffff)": "bad record", "record(b'two\\nlines')": "bad record",
    "record(b'a\\0b')": "bad record",
    "record(version=1)": "other version", "record(version=3)": "other version",
    "record(user=1001)": "bad record", "record(more=1), record(user=1001)": "bad record",
    "serve()": "bad record",
    "*[record(b'a' * 4096, more=1)] * 16, record()": "bad record",
}


def test_a_record_that_makes_no_sense_is_refused_and_nothing_else_is_lost(keeper):
    for number, (records, why) in enumerate(BAD.items()):
        keeper.start()
        assert keeper.run(f"[own.append(b'before {number}'), own.send({records}).hear(), own.hear()]",
                          "own = lines()") == ["written", why, None], records
        assert keeper.ended() == 0
    # Each process begins with a line end, as the last one may have been cut short.
    assert keeper.text().split("\n\n") == [
        f"before {number}" for number in range(len(BAD) - 1)] + [f"before {len(BAD) - 1}\n"]
    assert [path.name for path in keeper.files.iterdir()] == ["1000.jsonl"]


def test_a_file_that_a_copy_left_as_root_s_makes_way(keeper):
    keeper.start()
    assert keeper.run("lines().append(b'first')") == "written"
    assert keeper.ended() == 0
    shutil.chown(keeper.files / "1000.jsonl", "root")
    keeper.start()
    assert keeper.run("lines().append(b'second')") == "written"
    assert keeper.text("1000.jsonl.1") == "first\n" and keeper.text() == "second\n"


def test_a_line_that_an_earlier_process_left_cut_short_spoils_none_that_follows(keeper):
    for text in ("first", "second"):
        keeper.start()
        assert keeper.run(f"lines().append(b'{text}')") == "written"
        assert keeper.ended() == 0
        with open(keeper.files / "1000.jsonl", "a") as file:
            file.write("cut sh")
    assert keeper.text() == "first\ncut sh\nsecond\ncut sh"


def test_the_longest_record_and_the_longest_line_are_taken(keeper):
    keeper.start()
    assert keeper.run("""[own.append(b'a' * 4096), own.send(*[
        record(b'b' * 4096, more=number < 15) for number in range(16)]).hear()]""",
                      "own = lines()") == ["written"] * 2
    assert [len(line) for line in keeper.text().splitlines()] == [4096, 65536]


# What comes over keychaind's connection.

OTHERS = "c = Control(); first, second = c.serve(1000), c.serve(1001); "


@pytest.mark.parametrize("code, passed, why", [
    ("record()", 0, "bad record"), ("record()", 1, "bad record"), ("record(more=1)", 0, "bad record"),
    ("serve()", 0, "bad record"), ("serve()", 2, "bad record"), ("serve()", 5, "bad record"),
    ("serve(0xffffffff)", 1, "bad record"), ("serve(more=3)", 1, "bad record"),
    ("serve(magic=b'KCST')", 1, "bad record"), ("serve()[:15]", 1, "bad record"),
    ("serve(length=1)", 1, "bad record"), ("serve(length=2) + b'{}'", 1, "bad record"),
    ("serve(version=1)", 1, "other version"), ("serve(version=3)", 1, "other version"),
])
def test_keychaind_says_whom_to_serve_with_one_socket_or_it_all_ends(keeper, code, passed, why):
    keeper.start()
    assert keeper.run(
        f"[first.append(), c.send({code}, passing=[each.fileno() for each in given[:{passed}]]).hear(),"
        " c.hear(), first.hear(), second.hear()]",
        OTHERS + "given = [each for _ in range(3) for each in pair()]") == [
            "written", why, None, None, None]
    assert keeper.ended() == 0


def test_a_record_of_another_user_ends_its_socket_alone(keeper):
    keeper.start()
    assert keeper.run(
        "[first.append(b'own'), first.send(record(b'forged', 1001)).hear(), first.hear(),"
        " second.append(b'own'), c.serve().append(b'later')]", OTHERS) == [
            "written", "bad record", None, "written", "written"]
    assert keeper.ended() == 0
    assert keeper.text() == "own\nlater\n" and keeper.text("1001.jsonl") == "own\n"


@pytest.mark.parametrize("passed", [1, 2, 4])
def test_what_is_passed_with_a_line_ends_its_socket_alone_and_is_closed(keeper, passed):
    keeper.start()
    assert keeper.run(
        f"[first.send(record(b'forged'), passing=given).hear(), first.hear(), second.append(),"
        " [os.close(each) for each in given], left.recv(1).decode()]",
        OTHERS + f"there, left = pair(); given = [os.dup(there.fileno()) for _ in range({passed})];"
        "there.close()") == ["bad record", None, "written", [None] * passed, ""]
    assert keeper.ended() == 0 and not (keeper.files / "1000.jsonl").exists()


def test_lines_in_several_records_come_from_many_sockets_at_once(keeper):
    keeper.start()
    assert keeper.run(
        "[[each.send(record(b'%d' % part * 4096, each.user, part < 9)) and None for part in range(10)"
        " for each in all], [each.hear() for each in all]][1]",
        "c = Control(); all = [c.serve(user) for user in (1000, 1001, 1000, 1002)]"
    ) == ["written"] * 4
    line = "".join(str(part) * 4096 for part in range(10))
    assert keeper.ended() == 0
    assert [keeper.text(f"{user}.jsonl").splitlines() for user in (1000, 1001, 1002)] == [
        [line] * 2, [line], [line]]


def test_a_line_that_its_socket_s_end_cut_short_is_no_part_of_another(keeper):
    keeper.start()
    assert keeper.run(
        "[first.send(record(b'cut', more=1)).close(), second.append(),"
        " c.serve(1002).send(record(b'who', 1002, more=1), record(b'le', 1002)).hear()]", OTHERS
    ) == [None, "written", "written"]
    assert keeper.ended() == 0
    assert keeper.text("1002.jsonl") == "whole\n" and not (keeper.files / "1000.jsonl").exists()


def test_a_socket_whose_peer_does_not_read_delays_no_other(keeper):
    keeper.start()
    # It ends when there is no more room for its replies.
    told = keeper.run(
        "[flood(), second.append(b'between'), first.append(b'beyond'), second.append(b'last')]",
        OTHERS + """
def flood():
    for number in range(100_000):
        try:
            first.socket.send(record(b'line'))
        except (BrokenPipeError, ConnectionResetError):
            return 'ended'
""")
    assert told[0] == "ended" and told[1] == told[3] == "written"
    assert keeper.ended() == 0
    assert keeper.text("1001.jsonl") == "between\nlast\n"
    assert set(keeper.text().splitlines()) == {"line"}


def test_of_a_socket_with_many_lines_some_are_taken_before_the_others_have_their_turn(keeper):
    keeper.start()
    # The lines wait. Those of two sockets of one user are in one file, in the order of their turns.
    peer = keeper.connect("""
c = Control()
many, few = c.serve(), c.serve()
many.append(b'first')
print('ready', flush=True)
sys.stdin.readline()
many.send(*[record(b'many')] * 50)
few.send(record(b'few'))
""")
    # Stopped while it runs it might still take some of them.
    world.wait_for(lambda: world.waits_for_more(keeper.process.pid), "it to wait for records")
    world.stop_process(keeper.process.pid)
    peer.stdin.write("\n")
    peer.stdin.flush()
    assert peer.stdout.readline() == "ready\n"
    os.kill(keeper.process.pid, signal.SIGCONT)
    peer.communicate()
    assert keeper.ended() == 0
    assert sorted(keeper.text().splitlines()) == ["few", "first", *["many"] * 50]
    # The socket with few may come when the turn has begun.
    assert keeper.text().splitlines().index("few") in (1 + 16, 1 + 2 * 16)


def test_so_many_sockets_are_served_and_no_more(keeper):
    keeper.start()
    peer = keeper.connect("""
import resource, time
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
c = Control()
all = [c.serve(user) for user in range(1024)]
assert [each.append() for each in all] == ["written"] * 1024
assert c.serve(2000).hear() is None and c.serve(2001).hear() is None
all.pop(7).close()
# The place is free when its end was heard.
while (new := c.serve(2000)).append() != "written": time.sleep(0.1)
assert [each.append() for each in [*all, new]] == ["written"] * 1024
""")
    # Lines of one record take no room for longer ones.
    assert int(status(keeper.process.pid)["VmRSS"].split()[0]) < 8 << 10
    peer.communicate()
    assert keeper.ended() == 0 and len(list(keeper.files.iterdir())) == 1025


def test_one_user_has_eight_sockets_and_takes_no_other_s_place(keeper):
    keeper.start()
    assert keeper.run(
        """[[each.append() for each in all], more.hear(), other.append(), all.pop().close(), again()]""",
        """
import time
c = Control()
all = [c.serve() for _ in range(8)]
more, other = c.serve(), c.serve(1001)
# The place is free when its end was heard.
def again():
    while (said := c.serve().append()) != "written": time.sleep(0.1)
    return said
""") == [["written"] * 8, None, "written", None, "written"]
    assert keeper.ended() == 0


def test_all_of_them_have_room_for_a_longest_line(keeper):
    keeper.start()
    peer = keeper.connect("""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
c = Control()
all = [c.serve(user) for user in range(1024)]
for _ in range(15):
    for each in all: each.send(record(b'a' * 4096, each.user, more=1))
assert [each.append(b'a' * 4096) for each in all] == ["written"] * 1024
""")
    assert int(status(keeper.process.pid)["VmRSS"].split()[0]) < 96 << 10
    peer.communicate()
    assert keeper.ended() == 0
    assert {path.stat().st_size for path in keeper.files.iterdir()} == {65537}


# What comes behind keychaind's end.

def test_records_of_workers_are_written_after_keychaind_s_connection_has_ended(keeper):
    keeper.start()
    assert keeper.run(
        "[c.close(), first.append(b'last'), second.append(b'last'), first.close(),"
        " second.append(b'very last')]", OTHERS) == [None, "written", "written", None, "written"]
    assert keeper.ended() == 0
    assert keeper.text() == "last\n" and keeper.text("1001.jsonl") == "last\nvery last\n"


def test_it_ends_two_seconds_after_keychaind_though_a_worker_goes_on(keeper):
    keeper.start()
    began, *told = keeper.run("[time.monotonic(), c.close(), *speak()]", OTHERS + """
import time
def speak():
    told = set()
    while (word := first.append()) == 'written': told.add(word)
    return [sorted(told), word, second.hear(), time.monotonic()]
""")
    assert told[:-1] == [None, ["written"], None, None]
    assert 1.5 < told[-1] - began < 10
    assert keeper.ended() == 0


def test_it_waits_for_no_worker_that_has_ended(keeper):
    def lasted():
        keeper.start()
        word, last = keeper.run("[first.append(), time.monotonic()]", "import time; " + OTHERS)
        assert word == "written" and keeper.ended() == 0
        return time.monotonic() - last

    # One that waits takes two seconds each time.
    assert any(lasted() < 1.9 for _ in range(3))


def test_what_a_worker_sent_is_written_though_it_has_ended_and_heard_no_reply(keeper):
    keeper.start()
    # A reply is there, and is not read; the other lines wait when their worker has ended.
    assert keeper.run(
        f"[first.send(record(b'first')).socket.recv(8, socket.MSG_PEEK)[:4].decode(),"
        f" os.kill({keeper.process.pid}, {signal.SIGSTOP:d}),"
        " first.send(*[record(b'line')] * 50) and None]", OTHERS) == ["KCAL", None, None]
    os.kill(keeper.process.pid, signal.SIGCONT)
    assert keeper.ended() == 0
    assert keeper.text() == "first\n" + "line\n" * 50


# Which peer it hears.

def test_it_hears_keychaind_alone(keeper):
    keeper.start()
    told = "Control().hear()"
    assert keeper.run(told, program="/usr/bin/python3") == "not allowed"
    copy = keeper.daemon.with_name("other")
    shutil.copy(keeper.daemon, copy)
    assert keeper.run(told, program=copy) == "not allowed"
    # The same path in another mount namespace may be another file.
    other = keeper.folder / "elsewhere"
    shutil.copytree(keeper.daemon.parent, other)
    assert keeper.run(told, before=["unshare", "--mount", "sh", "-c",
                                    f'mount --bind {other} {keeper.daemon.parent} && exec "$@"', "sh"]
                      ) == "not allowed"
    keeper.path.chmod(0o666)
    keeper.folder.chmod(0o755)
    assert keeper.run(told, before=["setpriv", "--reuid", "nobody", "--clear-groups"]) \
        == "not allowed"
    assert keeper.process.poll() is None
    assert keeper.run("lines().append()") == "written"


def test_where_its_unit_hides_processes_it_still_knows_a_keychaind_that_is_not_dumpable(prepared):
    """In a mount namespace and with a /proc of its own, as ProtectProc= and ProcSubset= make it."""
    hidden = 'mount -t proc -o hidepid=invisible,subset=pid proc /proc && exec "$@"'
    keeper = made(["unshare", "--mount", "--propagation", "slave", "sh", "-c", hidden, "sh",
                   *AS_A_UNIT])
    try:
        keeper.start()
        closed = "__import__('ctypes').CDLL(None).prctl(4, 0, 0, 0, 0)"
        assert keeper.run("Control().hear()", program="/usr/bin/python3") == "not allowed"
        assert keeper.run(f"[{closed}, lines().append()]") == [0, "written"]
    finally:
        keeper.stop()


def test_beside_keychaind_it_hears_no_other(keeper):
    peer = keeper.confined()
    assert keeper.run("lines().send(record(b'forged')).user", program="/usr/bin/python3") == 1000
    peer.communicate()
    assert keeper.ended() == 0 and not list(keeper.files.iterdir())


@pytest.mark.parametrize("kind", ["missing", "another user's", "open", "link"])
def test_a_folder_that_is_not_its_own_is_left_alone(keeper, kind):
    shutil.rmtree(keeper.files, ignore_errors=True)
    if kind == "link":
        (PLACE / "elsewhere").mkdir(mode=0o700)
        shutil.chown(PLACE / "elsewhere", OWN, OWN)
        keeper.files.symlink_to(PLACE / "elsewhere")
    elif kind != "missing":
        keeper.files.mkdir()
        keeper.files.chmod(0o755 if kind == "open" else 0o700)
        shutil.chown(keeper.files, OWN if kind == "open" else "nobody")
    elif "setpriv" not in keeper.words:
        pytest.skip("root makes it")
    keeper.start()
    assert keeper.run("Control().hear()") is None
    assert keeper.ended() == 1
    assert "is no folder of _keychain-audit's alone" in (PLACE / "log").read_text()


@pytest.mark.parametrize("kind", ["nothing", "file", "stream"])
def test_it_runs_with_a_listening_socket_of_its_kind_only(kind, tmp_path):
    given = {"nothing": lambda: None, "file": lambda: open("/dev/null"),
             "stream": lambda: socket.socket(socket.AF_UNIX)}[kind]()
    moves = f"3<&{given.fileno()}" if given else "3<&-"
    done = subprocess.run(["bash", "-c", f'exec "$0" "$1" {moves}', INSTALLED, tmp_path],
                          capture_output=True, pass_fds=[given.fileno()] if given else [],
                          timeout=world.PATIENCE)
    assert done.returncode == 2 and b"is started by systemd or keychaind" in done.stderr


# What it can still do.

def test_it_has_no_right_and_no_file_but_its_folder(keeper):
    peer = keeper.confined()
    pid, own = keeper.process.pid, pwd.getpwnam(OWN)
    facts = status(pid)
    assert facts["Uid"].split() == [str(own.pw_uid)] * 4
    assert facts["Gid"].split() == [str(own.pw_gid)] * 4 and facts["Groups"].strip() == ""
    assert {facts[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Amb")} == {"0" * 16}
    assert facts["NoNewPrivs"] == "1" and facts["Seccomp"] == "2"
    files = {int(entry.name): os.readlink(entry)
             for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()}
    assert [files.pop(number) for number in (0, 1, 2)] == [
        "/dev/null", "/dev/null", str(PLACE / "log")]
    folder, *sockets = sorted(files.values())
    # keychaind's connection, and that of a worker.
    assert folder == str(keeper.files) and len(sockets) == 2
    assert all(name.startswith("socket:") for name in sockets)
    limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
    for title, most in (("Max address space", 96 << 20), ("Max file size", 4 << 20),
                        ("Max processes", 0), ("Max core file size", 0),
                        ("Max locked memory", 0), ("Max open files", 1024 + 16)):
        found = re.search(rf"{title}\s+(\d+)\s+(\d+)", limits)
        assert found and found.groups() == (str(most),) * 2, (title, limits)
    peer.communicate()


FOLDER = "its number"


def call(number, *arguments, instruction=None):
    keeper = made()
    try:
        peer = keeper.confined()
        pid = keeper.process.pid
        own, = [int(entry.name) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir()
                if os.readlink(entry) == str(keeper.files)]
        arguments = [own if each is FOLDER else each for each in arguments]
        told = traced.call(keeper.process, number, *arguments, instruction=instruction)
        peer.kill()
        peer.wait()
        return told
    finally:
        keeper.stop()


# What a process would make that was taken over: the records themselves, other files, sockets, other
# processes, programs, and a way out of all this.
WANTED = """ftruncate truncate pwrite64 pwritev writev unlinkat unlink rename linkat symlinkat fchmod fchown
fallocate mmap mprotect open openat2 creat read pread64 newfstatat fstat statx getdents64 fcntl dup ioctl
socket connect bind listen accept4 sendmsg setsockopt ptrace process_vm_writev kill pidfd_open clone clone3
fork execve execveat keyctl setuid setresuid capset prctl unshare setns seccomp bpf io_uring_setup memfd_create
landlock_restrict_self rt_sigaction setrlimit prlimit64 mount chdir chroot copy_file_range sendfile
splice""".split()


@amd64
def test_calls_that_reach_the_past_or_anything_else_end_it(prepared):
    numbers = call_numbers()
    assert not ALLOWED & set(WANTED)
    for wanted in WANTED:
        assert call(numbers[wanted]) == signal.SIGSYS, wanted
    assert call(4, instruction=b"\xcd\x80") == signal.SIGSYS
    assert call(0x40000000 + numbers["write"]) == signal.SIGSYS


APPENDING = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC


@amd64
@pytest.mark.parametrize("flags", [os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_CREAT,
                                   APPENDING | os.O_TRUNC, APPENDING & ~os.O_APPEND])
def test_a_file_is_opened_to_append_or_the_program_ends(prepared, flags):
    numbers = call_numbers()
    assert call(numbers["openat"], FOLDER, 0, flags, 0o600) == signal.SIGSYS


@amd64
def test_names_are_those_in_its_folder_or_the_program_ends(prepared):
    numbers, here = call_numbers(), HERE % 2**64
    # The name is at no address.
    assert call(numbers["openat"], FOLDER, 0, APPENDING, 0o600) == -14
    assert call(numbers["openat"], here, 0, APPENDING, 0o600) == signal.SIGSYS
    assert call(numbers["renameat2"], FOLDER, 0, FOLDER, 0, 0) == -14
    assert call(numbers["renameat2"], FOLDER, 0, here, 0, 0) == signal.SIGSYS
    assert call(numbers["renameat2"], here, 0, FOLDER, 0, 0) == signal.SIGSYS


@amd64
def test_without_its_list_of_calls_it_would_still_only_append_in_its_folder(prepared):
    """The list hides what Landlock forbids, so that the process is stopped before it has the list."""
    if traced.LIBC.syscall(444, None, traced.ctypes.c_size_t(0), 1) < 6:
        pytest.skip("this kernel's Landlock is older, or off")
    keeper = made()
    try:
        peer = keeper.connect()
        elsewhere = PLACE / "elsewhere"
        elsewhere.mkdir()
        elsewhere.chmod(0o777)
        (elsewhere / "file").write_text("text")
        (elsewhere / "file").chmod(0o666)
        with traced.BeforeItsFilter(keeper.words, **keeper.options) as running:
            file = f"{keeper.files}/1000.jsonl"
            opened = running.call("openat", HERE, file, APPENDING, 0o600)
            assert opened >= 0 and running.call("write", opened, b"text", 4) == 4
            for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_TRUNC):
                assert running.call("openat", HERE, file, flags, 0o600) == REFUSED, flags
            assert running.call("truncate", file, 0) == REFUSED
            assert running.call("openat", HERE, str(keeper.files), os.O_RDONLY, 0) == REFUSED
            assert running.call("mkdir", f"{keeper.files}/folder", 0o700) == REFUSED
            assert running.call("symlink", "/etc/passwd", f"{keeper.files}/link") == REFUSED
            for path, flags in (("/etc/passwd", os.O_RDONLY), ("/dev/null", os.O_RDWR),
                                (f"{elsewhere}/file", os.O_WRONLY), (f"{elsewhere}/file", APPENDING),
                                (f"{elsewhere}/new", APPENDING)):
                assert running.call("openat", HERE, path, flags, 0o600) == REFUSED, path
            assert running.call("rename", file, f"{elsewhere}/file") in (REFUSED, -18)
            assert running.call("unlink", f"{elsewhere}/file") == REFUSED
            assert running.call("execve", "/bin/true", 0, 0) == REFUSED
            assert running.call("setuid", 0) == NOT_PERMITTED
            assert running.call("fork") in (-11, NOT_PERMITTED)
            assert running.call("ptrace", traced.ATTACH, os.getpid(), 0, 0) == NOT_PERMITTED
            assert running.call("kill", os.getpid(), 0) == NOT_PERMITTED
        peer.kill()
        peer.wait()
    finally:
        keeper.stop()


def test_its_list_has_no_call_that_it_does_not_make(prepared):
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace here")
    keeper = made()
    try:
        trace = PLACE / "trace"
        keeper.words = [strace, "-f", "-o", trace, *keeper.words]
        keeper.start()
        # So much that a file is full.
        assert keeper.run(
            "sorted({own.send(*[record(b'b' * 4096, more=part < 15) for part in range(16)])"
            ".hear() for _ in range(66)})", "own = lines()") == ["written"]
        keeper.ended()
        after = re.split(r"seccomp\(SECCOMP_SET_MODE_FILTER.*\n", trace.read_text())[1]
        made_calls = set(re.findall(r"^\d+ +(\w+)\(", after, re.MULTILINE))
        # The kernel is asked for the time only where a machine has no other clock.
        assert made_calls | {"clock_gettime"} == ALLOWED
        assert sorted(path.name for path in keeper.files.iterdir()) == [
            "1000.jsonl", "1000.jsonl.1"]
    finally:
        keeper.stop()


# With the daemon.

def keeper_of(daemon):
    """The keychain-audit of a daemon, once it has a connection."""
    def found():
        return [pid for pid in world.keepers() if status(pid).get("PPid") == str(daemon.pid)
                and status(pid).get("Seccomp") == "2" and status(pid).get("State", "Z")[0] != "Z"]
    pid, = world.wait_for(found, "keychain-audit")
    return pid


def records(user=None):
    found = [json.loads(line) for line in world.audit_text().splitlines()]
    return [record for record in found if user is None or record["user"] == user]


def told(found, operation):
    return sum(record["count"] for record in found if record["operation"] == operation)


def lost(found):
    return sum(record.get("lost", 0) for record in found)


def test_no_user_reaches_its_socket_or_its_files(shell, daemon):
    assert oct(SOCKET.stat().st_mode & 0o777) == "0o600" and SOCKET.stat().st_uid == 0
    code = ("import socket; socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)"
            f".connect('{SOCKET}')")
    assert "PermissionError" in world.as_user(ALICE[0], "/usr/bin/python3", "-c", code).stderr
    for command in (["ls", world.STATE / "audit"], ["cat", world.STATE / "audit/0.jsonl"]):
        assert "Permission denied" in world.as_user(ALICE[0], *command).stderr


def rights_of_keychaind():
    unit = (world.TOP / "packaging/systemd/keychaind.service").read_text()
    named, = re.findall(r"^CapabilityBoundingSet=(.*)$", unit, re.MULTILINE)
    return ["+" + name.removeprefix("CAP_").lower() for name in named.split()]


def test_with_the_rights_of_keychaind_s_unit_root_neither_reads_nor_changes_records_by_name(shell):
    """What keychaind could do besides stands in docs/decisions/confinement.md."""
    file = world.STATE / "audit/0.jsonl"
    before = world.audit_text()
    code = f"""
import os
def fails(call, *arguments):
    try: call(*arguments)
    except PermissionError: return True
assert fails(open, {str(file)!r}) and fails(open, {str(file)!r}, "a") and fails(open, {str(file)!r}, "w")
assert fails(os.truncate, {str(file)!r}, 0) and fails(os.unlink, {str(file)!r})
assert fails(os.rename, {str(file)!r}, {str(file)!r} + ".old") and fails(os.chmod, {str(file)!r}, 0o666)
assert fails(open, {str(file.parent / "new")!r}, "w")
"""
    world.run("setpriv", "--bounding-set=" + ",".join(["-all", *rights_of_keychaind()]),
              "/usr/bin/python3", "-c", code)
    assert world.audit_text() == before


def test_killed_under_load_it_comes_back_and_no_record_is_missing(shell, daemon):
    user = pwd.getpwnam(ALICE[0]).pw_uid
    shell.send("for n in $(seq 40); do keychainctl delete generic-password --service none; done"
               " 2>/dev/null; echo all-done-$?")
    first = keeper_of(daemon)
    for _ in range(5):
        os.kill(keeper_of(daemon), signal.SIGKILL)
        time.sleep(0.3)
    shell.terminal.expect("all-done-3")
    shell.terminal.expect_exact(shell.PROMPT)
    assert keeper_of(daemon) != first
    # A line whose reply was lost stands twice.
    world.wait_for(lambda: told(records(user), "delete") + lost(records(user)) >= 40, "all records")
    daemon.stop()
    assert told(records(user), "delete") + lost(records(user)) >= 40
    assert "keychain-audit ended; it is started again" in daemon.log()


def test_one_that_hangs_holds_up_no_request_and_has_all_records_later(shell, daemon, login):
    other = login(BOB)
    assert other.run(ADD).status == 0
    users = [pwd.getpwnam(name).pw_uid for name, _ in (ALICE, BOB)]
    own = keeper_of(daemon)
    os.kill(own, signal.SIGSTOP)
    try:
        # One user's flood, and another's requests beside it.
        flood = "for n in $(seq 100); do keychainctl delete generic-password --service none; done"
        assert shell.run(flood + " 2>/dev/null").status == 3
        assert "bank-s3cret" in other.run(GET, [BOB[1]]).text
    finally:
        os.kill(own, signal.SIGCONT)
    daemon.stop()
    assert told(records(users[0]), "delete") == 100
    assert [record["outcome"] for record in records(users[1]) if record["evidence"]] == ["allowed"]
    assert lost(records()) == 0


@pytest.mark.parametrize("killed", ["keychaind", "the worker"])
def test_what_is_killed_has_what_it_answered_on_record(killed, shell, daemon):
    user = pwd.getpwnam(ALICE[0]).pw_uid
    own = keeper_of(daemon)
    os.kill(own, signal.SIGSTOP)
    try:
        missing = "keychainctl delete generic-password --service none"
        assert shell.run(missing).status == 3
        if killed == "keychaind":
            daemon.kill()
        else:
            daemon.kill_worker(ALICE[0])
    finally:
        os.kill(own, signal.SIGCONT)
    if killed == "keychaind":
        world.wait_for(lambda: own not in world.keepers(), "it to end")
    world.wait_for(lambda: told(records(user), "delete") == 1, "the record", 10)
    if killed == "keychaind":
        daemon.start()


def test_a_full_disk_loses_records_and_the_next_one_tells_how_many(daemon, login):
    daemon.stop()
    folder = world.STATE / "audit"
    own = pwd.getpwnam(OWN)
    mount = f"mode=0700,uid={own.pw_uid},gid={own.pw_gid}"
    world.run("mount", "-t", "tmpfs", "-o", f"size=12k,{mount}", "audit", folder)
    try:
        daemon.start()
        user = pwd.getpwnam(ALICE[0]).pw_uid
        shell = login()
        missing = "keychainctl delete generic-password --service none 2>/dev/null"
        assert shell.run(f"for n in $(seq 55); do {missing}; done").status == 3
        world.wait_for(lambda: "the disk is full" in daemon.log(), "it to be said")
        # Each worker that lost one says so once.
        assert 1 <= daemon.log().count("keeps no records") <= len(daemon.processes())
        world.run("mount", "-o", "remount,size=1m", folder)
        assert shell.run(missing).status == 3
        daemon.stop()
        found = records(user)
        assert 0 < lost(found) < 55
        assert told(found, "delete") + lost(found) >= 56
        assert f"({lost(found)} records before it were lost)" in world.run(
            world.CONTROL, "audit").stdout
    finally:
        daemon.stop()
        world.run("umount", "-l", folder)


def test_the_doctor_names_one_that_is_not_there(shell, daemon):
    fine = "keychain-audit keeps the records of requests"
    assert fine in world.run(world.CONTROL, "doctor", check=False).stdout
    assert fine in shell.run("keychainctl doctor").text
    SOCKET.unlink()
    for said in (world.run(world.CONTROL, "doctor", check=False).stdout,
                 shell.run("keychainctl doctor").text):
        assert "WRONG  keychain-audit does not listen" in said
        assert "systemctl start keychain-audit.socket" in said
