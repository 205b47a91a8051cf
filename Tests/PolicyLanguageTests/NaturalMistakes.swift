// SPDX-License-Identifier: Apache-2.0

/// A file as people write it who know another system, and what `check` answers.
struct NaturalMistake: Sendable, CustomStringConvertible {
    let code: Int
    let line: Int
    let yaml: String
    /// Words of the answer.
    let answer: String

    var description: String { "KC\(code): \(answer)" }

    init(_ code: Int, line: Int, _ yaml: String, _ answer: String) {
        (self.code, self.line, self.yaml, self.answer) = (code, line, yaml, answer)
    }

    /// Part of a file behind its head.
    static func part(_ code: Int, line: Int = 3, _ text: String, _ answer: String) -> Self {
        Self(code, line: line, "policy: v1\nname: n\n\(text)\n", answer)
    }

    static func rule(_ code: Int, _ text: String, _ answer: String) -> Self {
        part(code, line: 4, "rules:\n  - {id: a.b, \(text)}", answer)
    }

    static func subject(_ code: Int, _ text: String, _ answer: String) -> Self {
        rule(code, "forbid: no, subject: {\(text)}", answer)
    }

    static func resource(_ code: Int, _ text: String, _ answer: String) -> Self {
        rule(code, "forbid: no, resource: {\(text)}", answer)
    }

    static func when(_ code: Int, _ text: String, _ answer: String) -> Self {
        rule(code, "forbid: no, when: {\(text)}", answer)
    }

    static func proof(_ code: Int, _ text: String, _ answer: String) -> Self {
        rule(code, "operations: sign, require: \(text)", answer)
    }

    static func test(
        _ code: Int, _ request: String, expect: String = "{decision: deny}", _ answer: String
    ) -> Self {
        part(
            code, line: 6,
            """
            rules:
              - {id: a.b, forbid: no, operations: sign}
            tests:
              - {name: t, request: \(request), expect: \(expect)}
            """, answer)
    }
}

let naturalMistakes: [NaturalMistake] =
    ofSudo + ofPolkit + ofSecurityModules + ofCedarAndRego + ofIAMAndRBAC + ofApple + ofProofs
    + ofDays
    + ofNames + ofForm + ofTests

private let ofSudo: [NaturalMistake] = [
    .subject(3016, "user: \"%wheel\"", "write group: wheel"),
    .subject(3016, "user: \"#1000\"", "write uid: 1000"),
    .subject(3016, "user: ALL", "leave it out for all"),
    .subject(3016, "user: \"ann, bob\"", "write a list: [ann, bob]"),
    .subject(3016, "user: '!ann'", "say under unless"),
    .subject(1007, "user: !ann", "quote a text that begins with \"!\""),
    .subject(3016, "group: 1000", "write the group's name"),
    .subject(3016, "user: 1000", "write uid: 1000"),
    .subject(2012, "uid: root", "write user: root"),
    .subject(2012, "uid: \">=1000\"", "decimal digits, or two joined by \"-\""),
    .subject(3016, "exe: /usr/bin/git push", "write the path alone"),
    .subject(3016, "exe: /usr/bin/", "write /usr/bin/*"),
    .subject(3016, "exe: git", "write a path as /usr/bin/git"),
    .subject(3016, "exe: \"/usr/bin/pg_[a-z]*\"", "only \"*\" stands for anything"),
    .subject(2003, "command: /usr/bin/git", "did you mean \"exe\"?"),
    .rule(2007, "forbid: no, operations: ALL", "did you mean \"all\"?"),
    .rule(2001, "operations: sign, nopasswd: true", "a rule asks only for what it names"),
    .rule(2001, "permit: ok, runas: root", "subject: {user: NAME} is the user who asks"),
    .rule(2001, "permit: ok, notafter: 2027-01-31", "did you mean \"until\"?"),
    .rule(2001, "require: passcode, timestamp_timeout: 5", "did you mean \"within\"?"),
    .part(2001, "User_Alias: {ops: [ann]}", "did you mean \"define\"?"),
    .part(2001, "include: /etc/keychain/local", "every *.yaml file of the folder is read"),
]

