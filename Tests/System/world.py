# SPDX-License-Identifier: Apache-2.0
"""What the system tests and the demo make inside the private world: accounts, PAM services, a
daemon, a real sshd. Everything here is gone with the world; nothing is a stand-in."""

import contextlib
import ctypes
import json
import os
import pathlib
import pwd
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import dbus
import dbus.bus
import pexpect

PREFIX = pathlib.Path(os.environ.get("KEYCHAIN_TEST_PREFIX", "/nonexistent"))
TOP = pathlib.Path(__file__).resolve().parents[2]
STATE = pathlib.Path("/var/lib/keychain")
RUN = pathlib.Path("/run/keychain")
TOOLS = pathlib.Path("/run/keychain-tools")
MODULE = PREFIX / "lib/security/pam_keychain.so"
CONTROL = PREFIX / "bin/keychainctl"
WORKER = PREFIX / "libexec/keychain/keychain-worker"
# Seconds in which what should come at once has come on the busiest machine. Only a failure takes
# that long.
PATIENCE = 45
SSHD = TOP / ".deps/openssh/usr/sbin/sshd"
KEYUTILS = ctypes.CDLL("libkeyutils.so.1", use_errno=True)
USER_KEYRING = -4

SESSION_STACK = f"""
account required pam_unix.so
session required pam_loginuid.so
session optional pam_keyinit.so force revoke
session optional {MODULE}
session required pam_unix.so
password required pam_unix.so
password optional {MODULE} timeout_ms=2000
"""


def run(*command, check=True, **options):
    return subprocess.run([str(word) for word in command], check=check, text=True,
                          capture_output=True, **options)


def require_world():
    if os.environ.get("KEYCHAIN_TEST_PREFIX") is None or os.getuid() != 0:
        sys.exit("run this through scripts/in-private-world")


def make_account(name, password):
    try:
        pwd.getpwnam(name)
    except KeyError:
        run("useradd", "--create-home", "--shell", "/bin/bash", name)
    run("chpasswd", input=f"{name}:{password}\n")
    return pwd.getpwnam(name)


def write_service(name, text):
    pathlib.Path("/etc/pam.d", name).write_text(text)


def install_services():
    """The product's own PAM services, as packaging ships them."""
    for service in (TOP / "packaging/pam.d").iterdir():
        write_service(service.name, service.read_text())


def parent_of(pid):
    """The number of the process that started it; None where it is gone."""
    try:
        return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def is_below(pid, ancestor):
    while pid and pid != ancestor:
        pid = parent_of(pid)
    return pid == ancestor


def runs(pid, program):
    """Whether that is the program's file; a process that has ended, and waits for its parent, runs
    none."""
    try:
        return os.readlink(f"/proc/{pid}/exe") == str(program)
    except OSError:
        return False


def workers():
    """The workers in this world, by their users' numbers. The one that listens is no user's."""
    found = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and runs(entry.name, WORKER):
            with contextlib.suppress(OSError):
                name = re.fullmatch(r"kc:(\d+)\n", (entry / "comm").read_text())
                if name:
                    found[int(name[1])] = int(entry.name)
    return found


def number_of(user):
    return user if isinstance(user, int) else pwd.getpwnam(user).pw_uid


def folder_of(user):
    """With the user's keychains."""
    return STATE / str(number_of(user))


def worker_number(user):
    """The user number of the user's worker."""
    return folder_of(user).stat().st_uid


def stop_process(pid):
    """Returns when each thread of it stands still: one that was about to run would still answer."""
    os.kill(pid, signal.SIGSTOP)
    tasks = pathlib.Path(f"/proc/{pid}/task")
    wait_for(lambda: {(task / "stat").read_text().rpartition(")")[2].split()[0]
                      for task in tasks.iterdir()} == {"T"}, "the process to stop")


@contextlib.contextmanager
def stopped(pid):
    stop_process(pid)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


# As a root shell of some distributions has.
FURTHER_GROUPS = (0, 1, 4, 6)


