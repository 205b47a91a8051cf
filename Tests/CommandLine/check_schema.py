# SPDX-License-Identifier: Apache-2.0
"""Validates the shipped policies, and mistaken ones, as an editor does: with the schema and the
types of YAML 1.2."""

import json
import pathlib
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    """Knows whole numbers, true, false and null, and nothing else that is not text."""


Loader.yaml_implicit_resolvers = {}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int", re.compile("^-?[0-9]+$"), list("-0123456789"))
Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile("^(null|~|)$"), ["n", "~", ""])

HEAD = "policy: v1\nname: n\nrules:\n"
MISTAKES = [
    "name: n\n",
    "policy: v2\nname: n\n",
    HEAD + "  - {id: a.b}\n",
    HEAD + "  - {id: a.b, forbid: no, permit: yes}\n",
    HEAD + "  - {id: a.b, forbid: no, subject: {exec: /usr/bin/git}}\n",
    HEAD + "  - {id: a.b, forbid: no, resource: {class: password}}\n",
    HEAD + "  - {id: a.b, forbid: no, operations: []}\n",
    HEAD + "  - {id: a.b, forbid: no, when: {remote: yes}}\n",
    HEAD + "  - {id: a.b, require: {pam: su}}\n",
    HEAD + "  - {id: a.b, require: [passcode]}\n",
    HEAD + "  - {id: a.b, require: passcode, within: 5 minutes}\n",
    HEAD + "  - {id: a.b, limit: {rate: 0/1m, by: [user], then: deny}}\n",
    HEAD + "  - {id: a.b, audit: none}\n",
]

schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
policies = sorted(pathlib.Path(sys.argv[2]).rglob("*.yaml"))
for policy in policies:
    for error in validator.iter_errors(yaml.load(policy.read_text(), Loader)):
        print(f"{policy.name}: {list(error.absolute_path)}: {error.message[:200]}")
for mistake in MISTAKES:
    if validator.is_valid(yaml.load(mistake, Loader)):
        print(f"accepted: {mistake}")
print("checked" if policies else "there are no policies")
