# SPDX-License-Identifier: Apache-2.0
"""keychain-fido and keychain-tpm: what the processes that speak to devices can still do, tried with
their very rights. keychain-fido is the tests' own, whose keys are in software; it gives its rights up by
the same code."""

import contextlib
import ctypes
import os
import pathlib
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile

import pytest

import traced
import world
from test_foreign_files import IMPORT, large_file  # noqa: F401 (fixture)
from tpm import SoftwareTPM
from traced import allowed_calls, amd64, call_numbers, status

KEYS = pathlib.Path("/etc/keychain/software-keys")
FIDO = world.TOP / ".build/release/keychain-fido-soft"
TPM = world.PREFIX / "libexec/keychain/keychain-tpm"
ALLOWED = allowed_calls("kc_allow_only_speaking_to_devices")
ANSWER = b"\5"
MAKE_PRIMARY = "00000131"
REFUSED, NOT_PERMITTED = -13, -1  # EACCES, EPERM


class Exchange:
    """The program as keychain-starter starts it, with its question."""

    def __init__(self, program, *arguments, question=b"", before=()):
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.channel.send(ANSWER + question)
        number = theirs.fileno()
        self.command = ["bash", "-c", f'exec "$0" "$@" 3<&{number} {number}<&-', *before, program,
                        *arguments]
        self.options = dict(pass_fds=(number,), env={}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.theirs = theirs

    def start(self):
        self.process = subprocess.Popen(self.command, **self.options)
        self.pid = self.process.pid
        self.theirs.close()
        return self

    def answer(self):
        self.channel.settimeout(world.PATIENCE)
        said = self.channel.recv(4096)
        assert said[:1] == ANSWER, said
        assert self.process.wait(world.PATIENCE) == 0
        return said[1:]

    def waits_confined(self):
        def waits():
            number = pathlib.Path(f"/proc/{self.pid}/syscall").read_text().split()[0]
            return number == "7" and status(self.pid).get("Seccomp") == "2"
        world.wait_for(waits, "it to wait for its device", 20)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.channel.close()
        self.theirs.close()
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def devices(prepared, tmp_path_factory):
    """A key and a TPM that take a question and give no answer."""
    KEYS.parent.mkdir(mode=0o755, exist_ok=True)
    KEYS.write_text("one silent\n")
    tpm = SoftwareTPM(tmp_path_factory.mktemp("tpm") / "tpm").start(unanswered=[MAKE_PRIMARY])
    tpm.configure()
    yield tpm
    tpm.end()
    KEYS.unlink(missing_ok=True)


@pytest.fixture
def answering(prepared, tmp_path):
    KEYS.parent.mkdir(mode=0o755, exist_ok=True)
    KEYS.write_text("one touched 4711\n")
    tpm = SoftwareTPM(tmp_path / "tpm").start()
    tpm.configure()
    yield
    tpm.end()
    KEYS.unlink(missing_ok=True)


SILENT = {"keychain-fido": (FIDO, "make"), "keychain-tpm": (TPM, "seal")}
both = pytest.mark.parametrize("name", list(SILENT))


def silent(name):
    return Exchange(*SILENT[name], question=b"" if name == "keychain-fido" else b"k" * 32)


def call(name, number, *arguments, instruction=None):
    with silent(name).start() as running:
        running.waits_confined()
        return traced.call(running.process, number, *arguments, instruction=instruction)


@both
def test_it_has_no_right_and_no_file_but_its_device_and_its_question(devices, name):
    with silent(name).start().waits_confined() as running:
        facts = status(running.pid)
        own = str(pwd.getpwnam(f"_{name}").pw_uid)
        assert facts["Uid"].split() == [own] * 4
        assert facts["Gid"].split() == [str(pwd.getpwnam(f"_{name}").pw_gid)] * 4
        assert facts["Groups"].strip() == ""
        assert {facts[f"Cap{kind}"] for kind in ("Inh", "Prm", "Eff", "Amb")} == {"0" * 16}
        assert facts["NoNewPrivs"] == "1"
        files = {int(entry.name): os.readlink(entry)
                 for entry in pathlib.Path(f"/proc/{running.pid}/fd").iterdir()}
        assert {files.pop(number) for number in (0, 1, 2)} == {"/dev/null"}
        assert files.pop(3).startswith("socket:")
        if name == "keychain-tpm":
            assert list(files.values()) == [os.readlink(devices.device)]
        else:
            file, = files.values()
            assert file.startswith("socket:")
        limits = pathlib.Path(f"/proc/{running.pid}/limits").read_text()
        for title, most in (("Max address space", 256 << 20), ("Max cpu time", 20),
                            ("Max processes", 0), ("Max file size", 0), ("Max core file size", 0)):
            found = re.search(rf"{title}\s+(\d+)\s+(\d+)", limits)
            assert found and found.groups() == (str(most),) * 2, (title, limits)


# What a process would make that was taken over: other users' files, sockets, other processes, the
# network, programs, keyrings, devices, and a way out of all this.
WANTED = """open openat openat2 creat readlink stat statx newfstatat access faccessat2 getdents64 chdir
chroot unlinkat renameat2 linkat symlinkat mkdirat mknodat chmod fchmodat fchownat utimensat truncate
ftruncate mount umount2 open_by_handle_at name_to_handle_at fanotify_init inotify_init1
socket socketpair connect bind listen accept4 sendto recvmsg recvfrom setsockopt shutdown
ptrace process_vm_readv process_vm_writev kill tkill tgkill pidfd_open pidfd_getfd pidfd_send_signal kcmp
clone clone3 fork vfork execve execveat wait4 setsid
keyctl add_key request_key ioctl fcntl dup dup2 pread64 pwrite64 readv writev sendfile splice
setuid setgid setgroups setresuid setresgid capset prctl arch_prctl personality unshare setns seccomp
bpf io_uring_setup userfaultfd perf_event_open memfd_create shmget mq_open reboot init_module kexec_load
landlock_restrict_self rt_sigaction rt_sigprocmask mlockall setrlimit prlimit64 nanosleep""".split()


@amd64
@both
def test_calls_that_reach_anything_else_end_it(devices, name):
    numbers = call_numbers()
    assert not ALLOWED & set(WANTED)
    for wanted in WANTED:
        assert call(name, numbers[wanted]) == signal.SIGSYS, wanted


@amd64
@both
def test_calls_of_another_kind_of_program_end_it(devices, name):
    assert call(name, 4, instruction=b"\xcd\x80") == signal.SIGSYS
    assert call(name, 0x40000000 + call_numbers()["write"]) == signal.SIGSYS


@amd64
@both
def test_no_memory_can_be_run(devices, name):
    numbers = call_numbers()
    private = 0x22  # MAP_PRIVATE | MAP_ANONYMOUS
    assert call(name, numbers["mmap"], 0, 4096, 4, private, 2**64 - 1) == signal.SIGSYS
    assert call(name, numbers["mmap"], 0, 4096, 7, private, 2**64 - 1) == signal.SIGSYS
    assert call(name, numbers["mprotect"], 0, 4096, 5) == signal.SIGSYS


@amd64
def test_each_call_that_is_not_on_their_list_ends_them(devices):
    """One list serves both."""
    numbers = call_numbers()
    allowed = {numbers[name] for name in ALLOWED}
    assert len(allowed) == len(ALLOWED) > 10
    # The kernel's own way back from a probe, which no filter sees.
    probes = {335, 336}
    for number in {*range(470), 2**32 - 1} - allowed - probes - {numbers[n] for n in WANTED}:
        assert call("keychain-fido", number) == signal.SIGSYS, number


@contextlib.contextmanager
def abstract_socket():
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(b"\0keychain-test-confined")
        listener.listen()
        yield b"\1\0\0keychain-test-confined"


@pytest.fixture
def open_folder():
    """All users may do all in it."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o777)
    (folder / "file").write_text("text")
    (folder / "file").chmod(0o666)
    yield folder
    shutil.rmtree(folder)


def landlock_version():
    return traced.LIBC.syscall(444, None, ctypes.c_size_t(0), 1)


@amd64
@pytest.mark.parametrize("name", [*SILENT, "keychain-import"])
def test_without_its_list_of_calls_it_would_still_reach_no_file_and_no_socket(
        devices, large_file, open_folder, name):  # noqa: F811
    """The list hides what Landlock forbids, so that the process is stopped before it has the list."""
    if landlock_version() < 6:
        pytest.skip("this kernel's Landlock is older, or off")
    if name == "keychain-import":
        source = open(large_file, "rb")
        command, options = [IMPORT, "30"], dict(
            stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={})
    else:
        exchange = silent(name)
        command, options = exchange.command, exchange.options
    here = -100  # AT_FDCWD
    nowhere = b"\2\0\0\1" + socket.inet_aton("127.0.0.1") + bytes(8)
    with traced.BeforeItsFilter(command, **options) as running, abstract_socket() as address:
        assert status(running.pid)["NoNewPrivs"] == "1"
        assert status(running.pid)["Seccomp"] == "0"
        for path, flags in (("/etc/passwd", os.O_RDONLY), ("/dev/null", os.O_RDWR), ("/", os.O_RDONLY),
                            (f"{open_folder}/file", os.O_RDONLY), (f"{open_folder}/file", os.O_WRONLY),
                            (f"{open_folder}/new", os.O_WRONLY | os.O_CREAT),
                            (f"/proc/{running.pid}/status", os.O_RDONLY)):
            assert running.call("openat", here, path, flags, 0o600) == REFUSED, path
        assert running.call("mkdir", f"{open_folder}/folder", 0o700) == REFUSED
        assert running.call("unlink", f"{open_folder}/file") == REFUSED
        assert running.call("truncate", f"{open_folder}/file", 0) == REFUSED
        assert running.call("execve", "/bin/true", 0, 0) == REFUSED
        network = running.call("socket", socket.AF_INET, socket.SOCK_STREAM, 0)
        assert network > 0
        assert running.call("connect", network, nowhere, len(nowhere)) == REFUSED
        assert running.call("bind", network, b"\2\0\x40\0" + bytes(12), 16) == REFUSED
        local = running.call("socket", socket.AF_UNIX, socket.SOCK_STREAM, 0)
        assert running.call("connect", local, address, len(address)) == NOT_PERMITTED
        # It gives no right back.
        assert running.call("setuid", 0) == NOT_PERMITTED
        assert running.call("setgroups", 0, 0) == NOT_PERMITTED
        assert running.call("fork") in (-11, NOT_PERMITTED)
        assert running.call("ptrace", traced.ATTACH, os.getpid(), 0, 0) == NOT_PERMITTED
        assert running.call("kill", os.getpid(), 0) == NOT_PERMITTED


def made_calls(trace):
    after = re.split(r"seccomp\(SECCOMP_SET_MODE_FILTER.*\n", trace.read_text())[1]
    return set(re.findall(r"^(\w+)\(", after, re.MULTILINE))


def test_their_list_has_no_call_that_they_do_not_make(answering, tmp_path):
    strace = shutil.which("strace")
    if not strace:
        pytest.skip("no strace here")
    made = set()

    def ask(number, program, *arguments, question):
        nonlocal made
        trace = tmp_path / f"trace{number}"
        with Exchange(program, *arguments, question=question, before=[strace, "-o", trace]) as asked:
            answer = asked.start().answer()
        made |= made_calls(trace)
        return answer

    sealed = ask(1, TPM, "seal", "7", question=b"k" * 32)
    assert ask(2, TPM, "open", question=sealed) == b"k" * 32
    kept = ask(3, FIDO, "make", question=b"4711")
    credential = kept[32:]
    assert ask(4, FIDO, "open", question=len(credential).to_bytes(2, "little") + credential
               + b"4711") == kept[:32]
    # Which of these are made hangs on sizes, the kernel's clock and the machine.
    seldom = {"brk", "mremap", "madvise", "futex", "mprotect", "munmap", "mmap", "mlock", "munlock",
              "clock_gettime", "ppoll", "poll", "getpid", "close"}
    assert made <= ALLOWED and ALLOWED - made <= seldom, (made - ALLOWED, ALLOWED - made)


def test_a_device_that_is_another_account_s_opens_by_its_group(answering, tmp_path):
    """As tpm-udev has it on some machines; keychaind's unit may pass over no owner."""
    device = os.path.realpath(tmp_path / "tpm/device")
    os.chown(device, pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("_keychain-import").pw_gid)
    os.chmod(device, 0o660)
    with Exchange(TPM, "seal", question=b"k" * 32,
                  before=["setpriv", "--bounding-set=-all,+setuid,+setgid"]) as asked:
        assert len(asked.start().answer()) > 32
