# SPDX-License-Identifier: Apache-2.0
"""A Debian machine in QEMU: switched on and off, spoken to over its serial consoles, by ssh, and
through a port of its own that needs neither network nor logins in the guest."""

import base64
import contextlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time
from typing import NamedTuple

import pexpect
import pexpect.fdpexpect

# Seconds in which what should come at once has come in an emulated machine on a busy one. Only a
# failure takes that long.
PATIENCE = 90
# A boot takes 40 s on two idle cores.
BOOT = 300
CONSOLES = 2
# Like those of real emulated devices, for the parts that ask by name.
MACHINE = ("-accel", "tcg,thread=multi", "-machine", "q35", "-cpu", "max", "-smp", "2", "-m", "1024",
           "-display", "none", "-vga", "std", "-nodefaults", "-no-user-config")
# Mitigations of processors' faults take their time here, too, where no processor has them.
KERNEL = ("root=/dev/vda rw console=ttyS2 quiet panic=-1 apparmor=1 security=apparmor hibernate=nocompress"
          " mitigations=off")


class Result(NamedTuple):
    status: int
    text: str


class Lines:
    """The lines of JSON that come through a socket of QEMU's."""

    def __init__(self, path):
        self.socket = connected(path)
        self.left = b""

    def say(self, **words):
        self.socket.sendall(json.dumps(words).encode() + b"\n")

    def next(self, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while b"\n" not in self.left:
            self.socket.settimeout(max(0.01, end - time.monotonic()))
            read = self.socket.recv(1 << 16)
            if not read:
                raise EOFError("the machine is off")
            self.left += read
        line, self.left = self.left.split(b"\n", 1)
        return json.loads(line)


def connected(path, seconds=30):
    end = time.monotonic() + seconds
    while True:
        found = socket.socket(socket.AF_UNIX)
        try:
            found.connect(str(path))
            return found
        except OSError:
            found.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def wait_for(condition, what, seconds=PATIENCE, pause=0.2):
    end = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"waited {seconds} s in vain for {what}")
        time.sleep(pause)


