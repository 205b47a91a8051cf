// SPDX-License-Identifier: Apache-2.0
import PolicySyntax

/// Values that a field does not take.
let fieldMistakes: [Mistake] = [
    Mistake(
        .unknownSubjectField,
        #"""
        policy: v1
        name: n
        rules:
          - id: a.b
            forbid: no
            subject: {exec: /usr/bin/git}

        """#,
        #"""
        p.yaml:6:15: error[KC2003]: unknown subject field "exec"
            6 |     subject: {exec: /usr/bin/git}
              |               ^^^^ did you mean "exe"?

        """#),
    Mistake(
        .unknownResourceField,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, resource: {clas: key}}

        """#,
        #"""
        p.yaml:4:38: error[KC2004]: unknown resource field "clas"
            4 |   - {id: a.b, forbid: no, resource: {clas: key}}
              |                                      ^^^^ did you mean "class"?

        """#),
    Mistake(
        .unknownConditionField,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, when: {screen: locked}}

        """#,
        #"""
        p.yaml:4:34: error[KC2005]: unknown field of when "screen"
            4 |   - {id: a.b, forbid: no, when: {screen: locked}}
              |                                  ^^^^^^ did you mean "screen-locked"?

        """#),
    Mistake(
        .wrongKind,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: [no]}

        """#,
        #"""
        p.yaml:4:23: error[KC2006]: the reason is a list, not a word
            4 |   - {id: a.b, forbid: [no]}
              |                       ^ a text for people; operations, subject and resource say about what

        """#),
    Mistake(
        .wrongKind,
        #"""
        policy: v1
        name: n
        rules: {id: a.b}

        """#,
        #"""
        p.yaml:3:8: error[KC2006]: rules is a mapping, not a list
            3 | rules: {id: a.b}
              |        ^ begin each with "- "

        """#),
    Mistake(
        .wrongKind,
        #"""
        policy: v1
        name: n
        rules:
          - a.b

        """#,
        #"""
        p.yaml:4:5: error[KC2006]: a rule is a word, not a mapping
            4 |   - a.b
              |     ^^^ as {id: NAME, forbid: REASON, subject: {user: ann}}

        """#),
    Mistake(
        .unknownWord,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, operations: [read-secrets]}

        """#,
        #"""
        p.yaml:4:40: error[KC2007]: unknown operation "read-secrets"
            4 |   - {id: a.b, forbid: no, operations: [read-secrets]}
              |                                        ^^^^^^^^^^^^ did you mean "read-secret"?

        """#),
    Mistake(
        .unknownWord,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {session: desktop}}

        """#,
        #"""
        p.yaml:4:46: error[KC2007]: unknown session "desktop"
            4 |   - {id: a.b, forbid: no, subject: {session: desktop}}
              |                                              ^^^^^^^ did you mean "seat"?

        """#),
    Mistake(
        .unknownWord,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, resource: {class: password}}

        """#,
        #"""
        p.yaml:4:45: error[KC2007]: unknown class "password"
            4 |   - {id: a.b, forbid: no, resource: {class: password}}
              |                                             ^^^^^^^^ did you mean "generic-password"?

        """#),
    Mistake(
        .unknownWord,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, resource: {accessible: when-unlock}}

        """#,
        #"""
        p.yaml:4:50: error[KC2007]: unknown accessible "when-unlock"
            4 |   - {id: a.b, forbid: no, resource: {accessible: when-unlock}}
              |                                                  ^^^^^^^^^^^ did you mean "when-unlocked"?

        """#),
    Mistake(
        .unknownWord,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, resource: {flags: {has: user-presense}}}

        """#,
        #"""
        p.yaml:4:51: error[KC2007]: unknown flag "user-presense"
            4 |   - {id: a.b, forbid: no, resource: {flags: {has: user-presense}}}
              |                                                   ^^^^^^^^^^^^^ did you mean "user-presence"?

        """#),
    Mistake(
        .unknownWord,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, audit: none}

        """#,
        #"""
        p.yaml:4:22: error[KC2007]: a decision can't be left out of the audit
            4 |   - {id: a.b, audit: none}
              |                      ^^^^ decision or full

        """#),
    Mistake(
        .badIdentifier,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a..b, forbid: no}

        """#,
        #"""
        p.yaml:4:10: error[KC2008]: the id "a..b" is no identifier
            4 |   - {id: a..b, forbid: no}
              |          ^^^^ letters and digits, joined by ".", "-" or "_"; at most 128 bytes

        """#),
    Mistake(
        .badIdentifier,
        #"""
        policy: v1
        name: a name

        """#,
        #"""
        p.yaml:2:7: error[KC2008]: the name "a name" is no identifier
            2 | name: a name
              |       ^^^^^^ letters and digits, joined by ".", "-" or "_"; at most 128 bytes

        """#),
    Mistake(
        .badDuration,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: passcode, within: 5 minutes}

        """#,
        #"""
        p.yaml:4:42: error[KC2009]: within "5 minutes" is no duration
            4 |   - {id: a.b, require: passcode, within: 5 minutes}
              |                                          ^^^^^^^^^ digits and ms, s, m, h or d, as 15m

        """#),
    Mistake(
        .badDuration,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, when: {session-age: {min: 2h, max: 1h}}}

        """#,
        #"""
        p.yaml:4:47: error[KC2009]: when.session-age has a min that is more than its max
            4 |   - {id: a.b, forbid: no, when: {session-age: {min: 2h, max: 1h}}}
              |                                               ^

        """#),
    Mistake(
        .badDate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, mode: complain, expires: 2026-02-30}

        """#,
        #"""
        p.yaml:4:52: error[KC2010]: expires "2026-02-30" is no date
            4 |   - {id: a.b, forbid: no, mode: complain, expires: 2026-02-30}
              |                                                    ^^^^^^^^^^ YYYY-MM-DD

        """#),
    Mistake(
        .badDate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, from: 2026-13-01}

        """#,
        #"""
        p.yaml:4:33: error[KC2010]: from "2026-13-01" is no date
            4 |   - {id: a.b, forbid: no, from: 2026-13-01}
              |                                 ^^^^^^^^^^ YYYY-MM-DD

        """#),
    Mistake(
        .badDate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, until: 31.12.2026}

        """#,
        #"""
        p.yaml:4:34: error[KC2010]: until "31.12.2026" is no date
            4 |   - {id: a.b, forbid: no, until: 31.12.2026}
              |                                  ^^^^^^^^^^ YYYY-MM-DD

        """#),
    Mistake(
        .badDate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, until: 2026-12-31T18:00:00Z}

        """#,
        #"""
        p.yaml:4:34: error[KC2010]: until "2026-12-31T18:00:00Z" is no date
            4 |   - {id: a.b, forbid: no, until: 2026-12-31T18:00:00Z}
              |                                  ^^^^^^^^^^^^^^^^^^^^ YYYY-MM-DD

        """#),
    Mistake(
        .badDate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, from: 1969-12-31}

        """#,
        #"""
        p.yaml:4:33: error[KC2010]: from 1969-12-31 is not in the years 2000 to 2999
            4 |   - {id: a.b, forbid: no, from: 1969-12-31}
              |                                 ^^^^^^^^^^ leave it out where there is no such bound

        """#),
    Mistake(
        .badDate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, until: 9999-12-31}

        """#,
        #"""
        p.yaml:4:34: error[KC2010]: until 9999-12-31 is not in the years 2000 to 2999
            4 |   - {id: a.b, forbid: no, until: 9999-12-31}
              |                                  ^^^^^^^^^^ leave it out where there is no such bound

        """#),
    Mistake(
        .badDate,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, from: 2027-01-31, until: 2027-01-30}

        """#,
        #"""
        p.yaml:4:52: error[KC2010]: until 2027-01-30 is before from 2027-01-31
            4 |   - {id: a.b, forbid: no, from: 2027-01-31, until: 2027-01-30}
              |                                                    ^^^^^^^^^^ both days count, so until is the same day or a later one

        """#),
    Mistake(
        .badWindow,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, when: {time: {between: 25:00-26:00}}}

        """#,
        #"""
        p.yaml:4:50: error[KC2011]: "25:00-26:00" is no window of time
            4 |   - {id: a.b, forbid: no, when: {time: {between: 25:00-26:00}}}
              |                                                  ^^^^^^^^^^^ HH:MM-HH:MM

        """#),
    Mistake(
        .badWindow,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, when: {time: {days: mon-fri, between: 08:00-08:00}}}

        """#,
        #"""
        p.yaml:4:65: error[KC2011]: a window whose ends are equal
            4 | …{id: a.b, forbid: no, when: {time: {days: mon-fri, between: 08:00-08:00}}}
              |                                                              ^^^^^^^^^^^ 00:00-24:00 is the whole day

        """#),
    Mistake(
        .unknownWord,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, when: {time: {days: [mon, tues]}}}

        """#,
        #"""
        p.yaml:4:53: error[KC2007]: unknown day "tues"
            4 |   - {id: a.b, forbid: no, when: {time: {days: [mon, tues]}}}
              |                                                     ^^^^ did you mean "tue"?

        """#),
    Mistake(
        .badNumber,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {uid: [0x10]}}

        """#,
        #"""
        p.yaml:4:43: error[KC2012]: "0x10" is no uid
            4 |   - {id: a.b, forbid: no, subject: {uid: [0x10]}}
              |                                           ^^^^ decimal digits, or two joined by "-", the smaller first

        """#),
    Mistake(
        .badNumber,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {uid: 2000-1000}}

        """#,
        #"""
        p.yaml:4:42: error[KC2012]: "2000-1000" is no uid
            4 |   - {id: a.b, forbid: no, subject: {uid: 2000-1000}}
              |                                          ^^^^^^^^^ decimal digits, or two joined by "-", the smaller first

        """#),
    Mistake(
        .badNumber,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, require: {k: 0, of: [passcode]}}

        """#,
        #"""
        p.yaml:4:28: error[KC2012]: k "0" is no number from 1
            4 |   - {id: a.b, require: {k: 0, of: [passcode]}}
              |                            ^

        """#),
    Mistake(
        .badBoolean,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, when: {remote: yes}}

        """#,
        #"""
        p.yaml:4:42: error[KC2013]: when.remote is neither true nor false
            4 |   - {id: a.b, forbid: no, when: {remote: yes}}
              |                                          ^^^ true or false

        """#),
    Mistake(
        .badPattern,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, resource: {server: "*corp"}}

        """#,
        #"""
        p.yaml:4:46: error[KC2014]: "*corp" is no pattern
            4 |   - {id: a.b, forbid: no, resource: {server: "*corp"}}
              |                                              ^^^^^^^ only "*.suffix" may begin with a star

        """#),
    Mistake(
        .badPattern,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, resource: {service: a**b}}

        """#,
        #"""
        p.yaml:4:47: error[KC2014]: "a**b" is no pattern
            4 |   - {id: a.b, forbid: no, resource: {service: a**b}}
              |                                               ^^^^ "**" may stand at the end only

        """#),
    Mistake(
        .badForm,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {digest: "sha256:12"}}

        """#,
        #"""
        p.yaml:4:45: error[KC2015]: "sha256:12" is no digest
            4 |   - {id: a.b, forbid: no, subject: {digest: "sha256:12"}}
              |                                             ^^^^^^^^^^^ as sha256: and 64 hexadecimal digits in lower case

        """#),
    Mistake(
        .badForm,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {app: org.mozilla.firefox}}

        """#,
        #"""
        p.yaml:4:42: error[KC2015]: "org.mozilla.firefox" is no app
            4 |   - {id: a.b, forbid: no, subject: {app: org.mozilla.firefox}}
              |                                          ^^^^^^^^^^^^^^^^^^^ as flatpak:ID or snap:ID

        """#),
    Mistake(
        .badForm,
        #"""
        policy: v1
        name: n
        rules:
          - {id: a.b, forbid: no, subject: {label: confined}}

        """#,
        #"""
        p.yaml:4:44: error[KC2015]: "confined" is no label
            4 |   - {id: a.b, forbid: no, subject: {label: confined}}
              |                                            ^^^^^^^^ as selinux:LABEL or apparmor:LABEL

        """#),
]