private let ofPolkit: [NaturalMistake] = [
    .rule(2001, "action: sign, forbid: no", "did you mean \"operations\"?"),
    .rule(2001, "result: auth_admin", "the effect is the key, with a reason"),
    .proof(2007, "auth_self_keep", "did you mean \"passcode\"?"),
    .proof(2007, "auth_admin", "{approval: [ann, bob]}"),
    .subject(2003, "active: true", "it belongs under \"when\""),
    .subject(2007, "session: local", "did you mean \"seat\"?"),
    .when(2013, "remote: yes", "true or false"),
]

private let ofSecurityModules: [NaturalMistake] = [
    .subject(2015, "label: httpd_t", "as selinux:LABEL"),
    .subject(2003, "type: httpd_t", "did you mean \"label\"?"),
    .part(2001, "neverallow: []", "did you mean \"assert\"?"),
    .rule(2007, "forbid: no, mode: permissive, expires: 2026-12-01", "did you mean \"complain\"?"),
    .rule(2024, "forbid: no, mode: complain", "add expires: YYYY-MM-DD"),
    .rule(2007, "audit: none", "decision or full"),
]

private let ofCedarAndRego: [NaturalMistake] = [
    NaturalMistake(
        2006, line: 1, "permit(principal, action, resource);\n", "begin with policy: v1"),
    .rule(2001, "allow: ok", "did you mean \"permit\"?"),
    .rule(2001, "permit: ok, principal: {user: ann}", "did you mean \"subject\"?"),
    .rule(2006, "permit: ok, subject: ann", "as {user: ann}"),
    .rule(2006, "permit: ok, resource: mail", "as {service: mail}"),
    .rule(2006, "forbid: no, unless: {subject: {user: ann}}", "begin each with \"- \""),
    .rule(2001, "forbid: no, unless: [{user: ann}]", "it belongs under \"subject\""),
    .rule(3025, "permit: false", "remove the rule"),
    .rule(3025, "permit: read-secret", "write operations: read-secret"),
    .rule(2006, "permit: [read-secret]", "operations, subject and resource say about what"),
    .rule(3024, "forbid: by default", "name operations, a subject, a resource or when"),
    .when(2005, "user: ann", "it belongs under \"subject\""),
    .when(2005, "ip: 10.0.0.0/8", "a login from elsewhere"),
    .resource(3016, "service: \"${user}\"", "write the value itself"),
    .part(2001, "default: deny", "closed: names what needs a permit"),
    .part(2001, "package: keychain", "did you mean \"name\"?"),
]

private let ofIAMAndRBAC: [NaturalMistake] = [
    NaturalMistake(
        2001, line: 1, "Version: 2012-10-17\nStatement: []\n", "did you mean \"policy\"?"),
    NaturalMistake(2001, line: 1, "apiVersion: v1\nkind: Role\n", "begin with policy: v1"),
    .rule(2001, "Effect: Allow", "permit: REASON"),
    .rule(2001, "forbid: no, NotAction: sign", "did you mean \"unless\"?"),
    .rule(2001, "permit: ok, verbs: [get]", "did you mean \"operations\"?"),
    .rule(2007, "permit: ok, operations: [get]", "did you mean \"read-secret\"?"),
    .rule(2007, "permit: ok, operations: \"*\"", "did you mean \"all\"?"),
    .rule(1006, "permit: ok, operations: *", "quote a pattern that begins with \"*\""),
    .rule(2001, "permit: ok, priority: 10", "rules have no order"),
    .rule(2001, "permit: ok, enabled: false", "mode: complain has it only report"),
    .subject(2003, "role: ops", "did you mean \"group\"?"),
    .part(2006, "rules: {a.b: {forbid: no}}", "begin each with \"- \""),
    .part(2006, line: 4, "groups:\n  - {id: a.g, group: g, members: [ann]}", "as {user: ann}"),
    .part(
        3104, line: 4, "rules:\n  - {id: a.b, permit: ok, subject: {user: ann}}", "changes nothing"),
]