class Monitor:
    """QEMU's own (QMP)."""

    def __init__(self, path):
        self.lines = Lines(path)
        self.lines.next()
        self.events = []
        self.do("qmp_capabilities")

    def do(self, command, **arguments):
        self.lines.say(execute=command, **({"arguments": arguments} if arguments else {}))
        while True:
            answer = self.lines.next(120)
            if "event" in answer:
                self.events.append(answer["event"])
            elif "error" in answer:
                raise RuntimeError(f"{command}: {answer['error']['desc']}")
            else:
                return answer["return"]

    def say(self, line):
        """What only its older, human interface knows."""
        return self.do("human-monitor-command", **{"command-line": line})

    def wait_for(self, event, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while event not in self.events:
            told = self.lines.next(max(0.01, end - time.monotonic()))
            if "event" in told:
                self.events.append(told["event"])
        self.events.remove(event)

    def job(self, command, **arguments):
        """One that goes on beside the machine, to its end."""
        self.do(command, **{"job-id": "one"}, **arguments)
        while True:
            found = next(job for job in self.do("query-jobs") if job["id"] == "one")
            if found["status"] == "concluded":
                self.do("job-dismiss", id="one")
                if "error" in found:
                    raise RuntimeError(f"{command}: {found['error']}")
                return
            time.sleep(0.05)


class Guest:
    """One machine, whose disks begin as others are and are thrown away with the folder."""

    def __init__(self, image, folder):
        self.image = pathlib.Path(image)
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True)
        self.process = self.tpm = None
        self.disk = self.folder / "disk.qcow2"
        make("qemu-img", "create", "-q", "-f", "qcow2", "-F", "qcow2",
             "-b", self.image / "disk.qcow2", self.disk)
        make("qemu-img", "create", "-q", "-f", "qcow2", self.folder / "states.qcow2", "2G")
        # Each boot looks there for what hibernation wrote, and waits for it where no swap space is.
        swap = self.folder / "swap.raw"
        with open(swap, "wb") as file:
            file.truncate(2 << 30)
        swap.chmod(0o600)
        make("mkswap", "--quiet", swap)
        make("qemu-img", "convert", "-O", "qcow2", swap, self.folder / "swap.qcow2")
        swap.unlink()
        self.key = self.folder / "key"
        make("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key)
        self.port = 0
        self.number = 0
        self.turn = threading.Lock()

    def command(self, kernel="", has_tpm=True):
        """Of this machine, whichever its files are."""
        folder = self.folder
        parts = ["-drive", f"file={folder}/disk.qcow2,if=virtio,node-name=disk",
                 "-drive", f"file={folder}/swap.qcow2,if=virtio,node-name=swap",
                 "-blockdev", "qcow2,node-name=states,file.driver=file,"
                              f"file.filename={folder}/states.qcow2",
                 "-device", "virtio-scsi-pci,id=later"]
        tpm = ["-chardev", f"socket,id=tpm,path={folder}/tpm.socket",
               "-tpmdev", "emulator,id=tpm0,chardev=tpm", "-device", "tpm-crb,tpmdev=tpm0"]
        for number in range(CONSOLES):
            parts += ["-serial", f"unix:{folder}/console{number}.socket,server=on,wait=off"]
        parts += ["-serial", f"file:{folder}/kernel.log",
                  "-device", "virtio-serial-pci", "-device", "virtio-rng-pci",
                  "-chardev", f"socket,id=agent,path={folder}/agent.socket,server=on,wait=off",
                  "-device", "virtserialport,chardev=agent,name=test",
                  "-netdev", "user,id=net,restrict=on,"
                             f"hostfwd=tcp:127.0.0.1:{self.port}-:22",
                  "-device", "virtio-net-pci,netdev=net",
                  *(tpm if has_tpm else []),
                  "-qmp", f"unix:{folder}/monitor.socket,server=on,wait=off",
                  "-kernel", f"{self.image}/kernel", "-initrd", f"{self.image}/initrd",
                  "-append", f"{KERNEL} {kernel}".strip()]
        return ["qemu-system-x86_64", *MACHINE, *parts]

    # On and off.

    def start(self, *options, kernel="", has_tpm=True):
        """Switches it on, to boot; with more words for the kernel."""
        for path in self.folder.glob("*.socket"):
            path.unlink()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        state = self.folder / "tpm"
        state.mkdir(exist_ok=True)
        self.tpm = self._child("swtpm", "socket", "--tpm2", "--tpmstate", f"dir={state}",
                               "--ctrl", f"type=unixio,path={self.folder}/tpm.socket",
                               "--terminate")
        wait_for((self.folder / "tpm.socket").exists, "swtpm")
        self.process = self._child(*self.command(kernel, has_tpm), *options)
        self.monitor = Monitor(self.folder / "monitor.socket")
        self.agent = Lines(self.folder / "agent.socket")
        self.consoles = [Console(self.folder / f"console{number}.socket",
                                 self.folder / f"console{number}.log")
                         for number in range(CONSOLES)]
        self.boot = None
        return self

    def start_running(self):
        """As it was when the image's machine had booted."""
        self.start("-incoming", f"exec:cat {self.image}/running")
        wait_for(lambda: self.monitor.do("query-status")["status"] == "paused", "the machine")
        self.monitor.do("cont")
        self.boot = self.run("cat /proc/sys/kernel/random/boot_id").text.strip()
        self.set_clock()
        return self

    def set_clock(self, seconds=0):
        self.run(f"date --set=@{int(time.time() + seconds)} && hwclock --systohc")

    def leave_running(self):
        """Keeps what start_running begins with, and ends."""
        self.run("sync")
        self.monitor.do("stop")
        self.monitor.do("migrate", uri=f"exec:cat >{self.image}/running.new")
        wait_for(lambda: self.monitor.do("query-migrate")["status"] == "completed", "its state")
        self.monitor.do("quit")
        self.process.wait(PATIENCE)
        make("qemu-img", "commit", "-q", "-d", self.disk)
        (self.image / "running.new").rename(self.image / "running")

    def _child(self, *command):
        """Ends with the tests, however they end."""
        return subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
            stdin=subprocess.DEVNULL, stdout=open(self.folder / "qemu.log", "ab"),
            stderr=subprocess.STDOUT)

    def wait(self, seconds=BOOT):
        """Until it has booted, or booted again."""
        end = time.monotonic() + seconds
        while True:
            told = self.agent.next(end - time.monotonic())
            if told.get("boot", self.boot) != self.boot:
                self.boot = told["boot"]
                break
        self.state = self.run("systemctl is-system-running --wait", check=False, seconds=seconds).text.strip()
        return self

    def is_on(self):
        return self.process is not None and self.process.poll() is None

    def power_cut(self):
        """Nothing is written that was not: what the guest's kernel held is gone, and with it its
        messages."""
        if self.is_on():
            self.denies_nothing()
        self.stop()

    def stop(self):
        for process in (self.process, self.tpm):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        self.process = self.tpm = None

    def reboot(self):
        self.denies_nothing()
        self.run("systemctl reboot --no-block")
        self.wait()

    def denies_nothing(self):
        """To be looked at before the kernel's messages of this boot end."""
        denied = self.denials()
        assert not denied, "\n".join(denied)

    def denials(self):
        """What AppArmor refused our programs since the machine booted."""
        told = self.run("dmesg | grep 'apparmor=\"DENIED\"'", check=False).text
        return [line for line in told.splitlines() if 'profile="keychain' in line]

    # States of all that it is, to come back to.

    def save(self, name):
        with contextlib.suppress(RuntimeError):
            self.monitor.job("snapshot-delete", tag=name, devices=["disk", "swap", "states"])
        self.monitor.job("snapshot-save", tag=name, vmstate="states", devices=["disk", "swap", "states"])

    def go_back(self, name):
        """To a state, from one in which everything was well."""
        self.denies_nothing()
        self.load(name)

    def load(self, name):
        self.monitor.do("stop")
        self.monitor.job("snapshot-load", tag=name, vmstate="states", devices=["disk", "swap", "states"])
        self.agent.left = b""
        for console in self.consoles:
            console.forget()
        self.monitor.do("cont")

    @contextlib.contextmanager
    def stopped(self):
        self.monitor.do("stop")
        try:
            yield
        finally:
            self.monitor.do("cont")

    def copy_disk(self, path):
        """What a power cut leaves: what the guest's kernel and QEMU still hold is missing."""
        make("cp", "--sparse=always", self.disk, path)

    @contextlib.contextmanager
    def mounted(self, path, *options, format="qcow2"):
        """A disk more, below /mnt; its content stays as it is."""
        self.attach(path, format)
        self.run(" ".join(["mount", *options, "/dev/sda", "/mnt"]))
        try:
            yield "/mnt"
        finally:
            self.run("umount /mnt")
            self.detach()

    def attach(self, path, format="qcow2"):
        """A disk more, /dev/sda, whose content stays as it is."""
        told = self.monitor.say(
            f"drive_add 0 if=none,id=later0,file={path},format={format},snapshot=on")
        if told.strip() != "OK":
            raise RuntimeError(told)
        self.monitor.do("device_add", driver="scsi-hd", id="later-disk", drive="later0", bus="later.0")
        self.run("until [ -b /dev/sda ]; do sleep 0.1; done; udevadm settle")

    def detach(self):
        self.monitor.do("device_del", id="later-disk")
        self.monitor.wait_for("DEVICE_DELETED")
        self.run("while [ -b /dev/sda ]; do sleep 0.1; done")

    # Commands.

    def run(self, command, *, user=None, input="", check=True, seconds=PATIENCE):
        """As root, or as a user who has not logged in: no session, no PAM."""
        with self.turn:
            self.number += 1
            number = self.number
            self.agent.say(number=number, command=["bash", "-c", command], user=user, seconds=seconds,
                           input=base64.b64encode(input.encode()).decode())
            while True:
                told = self.agent.next(seconds + 30)
                if told.get("number") == number:
                    break
                self.boot = told.get("boot", self.boot)
        text = base64.b64decode(told["output"]).decode(errors="replace")
        if check and told["status"]:
            raise AssertionError(f"{command}: {told['status']}\n{text[-3000:]}")
        return Result(told["status"], text)

    def ssh_command(self, user, *options):
        return ["ssh", "-F", "none", "-p", str(self.port), "-o", "StrictHostKeyChecking=no",
                "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
                "-o", "NumberOfPasswordPrompts=1", "-o", "IdentitiesOnly=yes", *options,
                f"{user}@127.0.0.1"]

    def ssh(self, user, password=None, *, by="password"):
        """A login shell by "password", "keyboard-interactive" or "publickey"."""
        options = ["-tt", "-o", f"PreferredAuthentications={by}"]
        if by == "publickey":
            options += ["-i", str(self.key)]
        child = pexpect.spawn(*split(self.ssh_command(user, *options)), encoding="utf-8",
                              timeout=PATIENCE, echo=False, dimensions=(50, 200))
        child.logfile_read = open(self.folder / "ssh.log", "a")
        shell = Shell(child)
        shell.greets([] if password is None else [password])
        return shell

    def authorize_key(self, user):
        self.run(f"install -d -m 0700 -o {user} -g {user} ~{user}/.ssh && cat >~{user}/.ssh/authorized_keys"
                 f" && chown {user}: ~{user}/.ssh/authorized_keys",
                 input=self.key.with_suffix(".pub").read_text())

    # Screen, keys, sleep.

    def screenshot(self, path):
        self.monitor.do("screendump", filename=str(path), format="png")

    def is_drawn(self):
        """A screen of one colour, or of a few words, packs into next to nothing."""
        self.screenshot(self.folder / "screen.png")
        return (self.folder / "screen.png").stat().st_size > 8000

    def presses(self, *keys):
        for key in keys:
            self.monitor.say(f"sendkey {key} 40")
            time.sleep(0.1)

    def types(self, text):
        self.presses(*(KEYS.get(letter, letter) for letter in text))

    def wakes(self):
        self.monitor.do("system_wakeup")


