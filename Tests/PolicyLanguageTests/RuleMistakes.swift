// SPDX-License-Identifier: Apache-2.0
import PolicySyntax

/// What is wrong with rules, scopes, groups and definitions.
let ruleMistakes: [Mistake] = [
    Mistake(
        .unknownKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbit: no}

        """#,
        #"""
        p.yaml:4:15: error[KC2001]: unknown key "forbit"
            4 |   - {id: a.b, forbit: no}
              |               ^^^^^^ did you mean "forbid"?

        """#),
    Mistake(
        .unknownKey,
        #"""
        policy: v1
        name: n
        rule: []

        """#,
        #"""
        p.yaml:3:1: error[KC2001]: unknown key "rule"
            3 | rule: []
              | ^^^^ did you mean "rules"?

        """#),
    Mistake(
        .unknownKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, within: 5m}

        """#,
        #"""
        p.yaml:4:27: error[KC2001]: "within" stands in a rule without "require"
            4 |   - {id: a.b, forbid: no, within: 5m}
              |                           ^^^^^^ remove it

        """#),
    Mistake(
        .missingKey,
        #"""
        name: n

        """#,
        #"""
        p.yaml:1:1: error[KC2002]: a policy file without "policy"
            1 | name: n
              | ^ begin with policy: v1

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1

        """#,
        #"""
        p.yaml:1:1: error[KC2002]: a policy file without "name"
            1 | policy: v1
              | ^ add name: NAME

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        rules:
          - forbid: no

        """#,
        #"""
        p.yaml:4:5: error[KC2002]: a rule without "id"
            4 |   - forbid: no
              |     ^ add id: NAME

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        rules:
          - id: a.s
            share: yes, do

        """#,
        #"""
        p.yaml:4:9: error[KC2002]: share a.s without "operations"
            4 |   - id: a.s
              |         ^^^ add it
        p.yaml:4:9: error[KC2002]: share a.s without "resource.access-group"
            4 |   - id: a.s
              |         ^^^ say which group it shares
        p.yaml:4:9: error[KC2002]: share a.s without "subject"
            4 |   - id: a.s
              |         ^^^ add it

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.l, limit: {rate: 3/1m, by: user}}

        """#,
        #"""
        p.yaml:4:10: error[KC2002]: limit a.l without "then"
            4 |   - {id: a.l, limit: {rate: 3/1m, by: user}}
              |          ^^^ as {rate: 30/1m, by: [user], then: deny}

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.l, limit: {rate: 3/1m, by: user, then: require}}

        """#,
        #"""
        p.yaml:4:10: error[KC2002]: limit a.l requires, and does not say what
            4 |   - {id: a.l, limit: {rate: 3/1m, by: user, then: require}}
              |          ^^^ add require: CONSTRAINT

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        groups:
          - {id: a.g, group: g}

        """#,
        #"""
        p.yaml:4:10: error[KC2002]: group a.g without "members"
            4 |   - {id: a.g, group: g}
              |          ^^^ add it

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        assert:
          - {id: a.a}

        """#,
        #"""
        p.yaml:4:10: error[KC2002]: assertion a.a without "never"
            4 |   - {id: a.a}
              |          ^^^ add never: {operations, subject, resource, when}

        """#),
    Mistake(
        .effectCount,
        #"""
        policy: v1
        name: n
        rules:
          - id: a.b
            operations: sign

        """#,
        #"""
        p.yaml:4:9: error[KC2016]: rule a.b has no effect
            4 |   - id: a.b
              |         ^^^ add one of: permit, forbid, share, require, limit, redact, audit

        """#),
    Mistake(
        .effectCount,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, permit: yes}

        """#,
        #"""
        p.yaml:4:27: error[KC2016]: a second effect: "forbid" and "permit"
            4 |   - {id: a.b, forbid: no, permit: yes}
              |                           ^^^^^^ a rule has one effect; write two rules

        """#),
    Mistake(
        .badConstraint,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: [passcode, confirm]}

        """#,
        #"""
        p.yaml:4:24: error[KC2017]: a list does not say how many of it are needed
            4 |   - {id: a.b, require: [passcode, confirm]}
              |                        ^ {any: […]}, {all: […]} or {k: n, of: […]}

        """#),
    Mistake(
        .badConstraint,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: {any: [passcode], all: [confirm]}}

        """#,
        #"""
        p.yaml:4:24: error[KC2017]: this is no constraint
            4 |   - {id: a.b, require: {any: [passcode], all: [confirm]}}
              |                        ^ a factor, {pam: …}, {approval: […]}, {any: […]}, {all: […]} or {k: n, of: […]}

        """#),
    Mistake(
        .badService,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: {pam: su}}

        """#,
        #"""
        p.yaml:4:30: error[KC2018]: "su" is no PAM service of the keychain
            4 |   - {id: a.b, require: {pam: su}}
              |                              ^^ its name begins with "keychain-" and has lower-case letters, digits, "-"

        """#),
    Mistake(
        .badRate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, limit: {rate: 30/0s, by: user, then: deny}}

        """#,
        #"""
        p.yaml:4:29: error[KC2019]: "30/0s" is no rate
            4 |   - {id: a.b, limit: {rate: 30/0s, by: user, then: deny}}
              |                             ^^^^^ a number from 1, "/" and a duration above 0, as 30/1m

        """#),
    Mistake(
        .duplicateID,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no}
          - {id: a.b, forbid: never}

        """#,
        #"""
        p.yaml:5:10: error[KC2020]: the id a.b is taken
            5 |   - {id: a.b, forbid: never}
              |          ^^^
           = by p.yaml:4

        """#),
    Mistake(
        .unknownDefinition,
        #"""
        policy: v1
        name: n
        define:
          git-tools: {user: git}
        rules:
          - {id: a.b, forbid: no, subject: {use: git-tool}}

        """#,
        #"""
        p.yaml:6:42: error[KC2021]: no definition is called "git-tool"
            6 |   - {id: a.b, forbid: no, subject: {use: git-tool}}
              |                                          ^^^^^^^^ did you mean "git-tools"?

        """#),
    Mistake(
        .recursiveDefinition,
        #"""
        policy: v1
        name: n
        define:
          a: {user: git}
          b: {use: a}

        """#,
        #"""
        p.yaml:5:7: error[KC2022]: a definition can't use another
            5 |   b: {use: a}
              |       ^^^

        """#),
    Mistake(
        .badConstraint,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: {approval: "ann bob"}}

        """#,
        #"""
        p.yaml:4:35: error[KC2017]: "ann bob" is no user's name
            4 |   - {id: a.b, require: {approval: "ann bob"}}
              |                                   ^^^^^^^^^ name each person: {approval: [ann, bob]}

        """#),
    Mistake(
        .badService,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: {pam: keychain-approval}}

        """#,
        #"""
        p.yaml:4:30: error[KC2018]: "keychain-approval" authenticates another person than the asker
            4 |   - {id: a.b, require: {pam: keychain-approval}}
              |                              ^^^^^^^^^^^^^^^^^ {approval: [NAME]} says whose approval is meant

        """#),
    Mistake(
        .expiryWithoutComplain,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, expires: 2027-01-31}

        """#,
        #"""
        p.yaml:4:27: error[KC2023]: "expires" in a rule that is enforced
            4 |   - {id: a.b, forbid: no, expires: 2027-01-31}
              |                           ^^^^^^^ it ends mode: complain; a rule ends with until: YYYY-MM-DD

        """#),
    Mistake(
        .complainWithoutExpiry,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, mode: complain}

        """#,
        #"""
        p.yaml:4:10: error[KC2024]: a.b complains without an end
            4 |   - {id: a.b, forbid: no, mode: complain}
              |          ^^^ add expires: YYYY-MM-DD

        """#),
    Mistake(
        .badReplacement,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no}
          - {id: a.c, forbid: no, replaces: a.b}

        """#,
        #"""
        p.yaml:5:37: error[KC2025]: "a.b" is not in an earlier folder
            5 |   - {id: a.c, forbid: no, replaces: a.b}
              |                                     ^^^ change that rule, or add unless to it

        """#),
    Mistake(
        .badReplacement,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.c, forbid: no, replaces: a.b}

        """#,
        #"""
        p.yaml:4:37: error[KC2025]: no rule is called "a.b"
            4 |   - {id: a.c, forbid: no, replaces: a.b}
              |                                     ^^^ name a rule of an earlier folder

        """#),
    Mistake(
        .shareTooWide,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, share: ok, operations: all, subject: {user: u}, resource: {access-group: g}}

        """#,
        #"""
        p.yaml:4:38: error[KC2026]: a share can't name "all"
            4 |   - {id: a.b, share: ok, operations: all, subject: {user: u}, resource: {access-group: g}}
              |                                      ^^^ name the operations, "export" among them only where it is meant

        """#),
    Mistake(
        .shareTooWide,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, share: ok, operations: [sign, change-acl], subject: {user: u}, resource: {access-group: g}}

        """#,
        #"""
        p.yaml:4:45: error[KC2026]: a share can't name "change-acl"
            4 |   - {id: a.b, share: ok, operations: [sign, change-acl], subject: {user: u}, resource: {access-group: g}…
              |                                             ^^^^^^^^^^ name the operations, "export" among them only where it is meant

        """#),
    Mistake(
        .foreignGroup,
        #"""
        policy: v1
        name: n
        groups:
          - {id: a.g, group: "portal:org.example.App", members: {user: u}, mode: read}

        """#,
        #"""
        p.yaml:4:22: error[KC2027]: "portal:org.example.App" is a program's own group
            4 |   - {id: a.g, group: "portal:org.example.App", members: {user: u}, mode: read}
              |                      ^^^^^^^^^^^^^^^^^^^^^^^^ share its items by a rule, or choose another name

        """#),
    Mistake(
        .foreignGroup,
        #"""
        policy: v1
        name: n
        groups:
          - {id: a.g, group: "exe:/usr/bin/git", members: {user: u}, mode: read}

        """#,
        #"""
        p.yaml:4:22: error[KC2027]: "exe:/usr/bin/git" is a program's own group
            4 |   - {id: a.g, group: "exe:/usr/bin/git", members: {user: u}, mode: read}
              |                      ^^^^^^^^^^^^^^^^^^ share its items by a rule, or choose another name

        """#),
    Mistake(
        .wrongKind,
        #"""
        policy: v1
        name: n
        groups:
          - {id: a.g, group: g, members: {user: u}, mode: read, home: true}

        """#,
        #"""
        p.yaml:4:57: error[KC2006]: members that may only read have no home
            4 |   - {id: a.g, group: g, members: {user: u}, mode: read, home: true}
              |                                                         ^^^^ mode: write

        """#),
    Mistake(
        .wrongKind,
        #"""
        policy: v1
        name: n
        groups:
          - {id: a.g, group: g, members: [{user: u}, {user: u, session: seat}], home: true}

        """#,
        #"""
        p.yaml:4:73: error[KC2006]: a home is for programs, at all times and in all sessions
            4 | …, group: g, members: [{user: u}, {user: u, session: seat}], home: true}
              |                                                              ^^^^ name members by exe, unit, app, label, user or group alone

        """#),
    Mistake(
        .promptedOutsideLimit,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, when: {prompted: true}}

        """#,
        #"""
        p.yaml:4:34: error[KC2028]: "prompted" stands in a rule that is no limit
            4 |   - {id: a.b, forbid: no, when: {prompted: true}}
              |                                  ^^^^^^^^ whether a request prompts is known to limit rules only

        """#),
    Mistake(
        .unknownVersion,
        #"""
        policy: v2
        name: n

        """#,
        #"""
        p.yaml:1:9: error[KC2029]: unknown version of the language
            1 | policy: v2
              |         ^^ policy: v1

        """#),
    Mistake(
        .empty,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: []}

        """#,
        #"""
        p.yaml:4:39: error[KC2033]: operation is an empty list
            4 |   - {id: a.b, forbid: no, operations: []}
              |                                       ^ leave it out

        """#),
    Mistake(
        .empty,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {}}

        """#,
        #"""
        p.yaml:4:36: error[KC2033]: subject names no field
            4 |   - {id: a.b, forbid: no, subject: {}}
              |                                    ^ leave it out

        """#),
    Mistake(
        .empty,
        #"""
        policy: v1
        name: n
        rules:
          - id: a.b
            forbid: no
            unless:
              - {}

        """#,
        #"""
        p.yaml:7:9: error[KC2033]: an exception that names nothing would undo the rule
            7 |       - {}
              |         ^

        """#),
]
