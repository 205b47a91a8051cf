# SPDX-License-Identifier: Apache-2.0
"""A user who writes a recovery key down, and needs it later."""

import re
import subprocess

from person import Person

SHOWN = re.compile(rb"(?:[2-9A-HJ-NP-Z]{5}-){6}[2-9A-HJ-NP-Z]{5}")
GROUP = re.compile(rb"[Gg]roup (\d)")


class Writer(Person):
    """Hides from this test's output what differs each time."""

    def writes_down(self):
        self.sees("of the recovery key: ")
        paper = SHOWN.search(self.screen).group().decode()
        assert self.screen.count(paper.encode()) == 1
        self.screen = self.screen.replace(paper.encode(), b"PAPER")
        return paper

    def reads(self, paper):
        """The group that is asked for."""
        number = int(GROUP.findall(self.screen)[-1])
        return paper.split("-")[number - 1]

    def shows(self):
        self.screen = re.sub(rb"[Gg]roup \d", b"group N", self.screen)
        super().shows()


def keychainctl(*words, lines=()):
    command = " ".join(["keychainctl", *words])
    print("$ " + re.sub(r"\b[0-9a-f]{8}\b", "ID", command), flush=True)
    done = subprocess.run(["keychainctl", *words], input="".join(line + "\n" for line in lines),
                          text=True, capture_output=True)
    said = done.stdout + done.stderr
    said = re.sub(r"\b[0-9a-f]{8}\b", "ID", said)
    said = re.sub(r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME", said)
    print(said, end="")
    print(f"=> {done.returncode}", flush=True)


def create(name):
    person = Writer("keychainctl", "create", name).sees("New password").types("old\n")
    person.sees("again: ").types("old\n")
    return person, person.writes_down()


# A slip in confirming it is forgiven, three are not.
person, paper = create("work")
person.types("2222\n").sees("of the recovery key: ").types(person.reads(paper).lower() + "\n")
person.leaves()
person, lost = create("lost")
for _ in range(3):
    person.sees("of the recovery key: ").types("\n")
person.leaves()
keychainctl("protector", "list", "--keychain", "lost")
keychainctl("protector", "list", "--keychain", "work")

# Typed from paper with a slip; the password stays.
groups = paper.split("-")
slip = "-".join([*groups[:2], groups[2][1::-1] + groups[2][2:], *groups[3:]])
if slip == paper:
    slip = "-".join([*groups[:2], groups[3], groups[2], *groups[4:]])
again = Person("keychainctl", "unlock", "work", "--recovery-key").sees("Recovery key")
again.types(slip + "\n").sees("mistyped\r\n").sees("“work”: ").types(paper.lower().replace("-", " ") + "\n")
again.sees("New password").types("\n").leaves()
keychainctl("unlock", "work", "--password-stdin", lines=["old"])

# A new password takes the old one's place.
again = Person("keychainctl", "unlock", "work", "--recovery-key").sees("Recovery key")
again.types(paper + "\n").sees("New password").types("new\n").sees("again: ").types("new\n").leaves()
keychainctl("unlock", "work", "--password-stdin", lines=["old"])
keychainctl("unlock", "work", "--password-stdin", lines=["new"])

# In scripts.
keychainctl("unlock", "work", "--recovery-key", "--password-stdin", lines=[paper, "newer"])
keychainctl("unlock", "work", "--password-stdin", lines=["newer"])
keychainctl("unlock", "work", "--recovery-key", "--password-stdin", lines=[lost])
keychainctl("unlock", "work", "--recovery-key", "--password-stdin", "--json", lines=[paper[:-1]])
keychainctl("unlock", "work", "--recovery-key", "--password-stdin", lines=["0" + paper[1:]])
keychainctl("create", "plain", "--password-stdin", lines=["mine"])
keychainctl("unlock", "plain", "--recovery-key", "--password-stdin", lines=[paper])

# What opens a keychain is shown to every program, and changed for a user who is there: here there
# is no user to ask.
listed = subprocess.run(["keychainctl", "protector", "list", "--keychain", "work"], text=True,
                        capture_output=True).stdout
identifier = re.search(r"([0-9a-f]{8}) +recovery-key", listed).group(1)
keychainctl("protector", "test", identifier, "--keychain", "work", "--password-stdin",
            lines=[paper])
keychainctl("protector", "test", identifier, "--keychain", "work", "--password-stdin",
            lines=[lost])
keychainctl("protector", "test", "ffffffff", "--keychain", "work", "--json")
keychainctl("protector", "remove", identifier, "--keychain", "work")
keychainctl("protector", "add", "credential", "--name", "x", "--keychain", "work",
            "--password-stdin", lines=["newer"])
keychainctl("protector", "add", "tpm2", "--pcrs", "7,24")
keychainctl("protector", "add", "recovery-key", "--at-login")
keychainctl("protector", "add", "credential")
keychainctl("protector", "list", "--json")
