// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import Testing

/// What several files and folders make together.
struct FolderTests {
    private let base = file(
        rules("  - {id: base.a, forbid: no, operations: export}\n"), "/usr/10-base.yaml")

    private func load(_ later: SourceFile...) -> LoadedPolicies {
        LoadedPolicies([[base], later], today: testDay)
    }

    private func ids(_ loaded: LoadedPolicies) -> [String] {
        loaded.policy.rules.map(\.id.string).sorted()
    }

    @Test func `a file takes the place of one of its name in an earlier folder`() {
        let loaded = load(file(rules("  - {id: own.a, forbid: no}\n"), "/etc/10-base.yaml"))
        #expect(loaded.diagnostics.isEmpty)
        #expect(ids(loaded) == ["own.a"])
        #expect(loaded.weakened.map(\.what) == ["/usr/10-base.yaml"])
        #expect(loaded.weakened.map(\.by) == ["/etc/10-base.yaml"])
        #expect(loaded.weakened.map(\.lost) == [["base.a"]])
    }

    @Test func `an empty file masks, and that it weakens is told`() {
        let loaded = load(file("", "/etc/10-base.yaml"))
        #expect(loaded.diagnostics.isEmpty)
        #expect(ids(loaded).isEmpty)
        #expect(loaded.weakened.map(\.what) == ["/usr/10-base.yaml"])
    }

    @Test(arguments: ["\n", "# nothing\n", "---\n", "\"\"\n"])
    func `a file without a policy that is not empty is a mistake, and masks nothing`(
        _ text: String
    ) {
        let loaded = load(file(text, "/etc/10-base.yaml"))
        #expect(loaded.hasErrors)
        #expect(
            loaded.diagnostics.map(\.text) == [
                """
                /etc/10-base.yaml:1:1: error[KC2002]: the file holds no policy
                   = begin with policy: v1; a file of 0 bytes masks one of its name

                """
            ])
        #expect(loaded.files.allSatisfy { !$0.isMask })
    }

    @Test func `a replacement that still forbids the same weakens nothing`() {
        let loaded = load(file(rules("  - {id: base.a, forbid: no}\n"), "/etc/10-base.yaml"))
        #expect(loaded.weakened.isEmpty)
    }

    @Test func `a rule of a later folder replaces one of an earlier`() {
        let loaded = load(
            file(
                rules("  - {id: own.a, require: passcode, replaces: base.a, operations: export}\n"),
                "/etc/50-own.yaml"))
        #expect(loaded.diagnostics.isEmpty)
        #expect(ids(loaded) == ["own.a"])
        #expect(loaded.replacements.map(\.old) == ["base.a"])
        #expect(loaded.replacements.map(\.new) == ["own.a"])
        #expect(loaded.weakened.map(\.what) == ["base.a"])
        #expect(loaded.weakened.map(\.by) == ["own.a"])
        #expect(loaded.weakened.map(\.lost) == [["base.a"]])
    }

    @Test(
        arguments: [
            ("require: passcode", []), ("forbid: no", []), ("audit: full", ["base.r"]),
            ("permit: yes", ["base.r"]),
        ] as [(String, [PolicyText])])
    func `a requirement that gives way is told, unless another takes its place`(
        _ effect: String, _ lost: [PolicyText]
    ) {
        let vendor = file(
            rules("  - {id: base.r, require: presence, operations: export}\n"), "/usr/10-base.yaml")
        let own = file(
            rules("  - {id: own.r, \(effect), replaces: base.r, operations: export}\n"),
            "/etc/50-own.yaml")
        let loaded = LoadedPolicies([[vendor], [own]], today: testDay)
        #expect(loaded.weakened.flatMap(\.lost) == lost)
    }

    @Test func `with a masked file its requirements, limits and closed scopes are gone`() {
        let vendor = file(
            """
            policy: v1
            name: n
            closed:
              - {id: base.c, resource: {access-group: g}}
            rules:
              - {id: base.r, require: presence, operations: export}
              - {id: base.l, limit: {rate: 30/1m, by: [user], then: deny}}
              - {id: base.a, audit: full}

            """, "/usr/10-base.yaml")
        let loaded = LoadedPolicies([[vendor], [file("", "/etc/10-base.yaml")]], today: testDay)
        #expect(loaded.weakened.map(\.lost) == [["base.r", "base.l", "base.c"]])
    }

    @Test func `ids are told apart over all files`() {
        let loaded = load(file(rules("  - {id: base.a, forbid: no}\n"), "/etc/50-own.yaml"))
        #expect(loaded.diagnostics.map(\.code) == [.duplicateID])
        #expect(loaded.diagnostics.first?.notes == ["by /usr/10-base.yaml:4"])
    }

    @Test func `one mistaken file makes the whole set unusable`() {
        let loaded = load(file("policy: v1\nname: n\nrulez: []\n", "/etc/50-own.yaml"))
        #expect(loaded.hasErrors)
    }

    @Test func `the order of files never matters to what is in force`() {
        let other = file(rules("  - {id: own.a, forbid: no}\n"), "/etc/50-own.yaml")
        let one = LoadedPolicies([[base, other]], today: testDay)
        let two = LoadedPolicies([[other, base]], today: testDay)
        #expect(ids(one) == ids(two))
    }

    @Test func `a definition belongs to its file`() {
        let text = """
            policy: v1
            name: m
            define: {git: {exe: /usr/bin/git, trusted-exe: true}}
            rules:
              - {id: m.a, forbid: no, subject: {use: git, user: u}}

            """
        let loaded = load(
            file(text, "/etc/50-own.yaml"),
            file(rules("  - {id: x.a, forbid: no, subject: {use: git}}\n"), "/etc/60.yaml"))
        #expect(loaded.diagnostics.map(\.code) == [.unknownDefinition])
        let rule = loaded.policy.rules.first { $0.id == "m.a" }
        #expect(
            rule?.match.box.conditions.map(\.fieldName).sorted() == [
                "subject.exe", "subject.trusted-exe", "subject.user",
            ])
    }
}
