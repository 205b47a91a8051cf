// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
package import PolicySyntax

extension PolicyFile {
    static let keys = [
        "policy", "name", "description", "define", "groups", "closed", "rules", "assert", "tests",
    ]
    static let testFileKeys = ["policy", "name", "description", "tests"]

    /// Reads a file; its mistakes are in `diagnostics`. `today` is the local date in days since
    /// 1970-01-01.
    package init(reading source: SourceFile, level: Int, today: Int32) {
        self.init(source, level: level)
        guard !source.bytes.isEmpty else {
            isMask = true
            return
        }
        do throws(Diagnostic) {
            guard let root = try YAMLDocument.read(source), root.scalar != "" else {
                throw Diagnostic(
                    .missingKey, path: source.path, "the file holds no policy",
                    advice: "begin with policy: v1; a file of 0 bytes masks one of its name")
            }
            var reader = FileReader(source, level: level, today: today)
            read(root, &reader)
            diagnostics = Array(Set(reader.diagnostics)).sorted()
        } catch {
            diagnostics = [error]
        }
    }

    private mutating func read(_ root: YAMLNode, _ reader: inout FileReader) {
        guard let keys = reader.mapping(root, "a policy file", keys: Self.keys) else { return }
        readHead(keys, root, &reader)
        if isTestFile {
            for entry in keys.entries where !Self.testFileKeys.contains(entry.key) {
                reader.note(
                    .notATest, entry, "\"\(entry.key)\" in a file of tests",
                    advice: "files called *_test.yaml hold tests only")
            }
        }
        let definitions = keys["define"].map { readDefinitions($0, &reader) } ?? []
        if let node = keys["groups"] {
            groups = reader.list(node, "groups").compactMap { reader.group($0) }
        }
        if let node = keys["closed"] {
            closed = reader.list(node, "closed").compactMap { reader.closedScope($0) }
        }
        if let node = keys["rules"] { readRules(node, &reader) }
        if let node = keys["assert"] {
            assertions = reader.list(node, "assert").compactMap { reader.assertion($0) }
        }
        if let node = keys["tests"] { readTests(node, &reader) }
        // A rule with a mistake may be the one that uses the definition.
        guard !reader.hasErrors else { return }
        for name in definitions where !reader.usedDefinitions.contains(name.scalar ?? "") {
            reader.note(
                .unusedDefinition, name, "no rule uses the definition \"\(name.scalar ?? "")\"",
                advice: "remove it, or name it in a subject, as {use: \(name.scalar ?? "")}")
        }
    }

    private mutating func readHead(
        _ keys: Keys, _ root: YAMLNode, _ reader: inout FileReader
    ) {
        if let version = keys["policy"] {
            if version.scalar != "v1" {
                reader.note(
                    .unknownVersion, version, "unknown version of the language",
                    advice: "policy: v1")
            }
        } else {
            reader.note(
                .missingKey, root, "a policy file without \"policy\"",
                advice: "begin with policy: v1")
        }
        if let node = keys["name"] {
            name = reader.identifier(node, "the name") ?? ""
        } else {
            reader.note(
                .missingKey, root, "a policy file without \"name\"", advice: "add name: NAME")
        }
        if let node = keys["description"] { _ = reader.text(node, "description") }
    }

    /// Returns the nodes of the names.
    private mutating func readDefinitions(
        _ node: YAMLNode, _ reader: inout FileReader
    ) -> [YAMLNode] {
        guard case .mapping(let entries) = node.content else {
            reader.note(.wrongKind, node, "define is \(node.kind), not a mapping")
            return []
        }
        return entries.compactMap { entry in
            let key = YAMLNode(content: .scalar(entry.key), place: entry.place)
            guard let name = reader.identifier(key, "the name") else { return nil }
            // A mistaken definition is known too, so that its mistake is reported only once.
            reader.definitions[name] = reader.subject(entry.value, mayUse: false) ?? []
            return key
        }
    }

    private mutating func readTests(_ node: YAMLNode, _ reader: inout FileReader) {
        for item in reader.list(node, "tests") {
            tests += reader.tests(item)
            guard tests.count <= FileReader.mostTests else {
                reader.note(.tooManyValues, item, "more than \(FileReader.mostTests) tests")
                return
            }
        }
    }