class Daemon:
    """keychaind, as installed, and the workers that it has, one for each user."""

    def __init__(self, log):
        self.log_path = pathlib.Path(log)
        self.process = None

    def start(self, *arguments, environment=None, descriptors=()):
        """The descriptors are passed as systemd passes them."""
        log = open(self.log_path, "a")
        with open(PREFIX / "keyrings", "a") as names:  # for the clean-up outside
            names.write(keyring_name() + "\n")
        command = [PREFIX / "sbin/keychaind", "--foreground", *arguments]
        if descriptors:
            moves = " ".join(f"{3 + i}<&{number}" for i, number in enumerate(descriptors))
            command = ["bash", "-c", f'export LISTEN_PID=$$; exec "$@" {moves}', "bash", *command]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd="/",
            pass_fds=descriptors, extra_groups=FURTHER_GROUPS, env={"PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no",
                                       **(environment or {})})
        try:
            wait_for(lambda: accepts(RUN / "keychain.sock") or self.process.poll() is not None,
                     "keychaind to listen")
        except AssertionError as late:
            raise AssertionError(f"{late}; it said:\n{self.log()[-2000:]}") from late
        return self

    @property
    def pid(self):
        return self.process.pid

    def workers(self):
        """The workers' processes, by their users' numbers."""
        return {user: pid for user, pid in workers().items() if is_below(pid, self.pid)}

    def worker(self, user, start=False):
        """The process of a user's worker, once it is there. `start`: a program of the user's asks for
        something first."""
        user = number_of(user)
        if start:
            as_user(pwd.getpwuid(user).pw_name, CONTROL, "status")
        return wait_for(lambda: self.workers().get(user), f"the worker of {user}")

    def processes(self):
        """All that serve users: keychaind and the workers."""
        return [self.pid, *self.workers().values()]

    def kill_worker(self, user, number=signal.SIGKILL):
        """Returns when the process has ended."""
        pid = self.worker(user)
        process = os.pidfd_open(pid)
        os.kill(pid, number)
        # One that runs no program any more may still have its sockets, on which connections are lost.
        ended, _, _ = select.select([process], [], [], PATIENCE)
        os.close(process)
        assert ended, "the worker has not ended"
        return pid

    def stop(self, number=signal.SIGTERM):
        """Returns when the workers have ended, too."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            for pid in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)
            self.process.send_signal(number)
            self.process.wait(PATIENCE)
        wait_for(lambda: not workers(), "the workers to end")
        return self.process.returncode

    def kill(self):
        return self.stop(signal.SIGKILL)

    def restart(self):
        self.stop()
        return self.start()

    def log(self):
        return self.log_path.read_text()


@contextlib.contextmanager
def listening(name, path):
    """The installed program of that name as systemd runs it, with a socket of records."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        path.chmod(0o600)
        listener.listen(64)
        program = PREFIX / "libexec/keychain" / name
        process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" 3<&{listener.fileno()}', program],
            pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL)
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            path.unlink()


