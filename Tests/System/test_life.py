# SPDX-License-Identifier: Apache-2.0
"""The life of logins and their passwords, in one table: how a person comes in, what happened
before, and how the service stands; whether the login keychain is open then, and what is said."""

import concurrent.futures
import pathlib
import re
import shutil
import threading

import pytest

import world
from conftest import forget_keys

# For each way to log in and each time: how the keychain stands when the service runs, after it was
# restarted in the middle of that session, and for a login made while the service was not there; and
# which words the login showed. `open`; `no password` and `other password` are why it is locked;
# `none` is no keychain; `no service` is what keychainctl says then.
TABLE = """
way          when          up              restarted       down        words
password     first         open            open            no service  -
interactive  first         none            none            no service  -
key          first         none            none            no service  -
fingerprint  first         none            none            no service  -
retry        first         open            open            no service  -
nothing      first         none            none            no service  -

password     later         open            open            no service  -
interactive  later         no password     no password     no service  -
key          later         no password     no password     no service  -
fingerprint  later         no password     no password     no service  -
retry        later         open            open            no service  -
nothing      later         no password     no password     no service  -

password     changed       open            open            no service  -
interactive  changed       no password     no password     no service  -
key          changed       no password     no password     no service  -
fingerprint  changed       no password     no password     no service  -
retry        changed       open            open            no service  -
nothing      changed       no password     no password     no service  -

password     reset         other password  other password  no service  older
interactive  reset         no password     no password     no service  older
key          reset         no password     no password     no service  older
fingerprint  reset         no password     no password     no service  older
retry        reset         other password  other password  no service  older
nothing      reset         no password     no password     no service  older

password     after reset   other password  other password  no service  -
interactive  after reset   no password     no password     no service  -
key          after reset   no password     no password     no service  -
fingerprint  after reset   no password     no password     no service  -
retry        after reset   other password  other password  no service  -
nothing      after reset   no password     no password     no service  -

password     repaired      open            open            no service  -
interactive  repaired      no password     no password     no service  -
key          repaired      no password     no password     no service  -
fingerprint  repaired      no password     no password     no service  -
retry        repaired      open            open            no service  -
nothing      repaired      no password     no password     no service  -
"""
OLDER = "Your keychain may still have an older password than your login."


def rows():
    lines = [line for line in TABLE.splitlines() if line and not line.startswith("way")]
    return {tuple(fields[:2]): fields[2:] for fields in (re.split(r"  +", line) for line in lines)}


AUTH = f"auth required pam_unix.so nodelay\nauth optional {world.MODULE}\n"
# As pam_fprintd does: it asks for no password and says yes.
FINGER = f"auth sufficient pam_permit.so\nauth optional {world.MODULE}\n"
LOCAL = f"""account required pam_unix.so
session optional pam_keyinit.so force revoke
session optional {world.MODULE}
session required pam_unix.so
"""
PASSWD = f"""auth required pam_unix.so
account required pam_unix.so
password required pam_unix.so
password optional {world.MODULE} timeout_ms=2000
"""
WAYS = ("password", "interactive", "key", "fingerprint", "retry", "nothing")


