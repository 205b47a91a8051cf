// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import Testing

/// What is well formed, and about nothing that there is.
@Suite struct `A rule about nothing that there is` {
    private func told(of rule: String) -> String {
        load(rules("  - {id: a.b, \(rule)}\n")).diagnostics.map(\.text).joined()
    }

    @Test(arguments: [
        ("subject: {exe: git}", "no program is called \"git\"", "write a path as /usr/bin/git"),
        ("subject: {unit: nginx}", "no unit is called \"nginx\"", "a unit as nginx.service"),
        ("subject: {user-unit: sync}", "no unit is called \"sync\"", "a unit as nginx.service"),
        ("subject: {slice: user}", "no slice is called \"user\"", "a slice as system.slice"),
        ("subject: {unit: x@.service}", "is a template, in which no program", "\"x@*.service\""),
        ("subject: {user: 1000}", "\"1000\" is taken for a name", "write uid: 1000"),
        ("subject: {group: 100}", "\"100\" is taken for a name", "write the group's name"),
        ("subject: {user: '!ann'}", "letter by letter, with its \"!\"", "say under unless"),
        ("subject: {user: '^ann.*$'}", "no pattern like this is known", "as in \"ann*\""),
        ("subject: {unit: 'ci.*$'}", "no pattern like this is known", "as in \"ann*\""),
        ("subject: {user: “ann”}", "stands in marks that quote nothing", "use \" or '"),
        ("resource: {service: ‘mail’}", "stands in marks that quote nothing", "use \" or '"),
        ("resource: {server: 'https://github.com'}", "is no host name", "as github.com"),
        ("resource: {server: github.com/}", "is no host name", "as github.com"),
        ("resource: {class: identity}", "no item is of the class identity", "[certificate, key]"),
        ("resource: {class: [key, identity]}", "no item is of the class identity", "[certificate,"),
    ])
    func `is told with what was meant`(_ match: String, _ message: String, _ advice: String) {
        for rule in [
            "forbid: no, \(match)", "forbid: no, unless: [{\(match)}]", "permit: ok, \(match)",
        ] {
            let told = told(of: rule)
            #expect(told.contains("warning[KC3016]"), "\(told)")
            #expect(told.contains(message) && told.contains(advice), "\(told)")
        }
    }

    @Test(arguments: [
        "subject: {exe: [/usr/bin/git, /opt/**], unit: [a.service, 'b*', 'x@*.service', x@1.service]}",
        "subject: {unit: [getty@tty@.service, run@.x.service, -.mount], user-unit: a@b@.timer}",
        "resource: {account: [’t Hooft, '«', “Mail” of Ann], service: ‘s-Hertogenbosch}",
        "subject: {slice: user.slice, user: [ann, u1000, 'host$'], group: [wheel, 'dev*']}",
        "resource: {server: [github.com, '*.corp', '::1'], service: [https://a.b/c, '!x', '^x']}",
        "resource: {label: “Mail”, class: [key, attributed]}",
    ])
    func `is not one about names as things have them`(_ match: String) {
        #expect(told(of: "forbid: no, \(match)").isEmpty)
    }

    @Test(arguments: [
        ("operations: [sign, derive], resource: {class: [certificate, attributed]}", "class key"),
        ("subject: {session: ssh}, when: {remote: false}", "no such session is not remote"),
        ("subject: {session: [remote-desktop]}, when: {remote: false}", "is not remote"),
        ("subject: {session: [seat, service]}, when: {remote: true}", "no such session is remote"),
    ])
    func `is one that no request can match`(_ match: String, _ message: String) {
        for rule in ["forbid: no, \(match)", "forbid: no, unless: [{\(match)}]"] {
            let told = told(of: rule)
            #expect(told.contains("warning[KC3018]") && told.contains(message), "\(told)")
        }
    }

    @Test(arguments: [
        "operations: [sign, read-secret], resource: {class: generic-password}",
        "operations: sign, resource: {class: [key, generic-password]}",
        "subject: {session: [ssh, seat]}, when: {remote: false}",
        "subject: {session: ssh}, when: {remote: true}",
        "subject: {session: cron}, when: {remote: true}",
    ])
    func `is not one that some request can match`(_ match: String) {
        #expect(told(of: "forbid: no, \(match)").isEmpty)
    }

    @Test func `is not one on a host whose name has capital letters beside ASCII`() {
        // As PolicyItem tells the server of an item.
        let told = PolicyText("BÜCHER.example".lowercased())
        let rule = "  - {id: a.b, forbid: no, resource: {server: BÜCHER.example}}\n"
        let conditions = load(rules(rule)).policy.rules.flatMap(\.match.box.conditions)
        #expect(conditions == [.text(.server, [.literal(told)])])
    }

    @Test func `asks for a yes where no window is`() {
        for (needs, isMet) in [
            ("confirm", false), ("{all: [confirm, passcode]}", false),
            ("{any: [confirm, passcode]}", true), ("{k: 2, of: [confirm, passcode]}", false),
            ("{k: 1, of: [confirm, passcode]}", true), ("passcode", true),
        ] {
            let told = told(of: "require: \(needs), subject: {session: ssh}")
            #expect(told.contains("warning[KC3106]: confirm is a yes in a window") != isMet)
            let elsewhere = self.told(of: "require: \(needs), subject: {session: seat}")
            #expect(elsewhere.isEmpty)
        }
    }

    @Test func `hides nothing by an attribute that there is not`() {
        #expect(told(of: "redact: [acount]").contains("did you mean \"account\"?"))
        #expect(told(of: "redact: [password]").contains("one of: access-group, account,"))
        #expect(told(of: "redact: [account, acct, creation-date]").isEmpty)
    }

    @Test func `uses each definition of its file, or that is told`() {
        let head =
            "policy: v1\nname: n\ndefine: {git: {exe: /usr/bin/git}, ci: {unit: ci.service}}\n"
        let rule = "rules:\n  - {id: a.b, forbid: no, subject: {use: git}}\n"
        let told = load(head + rule).diagnostics.map(\.text).joined()
        #expect(told.contains("warning[KC3019]: no rule uses the definition \"ci\""))
        #expect(!told.contains("definition \"git\""))
        let other = "  - {id: a.c, forbid: no, unless: [{subject: {use: ci}}]}\n"
        #expect(load(head + rule + other).diagnostics.isEmpty)
        // A rule that is mistaken may be the one that uses it.
        let mistaken = load(head + rule + "  - {id: a.c, forbit: no}\n").diagnostics
        #expect(!mistaken.contains { $0.code == .unusedDefinition })
    }

    @Test func `hides by the names that stand in the manual`() throws {
        let top = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let manual = try String(
            contentsOf: top.appending(path: "docs/policies.md"), encoding: .utf8)
        let row = manual.split(separator: "\n").first { $0.hasPrefix("| `redact: ") } ?? ""
        let names = PolicyEffect.attributes.keys.sorted().map { "`\($0)`" }
        #expect(row.contains(": " + names.joined(separator: ", ") + ", or an attribute's own name"))
    }

    @Test func `that has the id of another is told where the later one stands`() {
        let text =
            "policy: v1\nname: n\nclosed:\n  - {id: a.b, operations: sign}\n"
            + "rules:\n  - {id: a.b, forbid: no, operations: sign}\n"
        let found = load(text).diagnostics
        #expect(found.map(\.place.line) == [6])
        #expect(found.map(\.notes) == [["by p.yaml:4"]])
    }
}
