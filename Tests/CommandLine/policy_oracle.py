# SPDX-License-Identifier: Apache-2.0
"""Holds what keychainctl proves of policies against z3: random sets, and the decision function
encoded here a second time, straight from its definition.

    policy_oracle.py SETS [SEED]"""

import json
import pathlib
import random
import subprocess
import sys

import yaml
from z3 import And, Bool, BoolVal, Implies, Int, Not, Or, Solver, unsat

OPERATIONS = ["read-secret", "read-attributes", "add", "update", "delete", "sign", "decrypt",
              "derive", "export", "change-acl", "unlock", "move", "list"]
READ = ["read-secret", "read-attributes", "list", "sign", "decrypt", "derive"]
# Of each field the values that there are, `other` for all that no pattern is like.
TEXTS = {
    "subject.user": ["ann", "bob", "other"], "subject.exe": ["/bin/a", "/bin/b", "/opt/c", "other"],
    "subject.unit": ["a.service", "b.service", "other"],
    "resource.service": ["mail", "mail.x", "bank", "other"],
    "resource.access-group": ["ga", "gb", "other"],
}
PATTERNS = {
    "subject.user": ["ann", "bob", "*"], "subject.exe": ["/bin/a", "/bin/b", "/bin/*", "/opt/**"],
    "subject.unit": ["a.service", "b.service", "*.service", "*"],
    "resource.service": ["mail", "mail.x", "mail*", "bank"],
    "resource.access-group": ["ga", "gb"],
}
CHOICES = {
    "subject.session": ["seat", "ssh", "remote-desktop", "service", "cron", "other"],
    "resource.class": ["generic-password", "internet-password", "key", "certificate", "identity"],
}
BOOLEANS = {"subject.trusted-exe": False, "subject.member": True, "when.remote": False,
            "when.active": False}
GROUPS = ["staff", "ops"]
FLAGS = ["user-presence", "companion"]
UIDS = ["0", "1000-1999", "1500-2999"]
UNKNOWN, ABSENT = -1, -2


def like(pattern, text):
    if text == "other":
        return pattern == "*"
    if pattern.startswith("*."):
        return text.endswith(pattern[1:])
    if pattern.endswith("*"):
        return text.startswith(pattern.rstrip("*"))
    return text == pattern


class Request:
    """Any request, as variables."""

    def __init__(self):
        self.operation = Int("operation")
        self.values = {name: Int(name) for name in (*TEXTS, *CHOICES, *BOOLEANS)}
        self.uid, self.groups, self.flags = Int("uid"), Int("groups"), Int("flags")
        self.group = {name: Bool("group " + name) for name in GROUPS}
        self.flag = {name: Bool("flag " + name) for name in FLAGS}

    def axioms(self):
        yield And(self.operation >= 0, self.operation < len(OPERATIONS))
        for known in (TEXTS, CHOICES):
            for name, values in known.items():
                yield And(self.values[name] >= ABSENT, self.values[name] < len(values))
        for name in BOOLEANS:
            yield And(self.values[name] >= UNKNOWN, self.values[name] <= 1)
        yield And(self.uid >= ABSENT, self.uid < 2 ** 32)
        yield And(self.groups >= UNKNOWN, self.groups <= 0)
        yield And(self.flags >= UNKNOWN, self.flags <= 0)
        service = CHOICES["subject.session"].index("service")
        yield Implies(self.values["subject.session"] == service, self.values["subject.unit"] >= 0)
        yield Implies(self.values["subject.trusted-exe"] == 1, self.values["subject.exe"] >= 0)
        # Of some sessions it is known whether they are remote.
        for words, remote in ((("ssh", "remote-desktop"), 1), (("seat", "service"), 0)):
            for word in words:
                yield Implies(
                    self.values["subject.session"] == CHOICES["subject.session"].index(word),
                    self.values["when.remote"] == remote)
        # An unlock is no program's, and of no item.
        unlocks = self.operation == OPERATIONS.index("unlock")
        for name in ("subject.exe", "subject.unit", "resource.service", "resource.access-group",
                     "resource.class"):
            yield Implies(unlocks, self.values[name] == ABSENT)
        for name in ("subject.trusted-exe", "subject.member"):
            yield Implies(unlocks, self.values[name] == int(BOOLEANS[name]))
        yield Implies(unlocks, And([self.flags == 0] + [Not(flag) for flag in self.flag.values()]))
        # Only generic passwords have a service.
        yield Implies(self.values["resource.class"] > 0, self.values["resource.service"] == ABSENT)

    def condition(self, name, wanted, member):
        """Whether it holds for certain, and whether it may hold."""
        if name == "subject.member":
            yes, maybe = member
            return (yes, maybe) if wanted else (Not(maybe), Not(yes))
        if name in BOOLEANS:
            yes = self.values[name] == int(wanted)
            return yes, Or(yes, self.values[name] == UNKNOWN)
        wanted = wanted if isinstance(wanted, (list, dict)) else [wanted]
        if name in TEXTS:
            yes = Or([self.values[name] == number for number, text in enumerate(TEXTS[name])
                      if any(like(pattern, text) for pattern in wanted)])
        elif name in CHOICES:
            yes = Or([self.values[name] == CHOICES[name].index(word) for word in wanted])
        elif name == "subject.uid":
            ends = [(word.split("-") * 2)[:2] for word in wanted]
            yes = Or([And(self.uid >= int(low), self.uid <= int(high)) for low, high in ends])
            return yes, Or(yes, self.uid == UNKNOWN)
        elif name == "subject.group":
            known = self.groups == 0
            yes = And(known, Or([self.group[one] for one in wanted]))
            return yes, Or(yes, Not(known))
        else:
            known = self.flags == 0
            yes = And([known] + [self.flag[one] for one in wanted.get("has", [])]
                      + [Not(self.flag[one]) for one in wanted.get("lacks", [])])
            return yes, Or(yes, Not(known))
        return yes, Or(yes, self.values[name] == UNKNOWN)

    def box(self, box, operation, member):
        words = box.get("operations", OPERATIONS)
        words = words if isinstance(words, list) else [words]
        own = Or([operation == OPERATIONS.index(word) for word in words])
        found = [(own, own)]
        for block in ("subject", "resource", "when"):
            for name, wanted in box.get(block, {}).items():
                found.append(self.condition(f"{block}.{name}", wanted, member))
        return And([yes for yes, _ in found]), And([maybe for _, maybe in found])

    def match(self, rule, operation, member):
        yes, maybe = self.box(rule, operation, member)
        for exception in rule.get("unless", []):
            its, may = self.box(exception, operation, member)
            yes, maybe = And(yes, Not(may)), And(maybe, Not(its))
        return yes, maybe