def keepers():
    """The keychain-audits that run."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text() == "keychain-audit\n":
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def waits_for_more(pid):
    """Whether it is in accept4 or ppoll, and so has written all that was sent to it."""
    try:
        number = pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0]
    except OSError:
        return True
    return number in {"x86_64": ("288", "271"), "aarch64": ("242", "73")}[os.uname().machine]


def audit_text():
    """The records of all users in order, with all that was sent before."""
    wait_for(lambda: all(map(waits_for_more, keepers())), "keychain-audit to have written all")
    files = sorted((STATE / "audit").glob("*.jsonl*"),
                   key=lambda path: (path.name.removesuffix(".1"), path.suffix != ".1"))
    # Without what a full disk cut short, which keychainctl leaves out, too.
    lines = [line for path in files for line in path.read_text().splitlines() if line[-1:] == "}"]
    return "".join(line + "\n" for line in sorted(
        lines, key=lambda line: json.loads(line)["time"]))


def accepts(path):
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
            return True
        except OSError:
            return False


def wait_for(condition, what, seconds=PATIENCE):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited {seconds} s in vain for {what}")


class SSHServer:
    """A real sshd on the loopback, with a PAM service and keys of its own."""

    def __init__(self, folder, name="keychain-test-sshd", *, interactive=False, auth=None,
                 session=""):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.name = name
        # sshd's PAM service is its program's name.
        self.program = self.folder / name
        if not self.program.exists():
            self.program.symlink_to(SSHD)
        write_service(name, (auth or f"auth required pam_unix.so\nauth optional {MODULE}\n")
                      + session + SESSION_STACK)
        try:
            pwd.getpwnam("sshd")
        except KeyError:
            run("useradd", "--system", "--home-dir", "/run/sshd", "--shell",
                "/usr/sbin/nologin", "sshd")
        self.key = self.folder / "host_key"
        if not self.key.exists():
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key)
        self.config = self.folder / "sshd_config"
        self.config.write_text(
            f"HostKey {self.key}\nUsePAM yes\nPidFile none\nPrintMotd no\nPrintLastLog no\n"
            f"PasswordAuthentication {'no' if interactive else 'yes'}\n"
            f"KbdInteractiveAuthentication {'yes' if interactive else 'no'}\n"
            f"PubkeyAuthentication yes\nStrictModes no\nListenAddress 127.0.0.1\n")
        self.process = None
        self.port = None

    def start(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [self.program, "-D", "-e", "-f", self.config, "-p", str(self.port)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(self.folder / "log", "a"))
        wait_for(self._listens, "sshd to listen")
        return self

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(PATIENCE)

    def command(self, user, *options):
        # Of options that say different things, ssh believes the first. The keys' exchange that it would
        # choose costs it more than all else that it does.
        return ["ssh", "-F", "none", *options, "-p", str(self.port),
                "-o", "KexAlgorithms=curve25519-sha256",
                "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null",
                "-o", "LogLevel=ERROR", "-o", "NumberOfPasswordPrompts=1", f"{user}@127.0.0.1"]


class SystemJournal:
    """The real systemd-journald, below the world's own /run, without the kernel's messages."""

    PROGRAM = "/lib/systemd/systemd-journald"
    CONFIGURATION = "[Journal]\nStorage=volatile\nReadKMsg=no\nAudit=no\n"

    def start(self):
        pathlib.Path("/etc/systemd/journald.conf.d").mkdir(parents=True, exist_ok=True)
        pathlib.Path("/etc/systemd/journald.conf.d/keychain-test.conf").write_text(
            self.CONFIGURATION)
        pathlib.Path("/run/systemd/journal").mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [self.PROGRAM], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        wait_for(lambda: accepts("/run/systemd/journal/stdout"), "the journal")
        return self

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.wait(PATIENCE)
        shutil.rmtree("/run/systemd/journal")
        shutil.rmtree("/run/log/journal")

    def entries(self, *matches):
        """A field that an entry has several times is a list."""
        told = run("journalctl", "--quiet", "--output=json", *matches).stdout
        return [json.loads(line) for line in told.splitlines()]


class Bus:
    """A bus of the world's own where the system's is."""

    ADDRESS = "unix:path=/run/dbus/system_bus_socket"

    def __init__(self):
        self.processes = []

    def start(self):
        pathlib.Path("/run/dbus").mkdir(exist_ok=True)
        self._run("dbus-daemon", "--system", "--nofork", "--nopidfile", "--nosyslog")
        wait_for(lambda: accepts("/run/dbus/system_bus_socket"), "the bus")
        return self

    def _run(self, *command):
        self.processes.append(subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL))

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGCONT)
            process.terminate()
            process.wait(PATIENCE)
        self.processes = []
        pathlib.Path("/run/dbus/system_bus_socket").unlink(missing_ok=True)


# A login takes the name of its session from a file, as from pam_systemd, and is then written down as
# what opened it.
LOGIND_NAME = "/run/keychain-logind-environment"
LOGIND_LEADER = "/run/keychain-logind-leader"
LOGIND_AUTH = (f"auth required pam_unix.so\nauth optional {MODULE}\n"
               f"auth required pam_env.so readenv=1 envfile={LOGIND_NAME}\n")
LOGIND_SESSION = f"session optional pam_exec.so quiet {LOGIND_LEADER}\n"
SESSION_IS_LED = """#!/bin/sh
[ "$PAM_TYPE" = open_session ] && [ -f "/run/systemd/sessions/$XDG_SESSION_ID" ] || exit 0
sed -i /^LEADER=/d "/run/systemd/sessions/$XDG_SESSION_ID"
echo "LEADER=$PPID" >>"/run/systemd/sessions/$XDG_SESSION_ID"
"""


def next_login_is(session):
    """logind's name of the logins that follow, at a server that asks for it."""
    leader = pathlib.Path(LOGIND_LEADER)
    leader.write_text(SESSION_IS_LED)
    leader.chmod(0o755)
    pathlib.Path(LOGIND_NAME).write_text(f"XDG_SESSION_ID={session}\n")


def logind_forgets():
    for name in LOGIND_NAME, LOGIND_LEADER:
        pathlib.Path(name).unlink(missing_ok=True)


