# SPDX-License-Identifier: Apache-2.0
"""Keychain files from elsewhere, and the process that reads them: keychain-import."""

import fcntl
import os
import pathlib
import pwd
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import threading
import time

import pytest

import traced
import world
from conftest import ALICE, BOB
from test_store import keychain_file
from traced import allowed_calls, amd64, call_numbers, status

IMPORT = world.PREFIX / "libexec/keychain/keychain-import"
ADD = "printf {1} | keychainctl add generic-password --service {0}"
GET = "keychainctl get generic-password --service {0}"
RESTORE = "keychainctl restore --generation 1"
PAGE = 4096
ALLOWED = allowed_calls("kc_allow_only_reading_and_writing")


@pytest.fixture
def shell(login):
    shell = login()
    for number in range(3):
        assert shell.run(ADD.format(f"mail{number}", "tell-nobody")).status == 0
    return shell


@pytest.fixture
def earlier(shell, daemon):
    """An earlier state of the keychain, which any test may write over."""
    daemon.restart()
    found = world.wait_for(lambda: list(world.STATE.glob("*/login.keychain.generation-1")),
                           "an earlier state to be kept")
    return found[0]


# MARK: Hostile files

def edited(*statements):
    def edit(path):
        database = sqlite3.connect(path, isolation_level=None)
        for statement in statements:
            database.execute(statement)
        database.close()
    return edit


def patched(offset, content):
    def patch(path):
        with open(path, "r+b") as file:
            file.seek(offset)
            file.write(content)
    return patch


def root_page(path, name):
    database = sqlite3.connect(path)
    page, = database.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", [name]).fetchone()
    database.close()
    return page


def cyclic_free_pages(path):
    """The list of free pages leads back to its own first page."""
    edited("CREATE TABLE gone (x)", "DROP TABLE gone")(path)
    first, = struct.unpack(">I", path.read_bytes()[32:36])
    assert first
    patched((first - 1) * PAGE, struct.pack(">II", first, 0))(path)
    patched(36, struct.pack(">I", 0xFFFFFF))(path)


def lying_index(path):
    """An index that says of no item where it is."""
    page = root_page(path, "sqlite_autoindex_item_1")
    patched((page - 1) * PAGE, bytes([10, 0, 0, 0, 0, 0x10, 0, 0]))(path)


def shared_roots(path):
    """Two tables on the same pages."""
    edited("PRAGMA writable_schema = ON",
           "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema"
           " WHERE name = 'token') WHERE name = 'item'")(path)


