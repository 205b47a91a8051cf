// SPDX-License-Identifier: Apache-2.0
import PolicySyntax

/// What is wrong with tests.
let testMistakes: [Mistake] = [
    Mistake(
        .wrongMember,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no}
        tests:
          - name: t
            request: {operation: sign, subject: {unit: a.service, member: true}, resource: {access-group: "unit:b.service"}}
            expect: {decision: deny}

        """#,
        #"""
        p.yaml:7:67: warning[KC3020]: the access group is another program's
            7 | …quest: {operation: sign, subject: {unit: a.service, member: true}, resource: {access-group: "unit:b.service"}}
              |                                                              ^^^^ member: false is what the keychain service finds; it can be left out

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign}}

        """#,
        #"""
        p.yaml:6:5: error[KC2002]: a test without "expect"
            6 |   - {name: t, request: {operation: sign}}
              |     ^ add it

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign}, expect: {}}

        """#,
        #"""
        p.yaml:6:51: error[KC2002]: an expectation without "decision"
            6 |   - {name: t, request: {operation: sign}, expect: {}}
              |                                                   ^ one of: allow, deny, challenge, interaction-not-allowed

        """#),
    Mistake(
        .missingKey,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign, evidence: {passcode: {age: 1m}}}, expect: {decision: allow}}

        """#,
        #"""
        p.yaml:6:63: error[KC2002]: a proof without "scope"
            6 | …- {name: t, request: {operation: sign, evidence: {passcode: {age: 1m}}}, expect: {decision: allow}}
              |                                                              ^ the narrowest one it shares with the request: operation, context, process, tty, session

        """#),
    Mistake(
        .badTest,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign, before: {}}, expect: {decision: allow}}

        """#,
        #"""
        p.yaml:6:42: error[KC2031]: "before" in a request that is no update
            6 |   - {name: t, request: {operation: sign, before: {}}, expect: {decision: allow}}
              |                                          ^^^^^^ only an update has an item as it was

        """#),
    Mistake(
        .badTest,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign}, each: {label: [x]}, expect: {decision: allow}}

        """#,
        #"""
        p.yaml:6:50: error[KC2031]: "label" is in several blocks
            6 |   - {name: t, request: {operation: sign}, each: {label: [x]}, expect: {decision: allow}}
              |                                                  ^^^^^ subject.label or resource.label

        """#),
    Mistake(
        .badTest,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign}, each: {session: [seat, ssh]}, expect: [{decision: allow}]}

        """#,
        #"""
        p.yaml:6:81: error[KC2031]: 1 expectations for 2 rows
            6 | …t: {operation: sign}, each: {session: [seat, ssh]}, expect: [{decision: allow}]}
              |                                                              ^ one, or one a row

        """#),
    Mistake(
        .badTest,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign}, each: {session: [seat, ssh], user: [u]}, expect: {decision: allow}}

        """#,
        #"""
        p.yaml:6:72: error[KC2031]: "user" has 1 values
            6 | …t, request: {operation: sign}, each: {session: [seat, ssh], user: [u]}, expect: {decision: allow}}
              |                                                              ^^^^ each field of a table has as many values as the others

        """#),
    Mistake(
        .unknownSubjectField,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: sign, subject: {usr: x}}, expect: {decision: allow}}

        """#,
        #"""
        p.yaml:6:52: error[KC2003]: unknown fact "usr"
            6 |   - {name: t, request: {operation: sign, subject: {usr: x}}, expect: {decision: allow}}
              |                                                    ^^^ did you mean "user"?

        """#),
    Mistake(
        .unknownRule,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - {name: t, request: {operation: export}, expect: {decision: deny, because: [a.c]}}

        """#,
        #"""
        p.yaml:6:12: error[KC4001]: the test "t" fails
            6 |   - {name: t, request: {operation: export}, expect: {decision: deny, be…
              |            ^
           = because: expected [a.c], got [a.b]
           = deny: a.b (p.yaml:4)
        p.yaml:6:80: error[KC2032]: no rule is called "a.c"
            6 | …st: {operation: export}, expect: {decision: deny, because: [a.c]}}
              |                                                              ^^^ did you mean "a.b"?

        """#),
    Mistake(
        .failedTest,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: export}
        tests:
          - name: export is fine
            request: {operation: export}
            expect: {decision: allow, because: [], audit: full}

        """#,
        #"""
        p.yaml:6:11: error[KC4001]: the test "export is fine" fails
            6 |   - name: export is fine
              |           ^^^^^^^^^^^^^^
           = decision: expected allow, got deny
           = because: expected [], got [a.b]
           = audit: expected full, got decision
           = deny: a.b (p.yaml:4)

        """#),
]