private let ofApple: [NaturalMistake] = [
    .rule(2007, "forbid: no, operations: SecItemCopyMatching", "did you mean \"read-secret\"?"),
    .rule(2007, "forbid: no, operations: SecKeyCreateSignature", "did you mean \"sign\"?"),
    .resource(2004, "kSecAttrService: mail", "did you mean \"service\"?"),
    .resource(2007, "class: kSecClassGenericPassword", "did you mean \"generic-password\"?"),
    .resource(
        2007, "accessible: kSecAttrAccessibleWhenUnlocked", "did you mean \"when-unlocked\"?"),
    .resource(2006, "flags: [user-presence]", "as {has: [user-presence]}"),
    .resource(2007, "flags: {has: biometryAny}", "did you mean \"biometry-any\"?"),
    .resource(3016, "class: identity", "[certificate, key]"),
    .resource(3016, "access-group: /usr/bin/git", "write exe:/usr/bin/git"),
    .resource(3016, "access-group: backup.service", "write unit:backup.service"),
    .rule(
        3018, "forbid: no, operations: sign, resource: {class: generic-password}",
        "name other operations, or class: key"),
    .rule(3017, "redact: [acount]", "did you mean \"account\"?"),
]

private let ofProofs: [NaturalMistake] = [
    .proof(2007, "password", "did you mean \"passcode\"?"),
    .proof(2007, "touch", "did you mean \"presence\"?"),
    .proof(2007, "yubikey", "did you mean \"companion\"?"),
    .proof(2007, "otp", "{pam: keychain-otp}"),
    .proof(2007, "mfa", "{all: [passcode, companion]}"),
    .proof(2007, "none", "leave the rule out"),
    .proof(2017, "[passcode, companion]", "{any: […]}, {all: […]} or {k: n, of: […]}"),
    .proof(2001, "{or: [passcode, companion]}", "did you mean \"any\"?"),
    .proof(3108, "{k: 3, of: [passcode, companion]}", "k is at most"),
    .proof(2018, "{pam: sudo}", "its name begins with \"keychain-\""),
    .proof(2017, "{approval: \"%ops\"}", "name each person"),
    .proof(2017, "{approval: \"@ops\"}", "name each person"),
    .proof(2006, "{approval: {group: ops}}", "name each person"),
    .proof(2009, "passcode, within: 5 minutes", "digits and ms, s, m, h or d, as 15m"),
    .proof(2009, "passcode, within: 300", "digits and ms, s, m, h or d, as 15m"),
    .proof(3107, "passcode, within: 8h, scope: tty", "15m is what counts"),
    .proof(2007, "passcode, scope: login", "did you mean \"session\"?"),
    .proof(3106, "confirm, subject: {session: ssh}", "require another proof"),
    .rule(2001, "forbid: no, within: 5m", "remove it"),
    .rule(2006, "limit: 5/1m", "as {rate: 30/1m, by: [user], then: deny}"),
    .rule(2019, "limit: {rate: 5 per minute, by: user, then: deny}", "as 30/1m"),
    .rule(2007, "limit: {rate: 5/1m, by: user, then: block}", "did you mean \"deny\"?"),
]

private let ofDays: [NaturalMistake] = [
    .rule(2010, "permit: ok, until: 31.12.2026", "YYYY-MM-DD"),
    .rule(2010, "permit: ok, until: 2026-12-31T18:00", "YYYY-MM-DD"),
    .rule(2010, "permit: ok, until: tomorrow", "YYYY-MM-DD"),
    .rule(2023, "permit: ok, expires: 2027-01-31", "a rule ends with until: YYYY-MM-DD"),
    .when(2005, "date: 2026-12-31", "from and until, beside the id"),
    .when(2005, "hours: 9-17", "did you mean \"time\"?"),
    .when(2011, "time: 9-17", "HH:MM-HH:MM"),
    .when(2011, "time: {between: \"8:00-18:00\"}", "HH:MM-HH:MM"),
    .when(2006, "time: {between: [\"08:00\", \"18:00\"]}", "HH:MM-HH:MM"),
    .when(2007, "time: {days: weekdays}", "or two joined by \"-\""),
    .when(2007, "time: {days: Monday}", "did you mean \"mon\"?"),
    .when(2007, "time: {days: Mon-Fri}", "did you mean \"mon-fri\"?"),
]