class LoginManager(Bus):
    """logind as python-dbusmock plays it, and what logind writes below /run besides."""

    NAME = "org.freedesktop.login1"
    PATH = "/org/freedesktop/login1"
    MANAGER = NAME + ".Manager"
    POLICY = f"""<busconfig><policy user="root">
<allow own="{NAME}"/><allow send_destination="{NAME}"/>
</policy></busconfig>"""

    WAYS_TO_THE_DISK = ("Hibernate", "HybridSleep", "SuspendThenHibernate")

    def __init__(self, **can):
        """What it says of the ways to write memory to the disk; of the others, that there are none."""
        self.can = {f"Can{way}": can.get(way, "na") for way in self.WAYS_TO_THE_DISK}
        super().__init__()
        self.folder = pathlib.Path("/run/systemd")
        for name in ("seats", "sessions"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)

    def start(self):
        pathlib.Path("/etc/dbus-1/system.d/keychain-test.conf").write_text(self.POLICY)
        super().start()
        self._run("/usr/bin/python3", "-m", "dbusmock", "--system", "--template", "logind",
                  "--parameters", json.dumps(self.can))
        self.bus = dbus.bus.BusConnection(self.ADDRESS)
        wait_for(lambda: self.bus.name_has_owner(self.NAME), "logind")
        return self

    def stop(self):
        if self.processes:
            self.bus.close()
        super().stop()

    def forget(self):
        self.stop()
        shutil.rmtree(self.folder)
        logind_forgets()

    def manager(self, member, *arguments, interface=MANAGER):
        return self.bus.call_blocking(self.NAME, self.PATH, interface, member, None, arguments)

    def signal(self, member, signature, *arguments):
        self.manager("EmitSignal", self.MANAGER, member, signature,
                     dbus.Array(arguments, signature="v"), interface="org.freedesktop.DBus.Mock")

    def session(self, name, member, *arguments):
        self.bus.call_blocking(self.NAME, f"{self.PATH}/session/{name}", self.NAME + ".Session",
                               member, None, arguments)

    def add_session(self, name, user):
        """The next login is this one."""
        uid = pwd.getpwnam(user).pw_uid
        (self.folder / "sessions" / name).write_text(f"UID={uid}\nSTATE=active\nACTIVE=1\n")
        next_login_is(name)
        if self.processes:
            self.manager("AddSession", name, "seat0", dbus.UInt32(uid), user, True,
                         interface="org.freedesktop.DBus.Mock")

    def inhibitors(self):
        return [str(what) for what, *_ in self.manager("ListInhibitors")]


class Terminal:
    """A login on a terminal, one command after another."""

    PROMPT = "keychain-test-prompt> "

    def __init__(self, command, passwords=(), log=None):
        self.began = time.monotonic()
        self.terminal = pexpect.spawn(command[0], command[1:], encoding="utf-8", timeout=PATIENCE,
                                      echo=False, dimensions=(50, 200))
        # Before it looks whether the program has ended, as it does at once.
        self.terminal.ptyproc.delayafterclose = 0.03
        self.terminal.logfile_read = log
        for password in passwords:
            self.terminal.expect("[Pp]assword:")
            self.terminal.sendline(password)
        if self.terminal.expect([r"\$ $", "denied", pexpect.EOF]) != 0:
            raise PermissionError("the login was refused")
        # What the user sees before the shell is ready.
        self.greeting = " ".join(self.terminal.before.split())
        self.seconds = time.monotonic() - self.began
        self.terminal.sendline(
            f"PS1='{self.PROMPT[:4]}''{self.PROMPT[4:]}'; bind 'set enable-bracketed-paste off';"
            f" stty -echo; PATH={PREFIX}/bin:$PATH")
        self.terminal.expect_exact("\n" + self.PROMPT)

    def send(self, line):
        """Types a line and does not wait for what comes of it."""
        self.terminal.sendline(line)

    def run(self, line, answers=(), seconds=PATIENCE):
        """Runs a command, answers what it asks for, and gives its exit status and what it said."""
        # The shell waits for it already; what asks for a password may forget what was typed before.
        delay, self.terminal.delaybeforesend = self.terminal.delaybeforesend, None
        self.terminal.sendline(f"{line}; echo \"<status $?>\"")
        self.terminal.delaybeforesend = delay
        answers = list(answers)
        said = ""
        while True:
            found = self.terminal.expect(
                [r"<status (\d+)>\r\n", r"(?m)(?:assword|same again)[^\n]*: ?$"], timeout=seconds)
            said += self.terminal.before + (self.terminal.after if found else "")
            if found == 0:
                status = int(self.terminal.match.group(1))
                self.terminal.expect_exact(self.PROMPT)
                return Result(status, said.replace("\r\n", "\n"))
            assert answers, f"it asked for more than was answered: {said}"
            self.terminal.sendline(answers.pop(0))

    def close(self):
        self.terminal.sendline("exit")
        self.terminal.expect(pexpect.EOF)
        self.terminal.close()