KEYS = {" ": "spc", "\n": "ret", "-": "minus", ".": "dot", "/": "slash"}


def split(command):
    return command[0], list(map(str, command[1:]))


def make(*command):
    subprocess.run(list(map(str, command)), check=True)


def make_disk(folder, path):
    """One with the folder's files."""
    size = sum(file.stat().st_size for file in pathlib.Path(folder).rglob("*")) >> 20
    with open(path, "wb") as disk:
        disk.truncate((size + size // 8 + 16) << 20)
    make("mke2fs", "-q", "-t", "ext4", "-O", "^has_journal", "-d", folder, path)


def prepare(image, work):
    """Has the image's machine boot once, where none of its kind did: later ones begin there."""
    guest = Guest(image, pathlib.Path(work) / "first-boot")
    kind = [str(part).replace(str(guest.folder), "").replace(str(guest.image), "")
            for part in guest.command()]
    version = subprocess.run([kind[0], "--version"], check=True, capture_output=True, text=True)
    kind = "\n".join([version.stdout.split("\n")[0], *kind])
    known = guest.image / "running.kind"
    if (guest.image / "running").exists() and known.exists() and known.read_text() == kind:
        return
    guest.start()
    try:
        guest.wait()
        if guest.state != "running":
            raise AssertionError(guest.run("systemctl --failed", check=False).text)
        guest.leave_running()
    finally:
        guest.stop()
    known.write_text(kind)


class Shell:
    """One command after another at a terminal of the guest's."""

    PROMPT = "machine-prompt> "

    def __init__(self, terminal):
        self.terminal = terminal
        self.greeting = ""

    def greets(self, passwords=()):
        for password in passwords:
            self.terminal.expect(r"[Pp]assword(?: for [^:]*)?: ?$")
            self.terminal.sendline(password)
        if self.terminal.expect([r"[$#] $", "denied", "incorrect", pexpect.EOF]) != 0:
            raise PermissionError("the login was refused")
        self.greeting = " ".join(self.terminal.before.split())
        self.begins()

    def begins(self):
        self.terminal.sendline(f"PS1='{self.PROMPT[:4]}''{self.PROMPT[4:]}'; stty -echo cols 500;"
                               " bind 'set enable-bracketed-paste off'")
        self.terminal.expect_exact(self.PROMPT)

    def send(self, line):
        self.terminal.sendline(line)

    def run(self, line, answers=(), seconds=PATIENCE):
        """Runs a command, answers what it asks for, and gives its exit status and what it said."""
        self.terminal.sendline(f"{line}; echo \"<status $?>\"")
        answers, said = list(answers), ""
        while True:
            found = self.terminal.expect(
                [r"<status (\d+)>\r?\n", r"(?:assword|same again)[^\r\n]*: ?$"], timeout=seconds)
            said += self.terminal.before + (self.terminal.after if found else "")
            if found == 0:
                status = int(self.terminal.match.group(1))
                self.terminal.expect_exact(self.PROMPT)
                return Result(status, said.replace("\r", ""))
            assert answers, f"it asked for more than was answered: {said}"
            self.terminal.sendline(answers.pop(0))

    def becomes(self, command, passwords=()):
        """A shell in the shell: su, sudo."""
        self.terminal.sendline(command)
        self.greets(passwords)

    def returns(self):
        self.terminal.sendline("exit")
        self.terminal.expect_exact(self.PROMPT)

    def closes(self):
        self.terminal.sendline("exit")
        self.terminal.expect(pexpect.EOF)
        self.terminal.close()


class Console(Shell):
    """A serial line with the real login behind it."""

    def __init__(self, path, log):
        self.socket = connected(path)
        self.log = open(log, "a")
        self.forget()

    def forget(self):
        """What came before the machine's state was another."""
        self.socket.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while self.socket.recv(1 << 16):
                pass
        self.socket.setblocking(True)
        terminal = pexpect.fdpexpect.fdspawn(self.socket, encoding="utf-8", timeout=PATIENCE)
        terminal.logfile_read = self.log
        super().__init__(terminal)

    def wait_awake(self, seconds=BOOT):
        """After sleep, the first of what is typed is lost."""
        end = time.monotonic() + seconds
        while True:
            self.terminal.sendline("")
            if self.terminal.expect_exact([self.PROMPT, pexpect.TIMEOUT], timeout=5) == 0:
                break
            assert time.monotonic() < end, "it does not wake"
        time.sleep(1)
        self.said_until_now()

    def said_until_now(self):
        said = ""
        with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
            while True:
                said += self.terminal.read_nonblocking(1 << 16, timeout=0.3)
        return said

    def said_within(self, seconds):
        """A line that is not read holds 277 characters, some sixteen lines of a test: then the
        guest can say no more."""
        said, end = "", time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(pexpect.TIMEOUT):
                said += self.terminal.read_nonblocking(1 << 16, timeout=left)
        return said

    def login(self, user, password):
        self.terminal.sendline("")
        self.terminal.expect("login: ?$")
        time.sleep(0.5)
        while self.terminal.expect(["login: ?$", pexpect.TIMEOUT], timeout=0.5) == 0:
            pass
        self.terminal.sendline(user)
        self.greets([password])
        return self

    def logout(self):
        self.terminal.sendline("exit")
        self.terminal.expect("login: ?$")