EFFECTS = ("permit", "forbid", "share", "require", "redact", "audit")


def effect(rule):
    return next(name for name in EFFECTS if name in rule)


def demand(rule):
    return (rule["require"], rule.get("within", "0s"), rule.get("scope", "context"))


class Outcome:
    """What one set makes of the request."""

    def __init__(self, policy, request):
        self.policy, self.request = policy, request
        number = {word: place for place, word in enumerate(OPERATIONS)}
        key = CHOICES["resource.class"].index("key")
        klass = request.values["resource.class"]
        self.releases = And(request.operation == number["read-secret"],
                            Or(klass == key, klass == UNKNOWN))
        cases = [(BoolVal(True), request.operation), (self.releases, number["export"])]
        denials, self.demands, self.told = [], {}, {}
        for place, (applies, operation) in enumerate(cases):
            refused = self.case(place, applies, operation)
            denials.append(And(applies, refused))
        self.denied = Or(denials)

    def member(self, operation):
        value, joins = self.request.values["subject.member"], []
        for group in self.policy["groups"]:
            words = READ if group.get("mode") == "read" else OPERATIONS
            box = lambda member: {"operations": words, "subject": member,
                                  "resource": {"access-group": group["group"]}}
            joins += [self.request.box(box(member), operation, (BoolVal(False),) * 2)[0]
                      for member in group["members"]]
        return Or([value == 1] + joins), Or([value != 0] + joins)

    def case(self, place, applies, operation):
        member = self.member(operation)
        matches = [(rule, self.request.match(rule, operation, member))
                   for rule in self.policy["rules"]]
        def those(name, certain):
            return Or([yes if certain else maybe for rule, (yes, maybe) in matches
                       if name in rule])
        closed = Or([self.request.match(scope, operation, member)[1]
                     for scope in self.policy["closed"]])
        for rule, (_, maybe) in matches:
            if effect(rule) == "require":
                self.note(self.demands, (place, demand(rule)), And(applies, maybe))
            elif effect(rule) == "redact":
                for name in rule["redact"]:
                    self.note(self.told, name, And(applies, maybe))
            elif effect(rule) == "audit":
                self.note(self.told, "audit", And(applies, maybe))
        return Or(those("forbid", False), And(Not(member[0]), Not(those("share", True))),
                  And(closed, Not(those("permit", True))))

    @staticmethod
    def note(table, name, holds):
        table[name] = Or(table.get(name, BoolVal(False)), holds)