class Shell(Terminal):
    """A login that a person could have made by ssh."""

    def __init__(self, server, user, password=None, *options, log=None):
        super().__init__(server.command(user, "-tt", *options),
                         () if password is None else (password,), log)


class Beside:
    """A shell whose commands run in the background of another terminal, where a prompter waits for
    questions; what they say comes up on the shell's own."""

    def __init__(self, shell, window, prompter="keychainctl prompter"):
        self.terminal = shell.terminal
        # A name of its own: an object's address is taken again once the object has gone.
        self.commands = pathlib.Path(tempfile.mkdtemp(dir="/run/tmp")) / "commands"
        os.mkfifo(self.commands)
        self.commands.parent.chmod(0o755)
        self.commands.chmod(0o666)
        tty = shell.run("tty").text.strip()
        window.send(f"(while read -r line; do eval \"$line\"; done <>{self.commands} >{tty} 2>&1) &"
                    f" {prompter}")
        window.terminal.expect("waiting")

    def send(self, line):
        with open(self.commands, "w") as commands:
            commands.write(line + "\n")

    def run(self, line):
        self.send(f"{line}; echo \"<status $?>\"")
        self.terminal.expect(r"<status (\d+)>\r\n")
        return Result(int(self.terminal.match.group(1)),
                      self.terminal.before.replace("\r\n", "\n"))


class Result:
    def __init__(self, status, text):
        self.status = status
        self.text = text

    def __repr__(self):
        return f"status {self.status}: {self.text!r}"


def as_user(name, *command, **options):
    """Runs a command as another user, outside any login."""
    entry = pwd.getpwnam(name)
    environment = {"PATH": os.environ["PATH"], "HOME": entry.pw_dir, "USER": name,
                   "LANG": "C.UTF-8"}
    environment.update(options.pop("env", {}))
    return run("setpriv", "--reuid", entry.pw_uid, "--regid", entry.pw_gid, "--clear-groups",
               "keyctl", "session", "-", *command, check=False, env=environment, cwd="/", **options)


def keyring_name():
    """Workers' keyrings are called after what the state folder is, and their user's number."""
    place = STATE.stat()
    return f"keychain:{STATE}:{place.st_dev}:{place.st_ino}"


def numbers():
    """The numbers of workers: who owns users' folders. Root's is one where there are no others."""
    folders = [entry for entry in STATE.iterdir() if entry.name.isdigit()] if STATE.exists() else []
    return {0} | {entry.stat().st_uid for entry in folders}


def as_number(number, *command, **options):
    return run("setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups", *command,
               check=False, **options)


def as_each_number(do):
    """What `do` gives for each number, in one process that becomes the numbers in turn: hundreds of
    programs that do so would be a fifth of all that the tests take."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            told = []
            for number in numbers():
                os.setresuid(number, number, 0)
                told += [[number, each] for each in do()]
                os.setresuid(0, 0, 0)
            with open(there, "w") as words:
                json.dump(told, words)
        finally:
            os._exit(0)
    os.close(there)
    with open(here) as words:
        told = words.read()
    os.waitpid(child, 0)
    return json.loads(told)


def own_keyrings():
    """The serial numbers of a worker's keyrings, in a process of the worker's number."""
    serials = (ctypes.c_int32 * 4096)()
    size = KEYUTILS.keyctl_read(USER_KEYRING, serials, ctypes.sizeof(serials))
    found = []
    for serial in serials[:max(size, 0) // 4]:
        facts = ctypes.create_string_buffer(4096)
        KEYUTILS.keyctl_describe(serial, facts, len(facts))
        kind, *_, name = facts.value.decode().split(";", 4)
        if kind == "keyring" and name.startswith(keyring_name() + ":"):
            found.append(serial)
    return found


def keyrings():
    """The workers' keyrings: the number of each, and its serial number."""
    return as_each_number(own_keyrings)


def keys_of_daemon():
    """What lies in the workers' keyrings now, as `keyctl` shows it to their owners."""
    return "".join(as_number(number, "keyctl", "show", serial).stdout
                   for number, serial in keyrings())


def forget_keys():
    as_each_number(lambda: [KEYUTILS.keyctl_clear(serial) for serial in own_keyrings()])
    for record in RUN.glob("users/*/*"):
        record.unlink(missing_ok=True)


def names_of_records():
    """What users' workers keep in files of their own until the next boot."""
    return [record.name for record in RUN.glob("users/*/*")]


def names_of_keys():
    return re.findall(r"(?:user|keyring): (\S+)", keys_of_daemon())
