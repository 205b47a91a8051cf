// SPDX-License-Identifier: Apache-2.0
import PolicySyntax

/// What a policy may say and should not.
let meaningMistakes: [Mistake] = [
    Mistake(
        .weakGrant,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, permit: ok, subject: {exe: /usr/bin/git}}

        """#,
        #"""
        p.yaml:4:10: warning[KC3012]: a.b permits what rests on facts that a program of the same user can forge
            4 |   - {id: a.b, permit: ok, subject: {exe: /usr/bin/git}}
              |          ^^^ add a user, unit, app or SELinux label; or trusted-exe: true beside exe

        """#),
    Mistake(
        .weakGrant,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, permit: ok, subject: {label: ["selinux:u:r:t:s0", "apparmor:x"]}}

        """#,
        #"""
        p.yaml:4:10: warning[KC3012]: a.b permits what rests on facts that a program of the same user can forge
            4 |   - {id: a.b, permit: ok, subject: {label: ["selinux:u:r:t:s0", "appa…
              |          ^^^ add a user, unit, app or SELinux label; or trusted-exe: true beside exe

        """#),
    Mistake(
        .weakShare,
        #"""
        policy: v1
        name: n
        groups:
          - {id: a.g, group: g, members: [{label: "apparmor:x"}]}

        """#,
        #"""
        p.yaml:4:35: error[KC3021]: a member rests on facts that a program of the same user can forge
            4 |   - {id: a.g, group: g, members: [{label: "apparmor:x"}]}
              |                                   ^ add a user, unit, app or SELinux label; or trusted-exe: true beside exe

        """#),
    Mistake(
        .chosenByCreator,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, permit: ok, resource: {label: x, account: y}}

        """#,
        #"""
        p.yaml:4:10: warning[KC3013]: a.b rests on a label or account, which the program that makes an item chooses
            4 |   - {id: a.b, permit: ok, resource: {label: x, account: y}}
              |          ^^^ add a subject, an access-group or a service

        """#),
    Mistake(
        .interpreter,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, permit: ok, subject: {user: u, exe: [/usr/bin/git, /usr/bin/python3.11]}}

        """#,
        #"""
        p.yaml:4:66: warning[KC3014]: /usr/bin/python3.11 runs whatever it is given
            4 | …id: a.b, permit: ok, subject: {user: u, exe: [/usr/bin/git, /usr/bin/python3.11]}}
              |                                                              ^^^^^^^^^^^^^^^^^^^ use a unit, an app or an SELinux label

        """#),
    Mistake(
        .userWritablePath,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, permit: ok, subject: {user: u, exe: /home/u/bin/tool}}

        """#,
        #"""
        p.yaml:4:51: warning[KC3015]: /home/u/bin/tool is where users can write
            4 |   - {id: a.b, permit: ok, subject: {user: u, exe: /home/u/bin/tool}}
              |                                                   ^^^^^^^^^^^^^^^^ install the program, or add trusted-exe: true

        """#),
    Mistake(
        .weakShare,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, share: ok, operations: sign, subject: {exe: /usr/bin/git}, resource: {access-group: g}}

        """#,
        #"""
        p.yaml:4:10: error[KC3021]: share a.b rests on facts that a program of the same user can forge
            4 |   - {id: a.b, share: ok, operations: sign, subject: {exe: /usr/bin/gi…
              |          ^^^ add a user, unit, app or SELinux label; or trusted-exe: true beside exe

        """#),
    Mistake(
        .weakShare,
        #"""
        policy: v1
        name: n
        groups:
          - {id: a.g, group: g, members: [{tty: true}]}

        """#,
        #"""
        p.yaml:4:35: error[KC3021]: a member rests on facts that a program of the same user can forge
            4 |   - {id: a.g, group: g, members: [{tty: true}]}
              |                                   ^ add a user, unit, app or SELinux label; or trusted-exe: true beside exe

        """#),
    Mistake(
        .broadShare,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, share: ok, operations: sign, subject: {user: u}, resource: {access-group: "**"}}

        """#,
        #"""
        p.yaml:4:89: warning[KC3022]: "*" shares the items of many programs
            4 | …rations: sign, subject: {user: u}, resource: {access-group: "**"}}
              |                                                              ^^^^ name the group; or add tags: [broad] where this is meant

        """#),
    Mistake(
        .complainTooLong,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, mode: complain, expires: 2027-06-01}

        """#,
        #"""
        p.yaml:4:52: error[KC3030]: complaining for 192 days
            4 |   - {id: a.b, forbid: no, mode: complain, expires: 2027-06-01}
              |                                                    ^^^^^^^^^^ at most 90

        """#),
    Mistake(
        .nobodyToAsk,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: passcode, subject: {session: service}}

        """#,
        #"""
        p.yaml:4:15: warning[KC3106]: no user can be asked where this rule matches
            4 |   - {id: a.b, require: passcode, subject: {session: service}}
              |               ^^^^^^^ it refuses; write forbid with a reason

        """#),
    Mistake(
        .freshnessBeyondBounds,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: passcode, within: 1h, scope: tty}

        """#,
        #"""
        p.yaml:4:42: warning[KC3107]: within 1h is more than scope tty allows
            4 |   - {id: a.b, require: passcode, within: 1h, scope: tty}
              |                                          ^^ 15m is what counts

        """#),
    Mistake(
        .freshnessBeyondBounds,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: passcode, within: 1h, scope: context, operations: export}

        """#,
        #"""
        p.yaml:4:42: warning[KC3107]: export and change-acl are always asked for anew
            4 |   - {id: a.b, require: passcode, within: 1h, scope: context, operations: export}
              |                                          ^^ 0s is what counts

        """#),
    Mistake(
        .unsatisfiable,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: {k: 3, of: [passcode, confirm]}}

        """#,
        #"""
        p.yaml:4:28: error[KC3108]: 3 of 2 can never be met
            4 |   - {id: a.b, require: {k: 3, of: [passcode, confirm]}}
              |                            ^ k is at most the number of constraints

        """#),
    Mistake(
        .impossibleName,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {user: ["!ann", bob]}}

        """#,
        #"""
        p.yaml:4:44: warning[KC3016]: "!ann" is taken letter by letter, with its "!"
            4 |   - {id: a.b, forbid: no, subject: {user: ["!ann", bob]}}
              |                                            ^^^^^^ say under unless what a rule is not about

        """#),
    Mistake(
        .unknownAttribute,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, redact: [acount, label, acct]}

        """#,
        #"""
        p.yaml:4:24: warning[KC3017]: no attribute is called "acount", so none is left out
            4 |   - {id: a.b, redact: [acount, label, acct]}
              |                        ^^^^^^ did you mean "account"?

        """#),
    Mistake(
        .reasonIsNoText,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: false, operations: sign}

        """#,
        #"""
        p.yaml:4:23: warning[KC3025]: "false" is the reason of this forbid, and no condition
            4 |   - {id: a.b, forbid: false, operations: sign}
              |                       ^^^^^ remove the rule: as it stands, it counts

        """#),
    Mistake(
        .contradiction,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: sign, resource: {class: generic-password}}

        """#,
        #"""
        p.yaml:4:39: warning[KC3018]: only items of the class key can do this, and the class is another
            4 |   - {id: a.b, forbid: no, operations: sign, resource: {class: generic-password}}
              |                                       ^^^^ name other operations, or class: key

        """#),
    Mistake(
        .unusedDefinition,
        #"""
        policy: v1
        name: n
        define: {git: {exe: /usr/bin/git}}
        rules:
          - {id: a.b, forbid: no, subject: {exe: /usr/bin/git}}

        """#,
        #"""
        p.yaml:3:10: warning[KC3019]: no rule uses the definition "git"
            3 | define: {git: {exe: /usr/bin/git}}
              |          ^^^ remove it, or name it in a subject, as {use: git}

        """#),
]