class World:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def condition(self, box, fields):
        field = self.random.choice(fields)
        block, name = field.split(".")
        if field in TEXTS:
            value = self.random.sample(PATTERNS[field], self.random.choice([1, 1, 2]))
        elif field in CHOICES:
            value = self.random.sample(CHOICES[field], self.random.choice([1, 2, 4]))
        elif field in BOOLEANS:
            value = self.random.random() < 0.5
        elif field == "subject.uid":
            value = [self.random.choice(UIDS)]
        elif field == "subject.group":
            value = self.random.sample(GROUPS, self.random.choice([1, 2]))
        else:
            value = {self.random.choice(["has", "lacks"]): [self.random.choice(FLAGS)]}
        box.setdefault(block, {})[name] = value

    def box(self, fields=None, most=3):
        fields = fields or [*TEXTS, *CHOICES, *BOOLEANS, "subject.uid", "subject.group",
                            "resource.flags"]
        box = {}
        if self.random.random() < 0.5:
            box["operations"] = self.random.sample(OPERATIONS, self.random.choice([1, 3]))
        for _ in range(self.random.randint(1, most)):
            self.condition(box, fields)
        return box

    def rule(self, number):
        rule = {"id": f"r{number}"}
        kind = self.random.choice(["forbid", "forbid", "permit", "permit", "permit", "share",
                                   "require", "require", "redact", "audit"])
        rule[kind] = {"require": self.random.choice(["passcode", "companion"]),
                      "redact": [self.random.choice(["comment", "label"])],
                      "audit": "full"}.get(kind, "Because.")
        if kind == "require" and self.random.random() < 0.3:
            rule["within"] = "5m"
        rule.update(self.box())
        if kind == "share":
            rule["operations"] = self.random.sample(OPERATIONS[:9], 2)
            rule.setdefault("subject", {})["user"] = [self.random.choice(["ann", "bob"])]
            rule.setdefault("resource", {})["access-group"] = [self.random.choice(["ga", "gb"])]
        if self.random.random() < 0.3:
            rule["unless"] = [self.box(most=2)]
        return rule

    def policy(self):
        closed = [{"id": f"c{number}", **self.box(most=1)}
                  for number in range(self.random.randint(0, 2))]
        groups = [{"id": f"g{number}", "group": self.random.choice(["ga", "gb"]),
                   "members": [{"user": [self.random.choice(["ann", "bob"])]}],
                   "mode": self.random.choice(["read", "write"])}
                  for number in range(self.random.randint(0, 1))]
        return {"closed": closed, "groups": groups,
                "rules": [self.rule(number) for number in range(self.random.randint(1, 6))]}

    def changed(self, policy):
        """The set with a few of its rules otherwise."""
        other = json.loads(json.dumps(policy))
        for _ in range(self.random.randint(1, 2)):
            kind = self.random.randrange(5)
            if kind == 0 and other["rules"]:
                other["rules"].pop(self.random.randrange(len(other["rules"])))
            elif kind == 1:
                other["rules"].append(self.rule(10 + self.random.randrange(10)))
            elif kind == 2 and other["rules"]:
                rule = self.random.choice(other["rules"])
                self.condition(rule, ["when.remote", "subject.exe", "resource.class"])
            elif kind == 3:
                other["groups"] = self.policy()["groups"]
            else:
                other["closed"] = self.policy()["closed"]
        other["rules"] = list({rule["id"]: rule for rule in other["rules"]}.values())
        return other


def write(policy, path, assertion=None):
    parts = {name: value for name, value in policy.items() if value}
    if assertion:
        parts["assert"] = [{"id": "n0", "never": assertion}]
    path.write_text(yaml.safe_dump({"policy": "v1", "name": "random", **parts}, width=10 ** 6,
                                   sort_keys=False))


def ask(*words):
    done = subprocess.run(["keychainctl", "policy", *map(str, words)], text=True,
                          capture_output=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(map(str, words))}: {done.stdout}{done.stderr}")