def endless_rows(path):
    """Ten levels of pages, each of which has the next 500 times: 500^10 times the same rows."""
    content = bytearray(path.read_bytes())
    top = root_page(path, "item")
    leaf = len(content) // PAGE + 1
    content += content[(top - 1) * PAGE:top * PAGE]

    def interior(child):
        cells = 500
        page = bytearray(PAGE)
        page[:12] = struct.pack(">BHHHBI", 5, 0, cells, PAGE - 5 * cells, 0, child)
        for number in range(cells):
            place = PAGE - 5 * (number + 1)
            page[12 + 2 * number:14 + 2 * number] = struct.pack(">H", place)
            page[place:place + 5] = struct.pack(">IB", child, 1)
        return page

    child = leaf
    for _ in range(9):
        content += interior(child)
        child = len(content) // PAGE
    content[(top - 1) * PAGE:top * PAGE] = interior(child)
    content[28:32] = struct.pack(">I", len(content) // PAGE)
    path.write_bytes(content)


def one_cycle(path):
    """A page of a table that has itself below it."""
    top = root_page(path, "item")
    page = bytearray(PAGE)
    page[:12] = struct.pack(">BHHHBI", 5, 0, 0, PAGE, 0, top)
    patched((top - 1) * PAGE, bytes(page))(path)


def sparse(path):
    os.truncate(path, 0)
    os.truncate(path, 8 << 30)


REFUSED = {
    "noise": lambda path: path.write_bytes(b"noise" * 4096),
    "empty": lambda path: path.write_bytes(b""),
    "header": patched(0, b"SQLite format 4\0"),
    "page size 65536": patched(16, b"\0\1"),
    "page size 0": patched(16, b"\0\0"),
    "half": lambda path: os.truncate(path, path.stat().st_size // PAGE // 2 * PAGE),
    "a byte too few": lambda path: os.truncate(path, path.stat().st_size - 1),
    "sparse": sparse,
    "view": edited("CREATE VIEW v AS SELECT 1"),
    "trigger": edited("CREATE TRIGGER t AFTER INSERT ON item BEGIN SELECT 1; END"),
    "another table": edited("CREATE TABLE t (x)"),
    "a table's words": edited(
        "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql,"
        " 'attributes BLOB NOT NULL', 'attributes BLOB AS (zeroblob(1 << 30))')"
        " WHERE name = 'item'"),
    "a virtual table": edited(
        "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET rootpage = 0, sql ="
        " 'CREATE VIRTUAL TABLE item USING dbstat' WHERE name = 'item'"),
    "no table": edited("DROP TABLE former"),
    "a longer value": edited("UPDATE keybag SET value = zeroblob(70000) WHERE name = 'always'"),
    "one table as another": shared_roots,
    "a cycle": one_cycle,
    "text in numbers": edited(
        "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '')",
        "PRAGMA writable_schema = RESET", "UPDATE item SET class = 'text'",
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_schema SET sql = replace(sql, ') WITHOUT', ') STRICT, WITHOUT')"),
}


# A user is asked ten times a minute at most.
@pytest.mark.parametrize("half", [0, 1])
def test_hostile_files_are_refused_in_clear_words_and_change_nothing(shell, earlier, daemon, half):
    whole = earlier.read_bytes()
    before = daemon.pid, daemon.worker(ALICE[0])
    wrong = []
    for name in list(REFUSED)[half::2]:
        earlier.write_bytes(whole)
        REFUSED[name](earlier)
        refused = shell.run(RESTORE, [ALICE[1]])
        left = [path.name for path in earlier.parent.iterdir() if "incoming" in path.name]
        if refused.status != 8 or "damaged" not in refused.text or left:
            wrong.append((name, refused, left))
        assert "tell-nobody" in shell.run(GET.format("mail1")).text, name
    assert not wrong
    assert daemon.process.poll() is None and (daemon.pid, daemon.worker(ALICE[0])) == before


@pytest.mark.parametrize("harm", [
    cyclic_free_pages, lying_index, patched(18, b"\2\2"),
], ids=["free pages", "index", "log that is not there"])
def test_what_is_beside_the_rows_is_not_looked_at_and_is_made_anew(shell, earlier, daemon, harm):
    assert shell.run("keychainctl delete generic-password --all").status == 0
    harm(earlier)
    assert shell.run(RESTORE, [ALICE[1]]).status == 0
    assert shell.run("keychainctl unlock", [ALICE[1]]).status == 0
    for number in range(3):
        assert "tell-nobody" in shell.run(GET.format(f"mail{number}")).text
    assert shell.run("keychainctl doctor", [ALICE[1]]).status == 0
    database = sqlite3.connect(f"file:{keychain_file()}?mode=ro", uri=True)
    assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_file_that_costs_all_the_time_it_gets_costs_no_other_user(login, shell, earlier):
    other = login(BOB)
    assert other.run(ADD.format("bank", "bob-s")).status == 0
    endless_rows(earlier)
    said = []
    restoring = threading.Thread(target=lambda: said.append(shell.run(RESTORE, [ALICE[1]])))
    began = time.monotonic()
    restoring.start()
    pid = importer()
    reads = 0
    while restoring.is_alive() and time.monotonic() - began < 10:
        assert "bob-s" in other.run(GET.format("bank")).text
        reads += 1
    assert reads > 5
    # It ends by itself after half a minute of the processor's time; a crash ends it the same way.
    os.kill(pid, signal.SIGSEGV)
    restoring.join(world.PATIENCE)
    assert said[0].status == 8 and "damaged" in said[0].text, said
    assert "tell-nobody" in shell.run(GET.format("mail1")).text


def importer():
    def find():
        found = world.run("pgrep", "-x", "keychain-import", check=False).stdout.split()
        return [int(pid) for pid in found if status(int(pid)).get("Seccomp") == "2"]
    return world.wait_for(find, "keychain-import to begin")[0]


# MARK: The process

@pytest.fixture(scope="module")
def large_file(tmp_path_factory, prepared):
    """A keychain with more rows than fit into a pipe."""
    folder = tmp_path_factory.mktemp("foreign")
    account = pwd.getpwnam(ALICE[0])
    environment = {**os.environ, "KEYCHAIN_HOME": str(folder / "home"), "HOME": str(folder)}
    subprocess.run([world.CONTROL, "add", "generic-password", "--service", "x"], input=b"y",
                   env=environment, check=True, capture_output=True)
    file = folder / "copy"
    database = sqlite3.connect(next((folder / "home").rglob("login.keychain")), isolation_level=None)
    database.execute("VACUUM INTO ?", [str(file)])
    edited("INSERT INTO quarantine (moved, attributes) VALUES (0, randomblob(4000000))",
           "INSERT INTO quarantine (moved, secret) VALUES (0, randomblob(60000000))")(file)
    return file


class Importer:
    """keychain-import as keychain-starter starts it, in the middle of its answer."""

    def __init__(self, file):
        ours, theirs = os.pipe()
        fcntl.fcntl(theirs, 1031, PAGE)  # F_SETPIPE_SZ
        with open(file, "rb") as source:
            self.process = subprocess.Popen(
                [IMPORT, "30"], stdin=source, stdout=theirs, stderr=subprocess.DEVNULL, env={},
                start_new_session=True)
        os.close(theirs)
        self.output = ours
        self.pid = self.process.pid
        world.wait_for(lambda: pathlib.Path(f"/proc/{self.pid}/syscall").read_text().split()[0]
                       == "1" and status(self.pid)["Seccomp"] == "2", "the answer to begin", 10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
        os.close(self.output)


def test_it_has_no_right_and_no_file_but_two(large_file):
    with Importer(large_file) as running:
        facts = status(running.pid)
        own = str(pwd.getpwnam("_keychain-import").pw_uid)
        assert facts["Uid"].split() == [own] * 4
        assert facts["Groups"].strip() == ""
        assert {facts[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Amb")} == {"0" * 16}
        assert facts["NoNewPrivs"] == "1"
        files = {int(entry.name): os.readlink(entry)
                 for entry in pathlib.Path(f"/proc/{running.pid}/fd").iterdir()}
        assert files.keys() == {0, 1, 2} and files[0] == str(large_file), files
        assert files[1].startswith("pipe:") and files[2] == "/dev/null", files
        mode = pathlib.Path(f"/proc/{running.pid}/fdinfo/0").read_text()
        assert int(re.search(r"flags:\s*(\d+)", mode)[1], 8) & os.O_ACCMODE == os.O_RDONLY
        limits = pathlib.Path(f"/proc/{running.pid}/limits").read_text()
        for name, most in (("Max address space", 256 << 20), ("Max cpu time", 30),
                           ("Max processes", 0), ("Max file size", 0), ("Max core file size", 0)):
            found = re.search(rf"{name}\s+(\d+)\s+(\d+)", limits)
            assert found and found.groups() == (str(most),) * 2, (name, limits)


def test_the_longest_values_fit_into_what_it_may_have(large_file):
    said = subprocess.run([IMPORT, "30"], stdin=open(large_file, "rb"), capture_output=True, env={})
    assert said.returncode == 0 and said.stdout.endswith(b"\xff\0")
    assert len(said.stdout) > 64_000_000


def call(file, number, *arguments, instruction=None):
    with Importer(file) as running:
        return traced.call(running.process, number, *arguments, instruction=instruction)


@amd64
def test_each_call_that_is_not_on_its_list_ends_it(large_file):
    numbers = call_numbers()
    allowed = {numbers[name] for name in ALLOWED}
    assert len(allowed) == len(ALLOWED) > 5
    # The kernel's own way back from a probe, which no filter sees.
    probes = {335, 336}
    # Among the others: open, socket, connect, ptrace, clone, fork, execve, prctl, keyctl, kill.
    for number in {*range(470), 0x40000000, 0x40000001, 2**32 - 1} - allowed - probes:
        assert call(large_file, number) == signal.SIGSYS, number


@amd64
def test_calls_of_another_kind_of_program_end_it(large_file):
    assert call(large_file, 4, instruction=b"\xcd\x80") == signal.SIGSYS


@amd64
def test_no_memory_can_be_run_and_the_file_can_t_be_written(large_file):
    numbers = call_numbers()
    private = 0x22  # MAP_PRIVATE | MAP_ANONYMOUS
    assert call(large_file, numbers["mmap"], 0, PAGE, 4, private, 2**64 - 1) == signal.SIGSYS
    assert call(large_file, numbers["mmap"], 0, PAGE, 7, private, 2**64 - 1) == signal.SIGSYS
    assert call(large_file, numbers["mprotect"], 0, PAGE, 5) == signal.SIGSYS
    assert call(large_file, numbers["write"], 0, 0, 0) == -9  # EBADF


def test_its_list_has_no_call_that_it_does_not_make(large_file, tmp_path):
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace here")
    made = set()
    for number, file in enumerate([large_file, __file__]):
        trace = tmp_path / f"trace{number}"
        with open(file, "rb") as source:
            subprocess.run([strace, "-f", "-o", trace, IMPORT, "30"], stdin=source,
                           stdout=subprocess.PIPE, check=True, env={})
        after = re.split(r"seccomp\(SECCOMP_SET_MODE_FILTER.*\n", trace.read_text())[1]
        made |= set(re.findall(r"^\d+\s+(\w+)\(", after, re.MULTILINE))
    # Which of these the allocator makes hangs on sizes.
    assert made <= ALLOWED and ALLOWED - made <= {"brk", "mremap", "madvise", "futex", "mprotect"}