    private mutating func readRules(_ node: YAMLNode, _ reader: inout FileReader) {
        let nodes = reader.list(node, "rules")
        if let first = nodes.dropFirst(PolicySet.mostRules).first {
            reader.note(.tooManyRules, first, "more than \(PolicySet.mostRules) rules")
        }
        rules = nodes.prefix(PolicySet.mostRules).compactMap { reader.rule($0) }
    }
}

extension PolicyCondition {
    /// Whether it holds as long as the program runs, or never.
    fileprivate var isLasting: Bool {
        switch self {
        case .text, .uid, .boolean(.trustedExe, _), .choice(.via, _): true
        default: false
        }
    }
}

extension FileReader {
    fileprivate mutating func group(_ node: YAMLNode) -> GroupMembership? {
        let known = ["id", "description", "group", "members", "mode", "home"] + Self.period
        guard let keys = mapping(node, "a group", keys: known),
            let head = self.head(keys, "a group")
        else { return nil }
        for key in ["group", "members"] where keys[key] == nil {
            note(.missingKey, head.node, "group \(head.id) without \"\(key)\"", advice: "add it")
        }
        let group = keys["group"].flatMap { ownGroup($0) }
        let members = keys["members"].map { self.members($0) } ?? []
        let mode = keys["mode"].map { word($0, "mode", of: ["read", "write"]) } ?? "write"
        let days = self.days(keys)
        let isHome = keys["home"].flatMap { boolean($0, "home") } ?? false
        if isHome, let node = keys.entry("home") {
            checkHome(node, mode: mode, days.isEmpty ? members : [days])
        }
        guard let group, let mode, !members.isEmpty else { return nil }
        return GroupMembership(
            id: head.id, origin: head.origin, group: PolicyText(group),
            members: members.map { $0 + days }, operations: mode == "read" ? .read : .all,
            isHome: isHome)
    }

    /// A home group must apply at all times: a program whose items are elsewhere at other times
    /// would not find them.
    private mutating func checkHome(
        _ node: YAMLEntry, mode: String?, _ members: [[PolicyCondition]]
    ) {
        if mode == "read" {
            note(.wrongKind, node, "members that may only read have no home", advice: "mode: write")
        }
        if !members.joined().allSatisfy(\.isLasting) {
            note(
                .wrongKind, node, "a home is for programs, at all times and in all sessions",
                advice: "name members by exe, unit, app, label, user or group alone")
        }
    }

    private mutating func ownGroup(_ node: YAMLNode) -> String? {
        guard let text = self.text(node, "group") else { return nil }
        let foreign = ["flatpak:", "snap:", "portal:", "unit:", "exe:", "selinux:", "apparmor:"]
        guard !foreign.contains(where: { text.hasPrefix($0) }) else {
            note(
                .foreignGroup, node, "\"\(text)\" is a program's own group",
                advice: "share its items by a rule, or choose another name")
            return nil
        }
        guard !text.contains("*") else {
            note(.badPattern, node, "a group is one name, not a pattern")
            return nil
        }
        noteLooks(of: text, node)
        return text
    }

    private mutating func members(_ node: YAMLNode) -> [[PolicyCondition]] {
        values(node, "members").compactMap { item in
            guard let conditions = subject(item) else { return nil }
            for condition in conditions where condition.isMembership {
                note(.wrongKind, item, "\"member\" can't say who is a member")
            }
            if !conditions.isEmpty, !conditions.restOnStrongSubject {
                note(
                    .weakShare, item,
                    "a member rests on facts that a program of the same user can forge",
                    advice:
                        "add a user, unit, app or SELinux label; or trusted-exe: true beside exe")
            }
            checkPrograms(conditions, item)
            return conditions
        }
    }

    fileprivate mutating func assertion(_ node: YAMLNode) -> PolicyAssertion? {
        guard let keys = mapping(node, "an assertion", keys: ["id", "description", "never"]),
            let head = self.head(keys, "an assertion")
        else { return nil }
        guard let never = keys["never"] else {
            note(
                .missingKey, head.node, "assertion \(head.id) without \"never\"",
                advice: "add never: {operations, subject, resource, when}")
            return nil
        }
        let known = Vocabulary.match.filter { $0 != "unless" }
        guard let match = mapping(never, "never", keys: known) else { return nil }
        return PolicyAssertion(id: head.id, origin: head.origin, never: box(match))
    }
}

extension PolicyCondition {
    fileprivate var isMembership: Bool {
        if case .boolean(.member, _) = self { true } else { false }
    }
}