class Oracle:
    def __init__(self, request):
        self.request = request
        self.axioms = list(request.axioms())

    def can(self, *claims):
        solver = Solver()
        solver.add(*self.axioms, *claims)
        return solver.check() != unsat

    def changes(self, old, new):
        was, now = Outcome(old, self.request), Outcome(new, self.request)
        nothing = BoolVal(False)
        both = And(Not(was.denied), Not(now.denied))
        less, more = [], []
        for name in was.demands.keys() | now.demands.keys():
            before, after = was.demands.get(name, nothing), now.demands.get(name, nothing)
            less.append(And(before, Not(after)))
            more.append(And(after, Not(before)))
        told = [was.told.get(name, nothing) != now.told.get(name, nothing)
                for name in was.told.keys() | now.told.keys()]
        kinds = {
            "newly allowed": And(was.denied, Not(now.denied)),
            "newly denied": And(Not(was.denied), now.denied),
            "no longer needs": And(both, Or(less)),
            "now needs": And(both, Not(Or(less)), Or(more)),
            "told differently": And(both, Not(Or(less)), Not(Or(more)), Or(told)),
        }
        return {kind for kind, claim in kinds.items() if self.can(claim)}

    def holds(self, policy, never):
        outcome = Outcome(policy, self.request)
        member = outcome.member(self.request.operation)
        inside = self.request.box(never, self.request.operation, member)[0]
        return not self.can(inside, Not(outcome.denied))

    def findings(self, policy):
        """By rule what is to be said of it: later ones first, as of two alike the later is."""
        outcome = Outcome(policy, self.request)
        member = outcome.member(self.request.operation)
        def matches(rule):
            yes, maybe = self.request.match(rule, self.request.operation, member)
            return yes if effect(rule) in ("permit", "share") else maybe
        rules = sorted(policy["rules"], key=lambda rule: rule["id"])
        closed = Or([self.request.match(scope, self.request.operation, member)[1]
                     for scope in policy["closed"]])
        forbidden = Or([matches(rule) for rule in rules if "forbid" in rule])
        found, shadowed = {}, set()
        for rule in reversed(rules):
            own = matches(rule)
            certain = self.request.match(rule, self.request.operation, member)[0]
            others = Or([matches(other) for other in rules if other is not rule
                         and other["id"] not in shadowed and self.implies(other, rule)])
            if not self.can(own) or not self.can(certain):
                found[rule["id"]] = "KC3101"
            elif "permit" in rule and not self.can(own, closed):
                found[rule["id"]] = "KC3104"
            elif effect(rule) not in ("forbid", "audit") and not self.can(own, Not(forbidden)):
                found[rule["id"]] = "KC3101"
            elif not self.can(own, Not(others)):
                found[rule["id"]] = "KC3102"
                shadowed.add(rule["id"])
        return found

    @staticmethod
    def implies(other, rule):
        if effect(other) != effect(rule):
            return False
        if effect(rule) == "redact":
            return set(other["redact"]) >= set(rule["redact"])
        if effect(rule) != "require":
            return True
        within = {"0s": 0, "5m": 5}
        own, its = demand(other), demand(rule)
        return own[0] == its[0] and within[own[1]] <= within[its[1]]


def main():
    sets, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    oracle, folder = Oracle(Request()), pathlib.Path.cwd()
    counts = {"differences": 0, "assertions": 0, "findings": 0}
    for number in range(sets):
        world = World(seed * 1_000_003 + number)
        old = world.policy()
        new, never = world.changed(old), world.box()
        write(old, folder / "old.yaml", never)
        write(new, folder / "new.yaml")
        answer = ask("diff", "--json", "old.yaml", "new.yaml")
        said = {change["kind"] for change in answer["differences"]}
        expected = oracle.changes(old, new)
        diagnostics = ask("check", "--json", "--policies", "old.yaml")["diagnostics"]
        holds = oracle.holds(old, never)
        refuted = any(one["code"] == "KC4002" for one in diagnostics)
        lint = ask("lint", "--json", "--policies", "old.yaml")["diagnostics"]
        twins = {one["message"].split()[1] for one in lint if one["code"] == "KC3103"}
        told = {one["message"].split()[1]: one["code"] for one in lint
                if one["code"] in ("KC3101", "KC3102", "KC3104")}
        findings = oracle.findings(old)
        for twin in twins:
            told.pop(twin, None), findings.pop(twin, None)
        problems = []
        if not answer["complete"] or said != expected:
            problems.append(f"differences: {sorted(said)}, and z3 says {sorted(expected)}")
        if refuted == holds:
            problems.append(f"the assertion: refuted {refuted}, and z3 says it holds: {holds}")
        if told != findings:
            problems.append(f"findings: {told}, and z3 says {findings}")
        for problem in problems:
            print(f"set {number}: {problem}")
        if problems:
            print((folder / "old.yaml").read_text() + "---\n" + (folder / "new.yaml").read_text())
            sys.exit(1)
        counts["differences"] += len(said)
        counts["assertions"] += holds
        counts["findings"] += len(told)
    print(f"{sets} sets: z3 says the same")
    # Silence would agree too.
    print(f"of it {', '.join(f'{count} {name}' for name, count in counts.items())}",
          file=sys.stderr)
    if min(counts.values()) < sets / 20:
        sys.exit(f"too few: {counts}")


main()
