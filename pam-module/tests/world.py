# SPDX-License-Identifier: Apache-2.0
"""Accounts, PAM services and an installed module that exist only in this process's own mount
namespace, so that nothing of the machine's is touched."""

import atexit
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile

ALICE, BOB, SYSTEM = 61201, 61202, 961
# That of the process that keeps a user's keychains.
NUMBER = 0x7B00F007
PASSWORD = "correct horse battery"
ACCOUNTS = {
    "kc-alice": (ALICE, PASSWORD), "kc-bob": (BOB, "bobs own password"),
    "kc-system": (SYSTEM, PASSWORD),
}


def why_not():
    """Why the tests that need a world cannot run here; None if they can."""
    if os.geteuid() != 0:
        return "not root"
    if not shutil.which("unshare"):
        return "no unshare"
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        return "mount namespaces are not allowed here"
    if not shutil.which("pamtester"):
        return "no pamtester"
    return None


def enter():
    """Runs this program again, in a mount namespace of its own."""
    if os.environ.get("KC_PAM_WORLD") != "1":
        os.environ["KC_PAM_WORLD"] = "1"
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable,
                              *sys.argv])


class World:
    def __init__(self, build):
        self.root = tempfile.mkdtemp(prefix="keychain-pam-test.", dir="/opt")
        atexit.register(shutil.rmtree, self.root, True)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(1))
        os.chmod(self.root, 0o755)
        self.run = self.folder("run")
        self.socket = os.path.join(self.run, "login.sock")
        self.offer_socket = os.path.join(self.run, "offer.sock")
        self.services = self.folder("pam.d")
        for kind in ("plain", "sanitized"):
            self.folder(kind)
        self.install(f"{build}/pam_keychain.so", "plain")
        self.install(f"{build}/tests/host", "plain")
        self.install(f"{build}/sanitized/pam_keychain.so", "sanitized")
        self.install(f"{build}/sanitized/host", "sanitized")
        self.install(f"{build}/tests/pam_answer.so", "plain")
        self.kind = "plain"
        self._bind_accounts()
        self._bind(self.services, "/etc/pam.d")

    def folder(self, name, mode=0o755):
        path = os.path.join(self.root, name)
        os.mkdir(path)
        os.chmod(path, mode)
        return path

    def install(self, source, kind):
        target = os.path.join(self.root, kind, os.path.basename(source))
        shutil.copyfile(source, target)
        os.chmod(target, 0o755)

    @property
    def module(self):
        return os.path.join(self.root, self.kind, "pam_keychain.so")

    @property
    def any_password(self):
        """A line that asks for a password and finds every one right."""
        return f"auth required {self.root}/plain/pam_answer.so"

    def line(self, facility, control="optional", options=""):
        return f"{facility} {control} {self.module} socket={self.socket} {options}"

    def service(self, *lines, name="kc-test"):
        with open(os.path.join(self.services, name), "w") as file:
            file.write("\n".join(lines) + "\n")
        return name

    def login_service(self, options="", before=()):
        """What a login's stack looks like, with the real pam_unix."""
        return self.service(
            "auth required pam_unix.so nodelay", self.line("auth", options=options),
            "account required pam_permit.so",
            *before, "session required pam_permit.so", self.line("session", options=options),
            "password required pam_unix.so", self.line("password", options=options))

    def host(self, *steps, user="kc-alice", service="kc-test", answers=(PASSWORD,), wrap=(),
             environment=None):
        """Runs the host; gives its lines as lists of words."""
        program = os.path.join(self.root, self.kind, "host")
        done = subprocess.run(
            [*wrap, program, service, user, *steps], timeout=120,
            input="".join(f"{text}\n" for text in answers).encode(), capture_output=True,
            env={"PATH": "/usr/bin:/bin", **(environment or {})})
        assert done.returncode == 0, (
            f"host: {done.returncode}\n{done.stdout.decode()}\n{done.stderr.decode()}")
        return [line.split(" ") for line in done.stdout.decode().splitlines()]

    def pamtester(self, *operations, user="kc-alice", service="kc-test", answers=(PASSWORD,)):
        return subprocess.run(
            ["pamtester", service, user, *operations], capture_output=True, timeout=60,
            input="".join(f"{text}\n" for text in answers).encode())

    def _bind_accounts(self):
        crypt = ctypes.CDLL("libcrypt.so.1").crypt
        crypt.restype = ctypes.c_char_p
        passwd, shadow = open("/etc/passwd").read(), open("/etc/shadow").read()
        for name, (uid, password) in ACCOUNTS.items():
            passwd += f"{name}:x:{uid}:{uid}::/nonexistent:/bin/sh\n"
            shadow += f"{name}:{crypt(password.encode(), b'$5$keychain').decode()}:19000::::::\n"
        self.shadow = shadow
        # pam_unix changes passwords by renaming files in /etc, which a bound file does not allow:
        # so all of /etc is a copy-on-write one.
        upper = self.folder("etc")
        self._mount("tmpfs", upper, "tmpfs", "mode=0755")
        for part in ("upper", "work"):
            os.mkdir(os.path.join(upper, part))
        self._mount("overlay", "/etc", "overlay",
                    f"lowerdir=/etc,upperdir={upper}/upper,workdir={upper}/work")
        atexit.register(subprocess.run, ["umount", "-l", "/etc", upper], capture_output=True)
        with open("/etc/passwd", "w") as file:
            file.write(passwd)
        self.restore_passwords()

    def restore_passwords(self):
        # In place: who may read it stays as it is.
        with open("/etc/shadow", "w") as file:
            file.write(self.shadow)

    def _bind(self, source, target):
        subprocess.run(["mount", "--bind", source, target], check=True)
        atexit.register(subprocess.run, ["umount", "-l", target], capture_output=True)

    def _mount(self, what, where, kind, options):
        subprocess.run(["mount", "-t", kind, "-o", options, what, where], check=True)
