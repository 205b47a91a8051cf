// SPDX-License-Identifier: Apache-2.0
import PolicySyntax
import PolicyTools
import Testing

struct LintTests {
    private func lint(
        _ text: String, on machine: ((PolicyLint.Name) -> Bool)? = nil
    ) -> [String] {
        PolicyLint(load(text), today: testDay, on: machine).diagnostics.filter {
            $0.code != .untested
        }
        .map(\.text)
    }

    @Test func `a rule without a test is told`() {
        let text = rules("  - {id: a.b, forbid: no, operations: sign}\n")
        let found = PolicyLint(load(text), today: testDay).diagnostics
        #expect(
            found.map(\.text) == [
                """
                p.yaml:4:10: warning[KC3301]: no test meets a.b
                    4 |   - {id: a.b, forbid: no, operations: sign}
                      |          ^^^

                """
            ])
    }

    @Test func `a rule that says what another says is told`() {
        let text = rules(
            "  - {id: a.b, forbid: no, operations: sign}\n"
                + "  - {id: a.c, forbid: never, operations: sign}\n")
        #expect(
            lint(text) == [
                """
                p.yaml:5:10: warning[KC3103]: rule a.c says what another says
                    5 |   - {id: a.c, forbid: never, operations: sign}
                      |          ^^^
                   = a.b (p.yaml:4)

                """
            ])
    }

    @Test func `a rule that is over is told, and none that ends soon`() {
        let text = rules(
            "  - {id: a.b, forbid: no, operations: sign, until: 2026-11-20}\n"
                + "  - {id: a.c, forbid: no, operations: add, until: 2026-11-21}\n"
                + "  - {id: a.d, forbid: no, operations: delete, from: 2026-11-22}\n")
        #expect(
            lint(text) == [
                """
                p.yaml:4:10: warning[KC3110]: a.b ended on 2026-11-20
                    4 |   - {id: a.b, forbid: no, operations: sign, until: 2026-11-20}
                      |          ^^^ remove it, or change until

                """
            ])
    }

    @Test func `a member and a scope that are over are told`() {
        let found = lint(
            """
            policy: v1
            name: n
            groups:
              - {id: a.g, group: g, members: {user: ann}, until: 2026-11-01}
            closed:
              - {id: a.s, resource: {access-group: g}, until: 2026-11-02}

            """)
        #expect(found.count { $0.contains("warning[KC3110]") } == 2)
        #expect(found.count == 2)
    }

    @Test(arguments: [
        ("operations: read-secret, subject: {pam-service: sshd}", "subject.pam-service", "unlock"),
        ("operations: write, resource: {protector: tpm2}", "resource.protector", "unlock"),
    ])
    func `a rule on what another operation has is told`(
        _ rule: String, _ field: String, _ operation: String
    ) {
        let found = lint(rules("  - {id: a.b, forbid: no, \(rule)}\n")).joined()
        #expect(found.contains("warning[KC3101]: rule a.b matches nothing"))
        #expect(found.contains("= \(field) is known of \(operation) only"))
    }

    @Test(arguments: [
        "subject: {exe: /bin/a}", "resource: {class: key}", "subject: {member: false}",
        "resource: {flags: {has: [companion]}}",
    ])
    func `a rule on a program or an item never matches an unlock`(_ rule: String) {
        let found = lint(rules("  - {id: a.b, forbid: no, operations: unlock, \(rule)}\n"))
        #expect(found.joined().contains("warning[KC3101]: rule a.b matches nothing"))
    }

    @Test func `a rule on what one of its operations has is in order`() {
        let text = "operations: [read-secret, unlock], subject: {pam-service: sshd}"
        #expect(lint(rules("  - {id: a.b, forbid: no, \(text)}\n")) == [])
        #expect(lint(rules("  - {id: a.b, forbid: no, subject: {pam-service: sshd}}\n")) == [])
    }

    @Test func `a group that the machine lacks is told`() {
        let text = rules("  - {id: a.b, forbid: no, unless: [{subject: {group: [wheel, weel]}}]}\n")
        let found = lint(text, on: { $0 != .group("weel") }).joined()
        #expect(found.contains("KC3002") && found.contains("the group weel,"))
        #expect(!found.contains("the group wheel,"))
        #expect(lint(text) == [])
    }

    private func permit(scope: String, permit: String) -> String {
        "policy: v1\nname: n\nclosed:\n  - {id: n.closed, \(scope)}\n"
            + "rules:\n  - {id: n.permit, permit: ok, \(permit)}\n"
    }

    @Test func `a permit outside every closed scope is told`() {
        let text = permit(
            scope: "resource: {keychain: ci}", permit: "resource: {keychain: login}")
        #expect(
            lint(text) == [
                """
                p.yaml:6:10: warning[KC3104]: permit n.permit lies outside every closed scope, \
                and changes nothing
                    6 |   - {id: n.permit, permit: ok, resource: {keychain: login}}
                      |          ^^^^^^^^

                """
            ])
    }

    @Test(arguments: [
        ("resource: {keychain: ci}", "resource: {keychain: \"c*\"}"),
        ("operations: sign", "operations: use-key"),
        ("resource: {keychain: ci}", "subject: {user: u}"),
        ("subject: {group: a}", "subject: {group: b}"),
        ("resource: {server: \"*.corp\"}", "resource: {server: git.corp}"),
    ])
    func `a permit that may open a scope is not`(_ scope: String, _ rule: String) {
        #expect(lint(permit(scope: scope, permit: rule)).isEmpty)
    }

    @Test func `names that the machine lacks are told when asked for`() {
        let text = rules(
            "  - {id: a.b, forbid: no, subject: {unit: gone.service}}\n"
                + "  - {id: a.c, require: {any: [passcode, {pam: keychain-otp}]}}\n")
        #expect(lint(text).isEmpty)
        #expect(lint(text, on: { _ in true }).isEmpty)
        #expect(
            lint(text, on: { _ in false }) == [
                """
                p.yaml:4:10: warning[KC3002]: a.b names the unit gone.service, which this machine \
                lacks
                    4 |   - {id: a.b, forbid: no, subject: {unit: gone.service}}
                      |          ^^^

                """,
                """
                p.yaml:5:10: warning[KC3105]: a.c needs the PAM service keychain-otp, which this \
                machine lacks
                    5 |   - {id: a.c, require: {any: [passcode, {pam: keychain-otp}]}}
                      |          ^^^ add /etc/pam.d/keychain-otp

                """,
            ])
    }

    @Test func `users, programs and members that the machine lacks are told, too`() {
        let text =
            "policy: v1\nname: n\ngroups:\n"
            + "  - {id: n.g, group: g, members: [{user: [ann, bob]}, {unit: gone.service}]}\n"
            + "closed:\n  - {id: n.c, unless: [{subject: {exe: /usr/bin/gone}}]}\n"
            + "rules:\n  - {id: n.r, permit: ok, subject: {user: eve, exe: [/usr/bin/git, /a/*]}}\n"
        let known: Set<PolicyLint.Name> = [.user("ann"), .program("/usr/bin/git")]
        let found = PolicyLint(load(text), today: testDay, on: known.contains).diagnostics.filter {
            $0.code == .unknownName
        }.map(\.message)
        #expect(
            found == [
                "n.g names the unit gone.service, which this machine lacks",
                "n.g names the user bob, which this machine lacks",
                "n.c names the program /usr/bin/gone, which this machine lacks",
                "n.r names the user eve, which this machine lacks",
            ])
    }

    @Test func `people who approve and that the machine lacks are told`() {
        let text = rules("  - {id: n.a, operations: sign, require: {approval: [ann, bob]}}\n")
        let found = lint(text, on: { $0 != .user("bob") }).joined()
        #expect(found.contains("n.a has the user bob approve, which this machine lacks"))
        #expect(!found.contains("the user ann"))
    }

    private func checked(_ text: String) -> [String] {
        PolicyLint(forCheckOf: load(text), today: testDay).diagnostics.map { $0.code.name }
    }

    @Test func `a check tells of rules that do nothing, and of one that refuses everything`() {
        let outside = permit(scope: "operations: sign", permit: "operations: list")
        #expect(checked(outside) == ["KC3104"])
        let dead = "  - {id: a.b, forbid: no, operations: unlock, resource: {class: key}}\n"
        #expect(checked(rules(dead)) == ["KC3101"])
        let all = "  - {id: a.b, forbid: no}\n"
        #expect(checked(rules(all)) == ["KC3024"])
        #expect(lint(rules(all)).joined().contains("a.b refuses every request of every program"))
        for other in [
            "{id: a.b, forbid: no, operations: sign}", "{id: a.b, permit: ok}",
            "{id: a.b, audit: full}",
            "{id: a.b, forbid: no, unless: [{subject: {user: ann}}]}",
            "{id: a.b, forbid: no, mode: complain, expires: 2026-12-01}",
        ] {
            #expect(!checked(rules("  - \(other)\n")).contains("KC3024"))
        }
        #expect(checked(rules("  - {id: a.b, forbid: no, operations: all}\n")) == ["KC3024"])
    }

    @Test(arguments: [
        ("permit: ok, subject: {exe: /usr/bin/git, trusted-exe: true}", true),
        ("permit: ok, subject: {exe: /usr/bin/git, user: ann}", true),
        ("permit: ok, subject: {exe: /usr/bin/git, unit: git.service}", false),
        ("permit: ok, subject: {exe: /usr/bin/git, uid: 0}", false),
        ("permit: ok, subject: {user: ann, label: 'apparmor:git'}", true),
        ("permit: ok, subject: {user: ann, label: ['selinux:u:r:t:s0', 'apparmor:git']}", true),
        ("permit: ok, subject: {user: ann, label: 'selinux:u:r:t:*'}", false),
        ("forbid: no, subject: {label: 'apparmor:git'}", false),
        ("permit: ok, subject: {user: ann}", false),
        ("permit: ok, tags: [same-user], subject: {exe: /usr/bin/git, trusted-exe: true}", false),
        ("forbid: no, subject: {exe: /usr/bin/git, trusted-exe: true}", false),
    ])
    func `a grant to a program that others can take over is told`(_ rule: String, _ isTold: Bool) {
        let found = PolicyLint(load(rules("  - {id: a.b, \(rule)}\n")), today: testDay).diagnostics
            .filter { $0.code == .weakProgram }
        #expect(!found.isEmpty == isTold)
        let advice = "name a unit, app or SELinux label instead"
        #expect(found.allSatisfy { $0.advice?.hasPrefix(advice) == true })
    }

    @Test func `a member that others can take over is told`() {
        func told(_ member: String) -> Bool {
            let text =
                "policy: v1\nname: n\ngroups:\n"
                + "  - {id: n.g, group: g, members: [{user: a}, {\(member)}]}\n"
            return PolicyLint(load(text), today: testDay).diagnostics
                .contains { $0.code == .weakProgram }
        }
        #expect(told("exe: /usr/bin/mutt, trusted-exe: true"))
        #expect(!told("unit: mutt.service"))
    }

    @Test func `a set that makes a request meet too many rules is told`() {
        func found(_ field: (Int) -> String) -> [Diagnostic] {
            let text = (0..<2_100).map { "  - {id: a.r\($0), permit: ok, \(field($0))}\n" }
            return PolicyLint(load(rules(text.joined())), today: testDay).diagnostics.filter {
                $0.code == .slow
            }
        }
        #expect(found { "resource: {service: s\($0)}" }.isEmpty)
        #expect(
            found { _ in "when: {remote: true}" }.map(\.text) == [
                """
                p.yaml:1:1: warning[KC3201]: a request can meet 2100 candidate rules, more than 2000
                   = name a service, program, app, unit or access group in each rule

                """
            ])
    }
}
