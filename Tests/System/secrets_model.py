# SPDX-License-Identifier: Apache-2.0
"""Random calls of a program to org.freedesktop.secrets, held against a model of the items: what each call
answers, and what is there in the end.

secrets_model.py calls SEED COUNT   nothing else happens meanwhile
secrets_model.py killed SEED COUNT  keychain-secrets is killed now and then; keychaind may be as well
"""

import random
import subprocess
import sys
import time

import dbus

from secrets_client import COLLECTION, ITEM, LOGIN, NAME, PROPERTIES, ROOT, SERVICE, Peer, secret

NAMES, VALUES = ("kind", "user", "place"), ("", "one", "two")
# A call is tried for so long while the service is away.
PATIENCE = 60
OPERATIONS = ("create", "create", "replace", "find", "find", "read", "read_many", "write", "relabel",
              "reattribute", "delete", "look")


class Model:
    """The items by their paths: pairs, label and secret."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.items = {}
        # What a call that failed was about: it may have been done, or not.
        self.doubt = None
        self.connect()

    def connect(self):
        self.peer = Peer()
        self.session = self.peer.session()

    def pairs(self):
        chosen = self.random.sample(NAMES, self.random.randint(1, 3))
        return {"model": "m"} | {name: self.random.choice(VALUES) for name in chosen}

    def some(self):
        return self.random.choice(sorted(self.items)) if self.items else None

    def step(self):
        operation = self.random.choice(OPERATIONS)
        path = self.some()
        if path or operation in ("create", "replace", "find"):
            getattr(self, operation)(path)

    # Calls: each tells first what may be true if no answer comes.

    def create(self, _, replace=False):
        pairs, value = self.pairs(), self.random.randbytes(self.random.randint(0, 80))
        label = f"L{self.random.randrange(9)}"
        self.doubt = ("create", None, (pairs, label, value))
        path = str(self.peer.create(self.session, value, replace=replace, label=label, **pairs))
        if replace:
            same = [other for other, (own, _, _) in self.items.items() if own == pairs]
            expect(path in same or not same, f"{path} replaces one of {same}")
        else:
            expect(path not in self.items, f"{path} is new")
        self.items[path] = (pairs, label, value)

    def replace(self, _):
        self.create(None, replace=True)

    def find(self, _):
        query = dict(list(self.pairs().items())[:self.random.randint(1, 3)])
        found, locked = self.peer.search(**query)
        wanted = {path for path, (pairs, _, _) in self.items.items() if query.items() <= pairs.items()}
        expect(not locked and {str(path) for path in found} == wanted, f"{query} finds {wanted}: {found}")

    def read(self, path):
        value = self.peer.call(path, ITEM, "GetSecret", "o", self.session)
        expect(bytes(value[2]) == self.items[path][2], f"the secret of {path}")

    def read_many(self, _):
        some = self.random.sample(sorted(self.items), self.random.randint(0, len(self.items)))
        told = self.peer.call(ROOT, SERVICE, "GetSecrets", "aoo", dbus.Array(some, signature="o"), self.session)
        expect({str(path): bytes(value[2]) for path, value in told.items()}
               == {path: self.items[path][2] for path in some}, f"the secrets of {some}")

    def write(self, path):
        pairs, label, _ = self.items[path]
        value = self.random.randbytes(self.random.randint(0, 6000))
        self.doubt = ("change", path, (pairs, label, value))
        self.peer.call(path, ITEM, "SetSecret", "(oayays)", secret(self.session, value))
        self.items[path] = (pairs, label, value)

    def relabel(self, path):
        pairs, _, value = self.items[path]
        label = f"L{self.random.randrange(9)}"
        self.doubt = ("change", path, (pairs, label, value))
        self.set(path, "Label", dbus.String(label, variant_level=1))
        self.items[path] = (pairs, label, value)

    def reattribute(self, path):
        _, label, value = self.items[path]
        pairs = self.pairs()
        self.doubt = ("change", path, (pairs, label, value))
        self.set(path, "Attributes", dbus.Dictionary(pairs, signature="ss", variant_level=1))
        self.items[path] = (pairs, label, value)

    def delete(self, path):
        self.doubt = ("delete", path, None)
        expect(str(self.peer.call(path, ITEM, "Delete")) == "/", f"{path} is deleted without a question")
        del self.items[path]

    def look(self, path):
        expect(self.seen(path) == self.items[path], f"{path} as it is: {self.seen(path)}")

    def set(self, path, name, value):
        self.peer.call(path, PROPERTIES, "Set", "ssv", ITEM, name, value)

    def seen(self, path):
        told = self.peer.call(path, PROPERTIES, "GetAll", "s", ITEM)
        value = self.peer.call(path, ITEM, "GetSecret", "o", self.session)
        pairs = {str(name): str(value) for name, value in told["Attributes"].items()}
        return pairs, str(told["Label"]), bytes(value[2])

    # What is there.

    def check(self):
        found, locked = self.peer.search(model="m")
        there = {str(path): self.seen(path) for path in found}
        expect(not locked, "nothing is locked")
        kind, path, item = self.doubt or (None, None, None)
        wanted = dict(self.items)
        for other in there.keys() - wanted.keys():
            # Paths are random: of a call without an answer it is known by what is in it.
            expect(kind == "create" and there[other] == item, f"{other} was never made: {there[other]}")
            wanted[other] = item
        for other, own in there.items():
            if own == wanted[other]:
                continue
            replaced = kind == "create" and own == item and own[0] == wanted[other][0]
            expect(replaced or (other == path and own == item), f"{other} is {own}, not {wanted[other]}")
            wanted[other] = own
        gone = wanted.keys() - there.keys()
        expect(gone <= ({path} if kind == "delete" else set()), f"{gone} were lost")
        self.items = there
        expect(len(there) == len(set(there)), "each has a path of its own")
        mine = self.peer.call(LOGIN, PROPERTIES, "Get", "ss", COLLECTION, "Items")
        expect(there.keys() <= {str(path) for path in mine}, "the collection lists them all")

    def recover(self):
        """Checks what is there once the service is, by the bus's own starting of it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                self.connect()
                self.check()
                self.doubt = None
                return
            except dbus.DBusException as error:
                expect(time.monotonic() < deadline, f"the service came back: {error}")
                time.sleep(0.05)


def expect(holds, what):
    if not holds:
        sys.exit(f"this does not hold: {what}")


def calls(model, count):
    for _ in range(count):
        model.step()
        model.doubt = None
    model.check()


def killed(model, count):
    ends = 0
    while ends < count:
        process = model.peer.bus.call_blocking(
            "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", (NAME,))
        killer = subprocess.Popen(["sh", "-c", f"sleep {model.random.random() / 10:.3f}; kill -9 {process}"])
        try:
            while True:
                model.step()
                model.doubt = None
        except dbus.DBusException:
            ends += 1
            killer.wait()
            model.recover()


if __name__ == "__main__":
    verb, seed, count = sys.argv[1:]
    model = Model(int(seed))
    try:
        {"calls": calls, "killed": killed}[verb](model, int(count))
    finally:
        print(f"{verb}, seed {seed}, {len(model.items)} items")
