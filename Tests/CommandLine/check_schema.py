# SPDX-License-Identifier: Apache-2.0
"""Validates the shipped policies, and mistaken ones, as an editor does: with the schema and the
types of YAML 1.2. What the schema says of the examples here, keychainctl says of them, too."""

import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """Knows whole numbers, true, false and null, and nothing else that is not text."""


Loader.yaml_implicit_resolvers = {}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile("^-?[0-9]+$"), list("-0123456789"))
Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^(null|~|)$"), ["n", "~", ""])

HEAD = "policy: v1\nname: n\n"
# Files that are mistaken and, after "=", that are not.
EXAMPLES = """
name: n
policy: v2, name: n
policy: v1, name: "a b"
policy: v1, name: a..b
= policy: v1, name: Größe-1.x
"""
RULES = """
id: a.b
id: a.b, forbid: no, permit: yes
id: a.b-, forbid: no
id: a.b, forbid: ""
id: a.b, permit: ""
= id: a.b, forbid: 7
id: a.b, forbid: no, subject: {exec: /usr/bin/git}
id: a.b, forbid: no, subject: {exe: "/usr/**/git"}
id: a.b, forbid: no, subject: {unit: "*service"}
id: a.b, forbid: no, subject: {unit: ["*.a*"]}
id: a.b, forbid: no, subject: {unit: "a***"}
id: a.b, forbid: no, subject: {user: ""}
= id: a.b, forbid: no, subject: {exe: ["/usr/*/git", /opt/**], unit: ["a*b*", "*", "**", "*.service"]}
id: a.b, forbid: no, resource: {class: password}
id: a.b, forbid: no, operations: []
id: a.b, forbid: no, when: {remote: yes}
id: a.b, forbid: no, when: {prompted: true}
id: a.b, forbid: no, when: {time: "24:00-25:00"}
id: a.b, forbid: no, when: {time: {between: "08:00-24:01"}}
id: a.b, forbid: no, when: {time: {between: "8:00-12:00"}}
= id: a.b, forbid: no, when: {time: ["08:00-24:00", {days: [mon-fri, sun], between: "22:00-06:00"}]}
id: a.b, require: {pam: su}
id: a.b, require: [passcode]
id: a.b, require: passcode, within: 5 minutes
id: a.b, forbid: no, within: 5m
id: a.b, permit: ok, scope: session
= id: a.b, require: passcode, within: 5m, scope: session
id: a.b, limit: {rate: 0/1m, by: [user], then: deny}
id: a.b, limit: {rate: 1/0m, by: [user], then: deny}
id: a.b, limit: {rate: 1/1m, by: [user], then: require}
id: a.b, limit: {rate: 1/1m, by: [user], then: deny, require: passcode}
= id: a.b, limit: {rate: 1/1m, by: [user], then: require, require: passcode}, when: {prompted: true}
id: a.b, audit: none
id: a.b, forbid: no, mode: complain
id: a.b, forbid: no, expires: 2026-12-01
id: a.b, forbid: no, mode: enforce, expires: 2026-12-01
id: a.b, forbid: no, mode: complain, expires: 2026-13-01
id: a.b, forbid: no, mode: complain, expires: 2026-12-32
= id: a.b, forbid: no, mode: complain, expires: TOMORROW
id: a.b, share: ok, operations: list, subject: {user: u}
id: a.b, share: ok, operations: list, subject: {user: u}, resource: {service: s}
id: a.b, share: ok, operations: list, resource: {access-group: g}
id: a.b, share: ok, subject: {user: u}, resource: {access-group: g}
id: a.b, share: ok, operations: all, subject: {user: u}, resource: {access-group: g}
id: a.b, share: ok, operations: [list, change-acl], subject: {user: u}, resource: {access-group: g}
= id: a.b, share: ok, operations: [list, export], subject: {user: u}, resource: {access-group: g}
"""
SCOPES = """
id: a.c, mode: complain
id: a.c, expires: 2026-12-01
= id: a.c, resource: {service: s}
"""
GROUPS = """
id: a.g, group: "exe:/bin/a", members: {user: u}
id: a.g, group: "a*", members: {user: u}
id: a.g, members: {user: u}
= id: a.g, group: a, members: [{user: u}, {unit: a.service}]
"""
TESTS = """
name: t, request: {operation: sign, at: "2026-11-20T24:00"}, expect: {decision: allow}
name: t, request: {operation: sign, at: "2026-11-20"}, expect: {decision: allow}
name: t, request: {operation: sign}, expect: {decision: yes}
name: t, request: {operation: sign}
= name: t, request: {operation: sign, at: "2026-11-20T23:59"}, expect: {decision: allow}
"""


def examples():
    """Each with whether it is mistaken."""
    tomorrow = (datetime.date.today() + datetime.timedelta(days=1)).isoformat()
    lists = [("", EXAMPLES), ("rules", RULES), ("closed", SCOPES), ("groups", GROUPS),
             ("tests", TESTS)]
    for key, lines in lists:
        for line in lines.strip().splitlines():
            text = line.removeprefix("= ").replace("TOMORROW", tomorrow)
            if key:
                yield HEAD + f"{key}:\n  - {{{text}}}\n", text == line.replace("TOMORROW", tomorrow)
            else:
                yield "{" + text + "}\n", text == line


def is_refused(text):
    """By the reader of policies itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "p.yaml")
        file.write_text(text)
        return subprocess.run(
            ["keychainctl", "policy", "check", "--no-tests", "--policies", file],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 1


def undescribed(part, path=""):
    """The keys of which an editor has nothing to show."""
    if isinstance(part, list):
        for place, item in enumerate(part):
            yield from undescribed(item, f"{path}/{place}")
    if not isinstance(part, dict):
        return
    # What only says which keys go together names them elsewhere.
    if part.get("type") == "object":
        for key, value in part.get("properties", {}).items():
            if "description" not in value:
                yield f"{path}/{key}"
    for key, value in part.items():
        yield from undescribed(value, f"{path}/{key}")


schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
for key in undescribed(schema):
    print(f"no description: {key}")
policies = sorted(pathlib.Path(sys.argv[2]).rglob("*.yaml"))
for policy in policies:
    for error in validator.iter_errors(yaml.load(policy.read_text(), Loader)):
        print(f"{policy.name}: {list(error.absolute_path)}: {error.message[:200]}")
count = 0
for example, isMistaken in examples():
    count += 1
    if validator.is_valid(yaml.load(example, Loader)) == isMistaken:
        print(f"the schema {'accepts' if isMistaken else 'refuses'}: {example}")
    if is_refused(example) != isMistaken:
        print(f"keychainctl {'accepts' if isMistaken else 'refuses'}: {example}")
print("checked" if policies and count > 50 else "there is too little to check")