private let ofNames: [NaturalMistake] = [
    .subject(3016, "user: '^ann.*$'", "\"*\" stands for any text"),
    .subject(3016, "user: “ann”", "use \" or '"),
    .subject(3016, "unit: nginx", "write a unit as nginx.service"),
    .subject(3016, "unit: runner@.service", "\"runner@*.service\" stands for all"),
    .subject(2015, "app: org.mozilla.firefox", "as flatpak:ID or snap:ID"),
    .subject(2003, "user:ann", "with a space behind the colon"),
    .subject(2003, "users: ann", "did you mean \"user\"?"),
    .subject(2021, "use: admins", "define it under"),
    .resource(3016, "server: 'https://github.com'", "name the host alone"),
    .resource(3016, "server: \"github.com:443\"", "name the host alone"),
    .resource(3016, "protocol: HTTPS", "write https"),
    .resource(2014, "service: \"*bank\"", "only \"*.suffix\" may begin with a star"),
    .rule(3018, "forbid: no, subject: {session: ssh}, when: {remote: false}", "leave out remote"),
    .rule(3012, "permit: ok, subject: {exe: /usr/bin/git}", "trusted-exe: true beside exe"),
    .rule(3014, "permit: ok, subject: {exe: /usr/bin/python3, user: ann}", "use a unit"),
    .rule(3013, "permit: ok, resource: {account: ann}", "add a subject, an access-group"),
    .rule(2002, "share: ok, operations: sign, subject: {user: ann}", "say which group it shares"),
    .part(
        2027, line: 4, "groups:\n  - {id: a.g, group: \"exe:/bin/a\", members: {user: u}}",
        "share its items"),
    .part(3019, "define: {ops: {user: ann}}\nrules: []", "{use: ops}"),
]

private let ofForm: [NaturalMistake] = [
    .part(1010, line: 4, "rules:\n\t- {id: a.b, forbid: no}", "use spaces"),
    .part(
        1014, line: 5, "rules:\n  - id: a.b\n   forbid: no", "indent what belongs together alike"),
    .part(
        1014, line: 5, "rules:\n  - id: a.b\n    forbid: not here: elsewhere",
        "quote a text that has \": \""),
    .part(
        1011, line: 6, "rules:\n  - id: a.b\n    forbid: no\n    \"forbid\": never",
        "remove one of them"),
    .part(
        2020, line: 5, "rules:\n  - {id: a.b, forbid: no}\n  - {id: a.b, forbid: no}", "by p.yaml:4"
    ),
    .part(2008, line: 4, "rules:\n  - {id: my rule, forbid: no}", "letters and digits, joined by"),
    .part(2002, line: 4, "rules:\n  - {forbid: no}", "add id: NAME"),
    .part(2033, line: 4, "rules:\n  - {id: a.b, forbid: no, operations: []}", "leave it out"),
    .part(2016, line: 4, "rules:\n  - {id: a.b, operations: sign}", "add one of: permit, forbid"),
    NaturalMistake(2029, line: 1, "policy: 1\nname: n\n", "policy: v1"),
]

private let ofTests: [NaturalMistake] = [
    .test(2006, "{operation: sign}", expect: "deny", "as {decision: allow}"),
    .test(2007, "{operation: sign}", expect: "{decision: forbid}", "did you mean \"deny\"?"),
    .test(2001, "{action: sign}", "did you mean \"operation\"?"),
    .test(2003, "{operation: sign, subject: {remote: true}}", "it belongs under \"when\""),
    .test(2031, "{operation: sign, subject: {group: [ops, unknown!]}}", "write group: unknown!"),
    .test(
        2006, "{operation: sign, evidence: [passcode]}", "as {passcode: {age: 2m, scope: process}}"),
    .test(
        2001, "{operation: sign, evidence: {\"pam:keychain-otp\": {scope: tty}}}",
        "as {pam: {keychain-otp: "),
    .test(2002, "{operation: sign, evidence: {passcode: {age: 1m}}}", "the narrowest one"),
    .test(2010, "{operation: sign, at: \"09:00\"}", "YYYY-MM-DDTHH:MM, local time"),
    .test(4001, "{operation: sign}", expect: "{decision: allow}", "got deny"),
    .test(
        2032, "{operation: sign}", expect: "{decision: deny, because: [a.c]}",
        "did you mean \"a.b\"?"),
]