class Person:
    """One account for each way, so that all ways can be tried at once."""

    def __init__(self, way, place):
        self.way, self.place = way, place
        self.name = f"kc-{way}"[:12]
        self.password = f"first words of {way} 1"
        self.former = None
        self.shell = None
        world.make_account(self.name, self.password)

    def log_in(self, way=None):
        way = way or self.way
        server = self.place.servers.get("interactive" if way == "interactive" else "password")
        command = {
            "password": lambda: server.command(self.name, "-tt"),
            "interactive": lambda: server.command(self.name, "-tt"),
            "key": lambda: server.command(self.name, "-tt", "-i", str(self.place.key)),
            "retry": lambda: server.command(self.name, "-tt", "-o", "NumberOfPasswordPrompts=2"),
            # Both are root's to start: what matters is the stack, and that no password is given.
            "fingerprint": lambda: ["su", "-l", self.name],
            "nothing": lambda: ["runuser", "-l", self.name],
        }[way]()
        passwords = {"retry": ("not the password", self.password), "password": (self.password,),
                     "interactive": (self.password,)}.get(way, ())
        return world.Terminal(command, passwords)

    def enter(self):
        self.shell = self.log_in()

    def leave(self):
        self.shell.close()
        self.shell = None

    def by_password(self, *work):
        """A login of another kind that does something and ends."""
        shell = self.log_in("password")
        results = [shell.run(*step) for step in work]
        shell.close()
        assert all(result.status == 0 for result in results), results
        assert not any("keeps its old password" in result.text for result in results), results

    def seen(self):
        status = self.shell.run("keychainctl status")
        if "does not answer" in status.text:
            return "no service"
        line = next(line for line in status.text.splitlines() if "Keychain “login”" in line)
        for words, state in (("unlocked", "open"), ("there is no keychain", "none"),
                             ("login carried no password", "no password"),
                             ("password is not the keychain's", "other password")):
            if words in line:
                return state
        return line

    def words(self):
        return "older" if OLDER in self.shell.greeting else "-"

    # What happens between the rows.

    def first(self):
        pass

    def later(self):
        # A user who comes in without a password came in with one before; a keychain that a
        # first login made is proven by a second.
        self.by_password(("keychainctl status",))
        self.by_password(("keychainctl status",))

    def changed(self):
        old, new = self.password, f"second words of {self.way} 2"
        # Derivations run one at a time, and this one is waited for, for two seconds.
        with self.place.turn:
            self.by_password(("passwd", [old, new, new]))
        self.password = new

    def reset(self):
        self.former, self.password = self.password, f"third words of {self.way} 3"
        world.make_account(self.name, self.password)

    def after_reset(self):
        pass

    def repaired(self):
        self.by_password(("keychainctl unlock", [self.former]))


class Place:
    """What all of them come in through."""

    def __init__(self, folder):
        self.servers = {
            "password": world.SSHServer(folder / "sshd", "keychain-test-life", auth=AUTH),
            "interactive": world.SSHServer(folder / "kbd", "keychain-test-life-kbd",
                                           interactive=True, auth=AUTH)}
        self.key = folder / "key"
        world.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key)
        self.stacks = {"su-l": FINGER + LOCAL, "runuser-l": "auth sufficient pam_rootok.so\n" + LOCAL,
                       "passwd": PASSWD, "chpasswd": PASSWD}
        self.before = {}
        self.turn = threading.Lock()

    def __enter__(self):
        for name, text in self.stacks.items():
            file = pathlib.Path("/etc/pam.d", name)
            self.before[name] = file.read_text() if file.exists() else None
            world.write_service(name, text)
        for server in self.servers.values():
            server.start()
        return self

    def __exit__(self, *_):
        for server in self.servers.values():
            server.stop()
        for name, text in self.before.items():
            if text is None:
                pathlib.Path("/etc/pam.d", name).unlink()
            else:
                world.write_service(name, text)

    def admit(self, person):
        """The person's public key opens the account."""
        folder = pathlib.Path(world.pwd.getpwnam(person.name).pw_dir, ".ssh")
        folder.mkdir(exist_ok=True)
        (folder / "authorized_keys").write_text(self.key.with_suffix(".pub").read_text())


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """What the table says, as it really is. All ways go through each time at once."""
    for entry in world.STATE.iterdir():
        shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    folder = tmp_path_factory.mktemp("life")
    daemon = world.Daemon(folder / "keychaind.log")
    found = {}
    with Place(folder) as place, concurrent.futures.ThreadPoolExecutor(len(WAYS)) as pool:
        people = [Person(way, place) for way in WAYS]
        place.admit(people[WAYS.index("key")])

        def each(work):
            return list(pool.map(work, people))

        times = list(dict.fromkeys(when for _, when in rows()))
        for when in times:
            daemon.start()
            each(getattr(Person, when.replace(" ", "_")))
            closed()
            daemon.stop()
            each(Person.enter)
            down = each(Person.seen)
            each(Person.leave)
            daemon.start()
            # The module waits two seconds, which six workers that start at once may take.
            for person in people:
                daemon.worker(person.name, start=True)
            each(Person.enter)
            words, up = each(Person.words), each(Person.seen)
            daemon.restart()
            restarted = each(Person.seen)
            each(Person.leave)
            closed()
            daemon.stop()
            for person, *fields in zip(people, up, restarted, down, words):
                found[person.way, when] = fields
    forget_keys()
    return found


def closed():
    world.wait_for(lambda: not any(name.startswith("unlock:") for name in world.names_of_keys()),
                   "the sessions' end")


@pytest.mark.parametrize("row", rows(), ids=" ".join)
def test_a_login(row, seen):
    assert seen[row] == rows()[row]
