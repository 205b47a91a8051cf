# SPDX-License-Identifier: Apache-2.0
"""Policies of any size, as the text of files, to measure the tools with."""

import json
import random

IN_A_FILE = 2_000  # rules; a file has a mebibyte at most


def structured(rules):
    """Of each service a group, a permit, a requirement and an audit, and three tests."""
    return _files("services", rules, lambda name, own: "\n".join([
        "groups:", *(_group(number) for number in own[::4]),
        "closed:", f"  - {{id: {name}.closed, resource: {{access-group: \"svc-*\"}}}}",
        "rules:", *(_service(name, number) for number in own[::4]),
        "tests:", *(_tests(name, number) for number in own[::4]), ""]))


def mixed(rules, seed=42):
    """Rules as sites write them, at random: nearly all name a service, a program or a group, and
    most something besides; one of fifty closes what it names."""
    chance = random.Random(seed)
    def text(name, own):
        closed = [_line(_match(chance, f"{name}.closed-{number}", rules)) for number in own[::50]]
        return "\n".join(["closed:", *closed, "rules:",
                          *(_rule(chance, f"{name}.rule-{number}", rules) for number in own), ""])
    return _files("site", rules, text)


def requests(rules, seed=43):
    """So many requests with what the random rules name, a line of JSON each."""
    chance = random.Random(seed)
    return "".join(_request(chance, rules) + "\n" for _ in range(rules))


def tests_of(requests, decisions):
    """Files of tests that expect of each request what was decided."""
    tests = [f"  - {{name: t-{number}, request: {request}, expect: {{decision: {found['decision']}, "
             f"because: {json.dumps(found['because'])}}}}}"
             for number, (request, found) in enumerate(zip(requests, decisions))]
    return {f"90-{place}_test.yaml": "\n".join(["policy: v1", f"name: tests-{place}", "tests:", *own, ""])
            for place, own in enumerate(tests[first:first + IN_A_FILE]
                                        for first in range(0, len(tests), IN_A_FILE))}


def changed(files, count, seed=7):
    """The same files with so many rules changed: of one what it does, of the next where."""
    chance = random.Random(seed)
    lines = [(name, number) for name, text in files.items()
             for number, line in enumerate(text.split("\n")) if _turned(line) != line]
    split = {name: text.split("\n") for name, text in files.items()}
    for name, number in chance.sample(lines, count):
        split[name][number] = _turned(split[name][number])
    return {name: "\n".join(lines) for name, lines in split.items()}


def _turned(line):
    if "permit: " in line:
        return line.replace("permit: ", "forbid: ", 1)
    return line.replace("forbid: ", "permit: ", 1) if "forbid: " in line else line


def _files(kind, rules, text):
    files = {}
    for place, first in enumerate(range(0, rules, IN_A_FILE)):
        name = f"{kind}-{place}"
        own = range(first, min(first + IN_A_FILE, rules))
        files[f"{10 + place}-{kind}.yaml"] = f"policy: v1\nname: {name}\n" + text(name, own)
    return files


def _group(number):
    return f"  - {{id: g.g-{number}, group: svc-{number}, members: [{{unit: svc-{number}.service}}]}}"


def _service(name, number):
    item = f"resource: {{access-group: svc-{number}}}"
    return (
        f"  - {{id: {name}.p-{number}, permit: It reads its own., operations: [read-secret, update],"
        f" subject: {{unit: svc-{number}.service}}, {item}}}\n"
        f"  - {{id: {name}.r-{number}, require: passcode, within: 5m, operations: update, {item}}}\n"
        f"  - {{id: {name}.a-{number}, audit: full, operations: update, {item}}}")


def _tests(name, number):
    def test(what, operation, unit, expected):
        return (f"  - {{name: {what} {number}, request: {{operation: {operation}, subject: "
                f"{{unit: {unit}}}, resource: {{access-group: svc-{number}}}}}, expect: {{{expected}}}}}")
    own = f"svc-{number}.service"
    return "\n".join([
        test("its own", "read-secret", own, f"decision: allow, because: [{name}.p-{number}]"),
        test("another's", "read-secret", f"svc-{number + 4}.service", "decision: deny"),
        test("a change", "update", own, "decision: challenge, requires: passcode, audit: full")])


def _rule(chance, name, rules):
    id, *match = _match(chance, name, rules)
    effect = chance.choice(
        ["forbid: This is not done here."] * 4 + ["permit: It reads its own."] * 7
        + ["require: presence, within: 5m, scope: process"] * 3
        + ["require: {any: [biometry, passcode]}"] * 4 + ["audit: full"])
    return _line([id, effect, *match])


def _line(parts):
    return f"  - {{{', '.join(parts)}}}"


def _match(chance, name, rules):
    some = chance.choice(["read-secret", "sign", "write", "[read-secret, export]", "use-key", ""])
    fields = {"subject": [], "resource": [], "when": []}
    for block, field in [_named(chance, rules)] + [_extra(chance)] * (chance.random() < 0.6):
        fields[block].append(field)
    parts = [f"id: {name}"] + ([f"operations: {some}"] if some else [])
    parts += [f"{block}: {{{', '.join(own)}}}" for block, own in fields.items() if own]
    if chance.random() < 0.1:
        parts.append(f"unless: [{{subject: {{group: group-{chance.randrange(40)}}}}}]")
    return parts


def _request(chance, rules):
    def number():
        return chance.randrange(max(rules // 2, 4))
    return json.dumps({
        "operation": chance.choice(["read-secret", "sign", "update", "export"]),
        "subject": {
            "exe": f"/usr/lib/product-{number()}/bin/helper", "trusted-exe": True,
            "app": f"flatpak:org.example.App{number()}", "uid": "1000",
            "group": [f"group-{chance.randrange(40)}" for _ in range(4)],
            "session": chance.choice(["seat", "ssh", "service", "cron"])},
        "resource": {
            "service": f"svc-{number()}.example", "access-group": f"team-{number()}.shared",
            "class": chance.choice(["generic-password", "internet-password", "key"])},
        "when": {"remote": chance.random() < 0.2, "screen-locked": False}})


def _named(chance, rules):
    """What most rules of a site name."""
    number = chance.randrange(max(rules // 2, 4))
    return chance.choices(
        [("resource", f"service: svc-{number}.example"), ("resource", f"service: \"svc-{number}.*\""),
         ("subject", f"exe: /usr/lib/product-{number}/bin/helper"),
         ("subject", f"exe: \"/opt/product-{number}/**\""),
         ("subject", f"app: \"flatpak:org.example.App{number}\""),
         ("resource", f"access-group: team-{number}.shared")], [5, 2, 6, 1, 3, 3])[0]


def _extra(chance):
    """What many requests have."""
    return chance.choice([
        ("resource", "class: " + chance.choice(["generic-password", "internet-password", "key"])),
        ("when", "remote: " + chance.choice(["true", "false"])),
        ("subject", "session: " + chance.choice(["seat", "ssh", "service", "cron"])),
        ("subject", f"group: group-{chance.randrange(40)}"), ("subject", "trusted-exe: true"),
        ("subject", "uid: [\"1000-59999\"]"), ("when", "screen-locked: true")])
