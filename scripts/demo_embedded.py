# SPDX-License-Identifier: Apache-2.0
"""The demo without root: the same story where no daemon is, on a keychain folder that is gone
afterwards. What only root can install is not there, and the demo says what that takes away."""

import getpass
import os
import pathlib
import pwd
import signal
import subprocess
import sys
import tempfile

import pexpect

from narrator import chapter, promise, say, show, typed

TOP = pathlib.Path(__file__).resolve().parents[1]
PASSWORD = "correct horse"
MAIL = "generic-password --service mail --account me"
BANK = "generic-password --service bank --account me"
PLACES = ("/usr/libexec/keychain", "/usr/local/libexec/keychain")


class Result:
    def __init__(self, status, text):
        self.status = status
        self.text = text


class Person:
    """Types commands, and answers on a terminal what they ask."""

    def __init__(self, home):
        built = TOP / ".build/programs"
        self.name = pwd.getpwuid(os.getuid()).pw_name
        self.environment = {"PATH": f"{built}:/usr/bin:/bin", "KEYCHAIN_HOME": str(home),
                            "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}

    def types(self, line, answers=(), expected=0, says="", never=()):
        terminal = pexpect.spawn("/bin/sh", ["-c", line], env=self.environment, encoding="utf-8",
                                 timeout=120, echo=False, dimensions=(50, 200))
        answers = list(answers)
        text = ""
        while terminal.expect([pexpect.EOF, r"(?m)(assword|again)[^\n]*: ?$"]) == 1:
            text += terminal.before + terminal.after
            terminal.sendline(answers.pop(0) if answers else "")
        text += terminal.before
        terminal.close()
        typed(self.name, line, Result(terminal.exitstatus, text.replace("\r\n", "\n")), expected,
              says, never)


def main():
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="keychain-demo.") as home:
        try:
            story(Person(home), pathlib.Path(home))
        finally:
            forget_keys(home)
    chapter("Gone")
    say("The keychain and its key end with this program. “sudo make demo” tells the whole story:"
        " a login through sshd and PAM, the daemon, and a user who is asked.")


def story(person, home):
    chapter("Embedded mode")
    say("You are not root, so no daemon is started: the library does all the work in the program"
        " that uses it, on a keychain folder of your own. Its checks guard against mistakes, not"
        " against the program itself. A keychain is made when it is first needed.")
    person.types("keychainctl status")
    person.types(f"printf 'tr0ub4dor' | keychainctl add {MAIL}")
    person.types(f"keychainctl get {MAIL}", says="tr0ub4dor")

    chapter("A password protects it")
    say("So far the device key beside it opens it. A password changes that; here it is one for the"
        " demo, typed at a question.")
    person.types("keychainctl set-password", [PASSWORD, PASSWORD])
    person.types("keychainctl lock")
    person.types(f"keychainctl get {MAIL}", expected=4, never=["tr0ub4dor"])
    say("A wrong password, and the right one:")
    person.types("keychainctl unlock", ["wrong"], expected=6)
    person.types("keychainctl unlock", [PASSWORD])
    person.types(f"keychainctl get {MAIL}", says="tr0ub4dor")

    chapter("A secret that asks before it opens")
    person.types(f"printf '1234-5678' | keychainctl add {BANK} --flags user-presence")
    say("A program without a terminal has no user to ask, and is told so at once.")
    person.types(f"setsid -w keychainctl get {BANK} </dev/null", expected=4,
                 never=["1234-5678"])
    ask(person)

    chapter("What lies on the disk")
    found = [word for word in (b"mail", b"bank", b"tr0ub4dor", b"1234-5678")
             for path in home.glob("login.keychain*") if word in path.read_bytes()]
    show("strings login.keychain* | grep -E 'mail|bank|tr0ub4dor|1234-5678'",
         str(found) if found else "(nothing: neither secrets nor names)")
    promise(not found, "the keychain's file shows what it should hide")


def ask(person):
    installed = all(any(pathlib.Path(place, program).exists() for place in PLACES)
                    for program in ("keychain-auth", "keychain-prompter"))
    services = any(pathlib.Path(folder, "keychain-presence").exists()
                   for folder in ("/etc/pam.d", "/usr/lib/pam.d"))
    if not (installed and services):
        say("On a terminal PAM would ask for your own password now. It does so through two programs"
            " and a PAM service that must be root's, and are not installed here; so the item stays"
            " closed.")
        person.types(f"keychainctl get {BANK}", expected=4 if not installed else 6,
                     never=["1234-5678"])
    elif sys.stdin.isatty():
        say("On a terminal PAM asks for your own password. It goes to keychain-auth, which can check"
            " yours only, and not to the program that wants the item.")
        password = getpass.getpass(f"    The password of {person.name} (typed for you below): ")
        person.types(f"keychainctl get {BANK}", [password], says="1234-5678")
        say("And wrongly:")
        person.types(f"keychainctl get {BANK}", ["wrong"] * 3, expected=6,
                     never=["1234-5678"])


def forget_keys(home):
    """What an unlock left in the user's own part of the kernel's keyring."""
    subprocess.run([sys.executable, "-B", TOP / "Tests/CommandLine/forget_keys.py", home])
