// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicySyntax

/// The names in the blocks of a rule.
enum Vocabulary {
    package static let operations =
        PolicyOperation.allCases.map(\.rawValue) + ["use-key", "write", "all"]
    static let match = ["operations", "subject", "resource", "when", "unless"]
    static let subject = ["uid", "use"] + fields(.subject)
    static let resource = ["flags"] + fields(.resource)
    static let environment = ["time"] + fields(.environment)
    /// The names of attributes in `redact`.
    static let attributes = PolicyEffect.attributes.keys.sorted()

    private static let blocks = [
        ("subject", subject), ("resource", resource), ("when", environment),
    ]

    /// Advice on an unknown key: another word for it, or the block that has it.
    static func advice(for key: String, in what: String, among known: [String]) -> String? {
        if what == "evidence", key.hasPrefix("pam:") {
            return "as {pam: {\(key.dropFirst(4)): {age: 2m, scope: process}}}"
        }
        let homes = blocks.filter { $0.1.contains(key) }.map { "\"\($0.0)\"" }
        if !homes.isEmpty, Suggestion.same(as: key, among: known) == nil {
            return "it belongs under " + homes.joined(separator: " or ")
        }
        return Suggestion.advice(for: key, "key", among: known)
    }

    /// The fields of a block with texts, choices, booleans or ages.
    static func fields(_ block: PolicyBlock) -> [String] {
        names(TextField.allCases, block) + names(ChoiceField.allCases, block)
            + names(BooleanField.allCases, block) + names(AgeField.allCases, block)
    }

    private static func names(_ fields: [some PolicyField], _ block: PolicyBlock) -> [String] {
        fields.filter { $0.block == block }.map(\.name)
    }
}

extension FileReader {
    /// Reads `operations`, `subject`, `resource`, `when` and `unless` among the keys of a rule.
    mutating func match(_ keys: Keys, isLimit: Bool = false) -> PolicyMatch {
        let exceptions = keys["unless"].map { list($0, "unless") } ?? []
        return PolicyMatch(
            box(keys, isLimit: isLimit),
            unless: exceptions.compactMap { exception($0, isLimit: isLimit) })
    }

    private mutating func exception(_ node: YAMLNode, isLimit: Bool) -> PolicyBox? {
        let known = Vocabulary.match.filter { $0 != "unless" }
        guard let keys = mapping(node, "an exception", keys: known) else { return nil }
        guard !keys.entries.isEmpty else {
            note(.empty, node, "an exception that names nothing would undo the rule")
            return nil
        }
        return box(keys, isLimit: isLimit)
    }

    mutating func box(_ keys: Keys, isLimit: Bool = false) -> PolicyBox {
        var box = PolicyBox()
        if let node = keys["operations"] { box.operations = operations(node) }
        if let node = keys["subject"] { box.conditions += subject(node) ?? [] }
        if let node = keys["resource"] { box.conditions += resource(node) ?? [] }
        if let node = keys["when"] { box.conditions += environment(node, isLimit: isLimit) ?? [] }
        checkContradictions(box, keys)
        return box
    }

    package mutating func operations(_ node: YAMLNode) -> PolicyOperations {
        words(node, "operation", of: Vocabulary.operations)
            .compactMap { PolicyOperations(word: $0) }
            .reduce(into: []) { $0.formUnion($1) }
    }

    // MARK: Subject

    mutating func subject(_ node: YAMLNode, mayUse: Bool = true) -> [PolicyCondition]? {
        let keys = mapping(
            node, "subject", keys: Vocabulary.subject, unknown: .unknownSubjectField,
            keyWord: "subject field")
        guard let keys, notEmpty(keys, "subject") else { return nil }
        return keys.entries.flatMap { entry -> [PolicyCondition] in
            switch entry.key {
            case "use": used(entry, mayUse: mayUse)
            case "uid": ranges(entry.value).map { [.uid($0)] } ?? []
            default: condition(entry, in: .subject).map { [$0] } ?? []
            }
        }
    }

    private mutating func used(_ entry: YAMLEntry, mayUse: Bool) -> [PolicyCondition] {
        guard mayUse else {
            note(.recursiveDefinition, entry, "a definition can't use another")
            return []
        }
        guard let name = text(entry.value, "use") else { return [] }
        usedDefinitions.insert(name)
        if let conditions = definitions[name] { return conditions }
        note(
            .unknownDefinition, entry.value, "no definition is called \"\(name)\"",
            advice: Suggestion.advice(for: name, among: definitions.keys.sorted())
                ?? "define it under \"define:\" of this file")
        return []
    }

    private mutating func ranges(_ node: YAMLNode) -> [ClosedRange<UInt32>]? {
        let found = texts(node, "uid").compactMap { text, node -> ClosedRange<UInt32>? in
            let ends = text.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = ends.compactMap { Self.number(String($0)) }
            if numbers.count == ends.count, let first = numbers.first, let last = numbers.last,
                numbers.count <= 2, first <= last
            {
                return first...last
            }
            note(
                .badNumber, node, "\"\(text)\" is no uid",
                advice: text.first?.isLetter == true
                    ? "write user: \(text)"
                    : "decimal digits, or two joined by \"-\", the smaller first")
            return nil
        }
        return found.isEmpty ? nil : found
    }

    /// Decimal digits only.
    static func number(_ text: String) -> UInt32? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            ? UInt32(text) : nil
    }

    // MARK: Resource and environment

    mutating func resource(_ node: YAMLNode) -> [PolicyCondition]? {
        let keys = mapping(
            node, "resource", keys: Vocabulary.resource, unknown: .unknownResourceField,
            keyWord: "resource field")
        guard let keys, notEmpty(keys, "resource") else { return nil }
        return keys.entries.compactMap { entry in
            entry.key == "flags" ? flags(entry.value) : condition(entry, in: .resource)
        }
    }

    private mutating func flags(_ node: YAMLNode) -> PolicyCondition? {
        guard let keys = mapping(node, "flags", keys: ["has", "lacks"]), notEmpty(keys, "flags")
        else { return nil }
        let has = keys["has"].map { itemFlags($0) } ?? []
        let lacks = keys["lacks"].map { itemFlags($0) } ?? []
        return .flags(has: has, lacks: lacks)
    }

    mutating func itemFlags(_ node: YAMLNode) -> PolicyItemFlags {
        words(node, "flag", of: PolicyItemFlags.words).compactMap { PolicyItemFlags(word: $0) }
            .reduce(into: []) { $0.formUnion($1) }
    }

    mutating func environment(_ node: YAMLNode, isLimit: Bool) -> [PolicyCondition]? {
        let keys = mapping(
            node, "when", keys: Vocabulary.environment, unknown: .unknownConditionField,
            keyWord: "field of when")
        guard let keys, notEmpty(keys, "when") else { return nil }
        if let prompted = keys.entry("prompted"), !isLimit {
            note(
                .promptedOutsideLimit, prompted, "\"prompted\" stands in a rule that is no limit",
                advice: "whether a request prompts is known to limit rules only")
        }
        return keys.entries.compactMap { entry in
            entry.key == "time" ? time(entry.value) : condition(entry, in: .environment)
        }
    }

    private mutating func notEmpty(_ keys: Keys, _ what: String) -> Bool {
        guard case .mapping(let all) = keys.node.content, all.isEmpty else { return true }
        note(.empty, keys.node, "\(what) names no field", advice: "leave it out")
        return false
    }

    // MARK: Fields by kind

    private mutating func condition(
        _ entry: YAMLEntry, in block: PolicyBlock
    ) -> PolicyCondition? {
        let what = "\(block.rawValue).\(entry.key)"
        if let field = TextField(entry.key, in: block) {
            let patterns = texts(entry.value, what).compactMap { pattern($0, field, $1) }
            return patterns.isEmpty ? nil : .text(field, patterns)
        }
        if let field = ChoiceField(entry.key, in: block) {
            if field == .itemClass { checkClass(entry.value) }
            let chosen = words(entry.value, field.name, of: field.words)
                .compactMap { field.index(of: $0) }
            return chosen.isEmpty ? nil : .choice(field, mask: chosen.reduce(0) { $0 | 1 << $1 })
        }
        if let field = BooleanField(entry.key, in: block) {
            return boolean(entry.value, what).map { .boolean(field, $0) }
        }
        if let field = AgeField(entry.key, in: block) {
            return ages(entry.value, what).map { .age(field, $0) }
        }
        return nil
    }

    private mutating func ages(
        _ node: YAMLNode, _ what: String
    ) -> ClosedRange<PolicyDuration>? {
        guard let keys = mapping(node, what, keys: ["min", "max"]), notEmpty(keys, what) else {
            return nil
        }
        let least = keys["min"].map { duration($0, "min") } ?? .zero
        let most =
            keys["max"].map { duration($0, "max") }
            ?? PolicyDuration(milliseconds: .max)
        guard let least, let most else { return nil }
        guard least <= most else {
            note(.badDuration, node, "\(what) has a min that is more than its max")
            return nil
        }
        return least...most
    }

    private mutating func pattern(
        _ text: String, _ field: TextField, _ node: YAMLNode
    ) -> TextPattern? {
        guard FieldForm(field).map({ $0.isMet(by: text) }) ?? true else {
            note(
                .badForm, node, "\"\(text)\" is no \(field.name)",
                advice: FieldForm(field).map { "as \($0.example)" })
            return nil
        }
        do {
            let pattern = try TextPattern(field.isHostName ? text.lowercased() : text)
            noteLooks(of: text, node)
            checkName(text, pattern, field, node)
            return pattern
        } catch {
            let advice =
                switch error {
                case .empty: "write a value"
                case .leadingStar: "only \"*.suffix\" may begin with a star"
                case .doubleStarInside: "\"**\" may stand at the end only"
                }
            note(.badPattern, node, "\"\(text)\" is no pattern", advice: advice)
            return nil
        }
    }
}

extension TextField {
    /// Host names are compared in lower case.
    var isHostName: Bool { self == .server || self == .host }
}

/// Values that begin with a word for their kind.
struct FieldForm {
    let example: String
    private let isMet: @Sendable (String) -> Bool

    init?(_ field: TextField) {
        switch field {
        case .digest:
            example = "sha256: and 64 hexadecimal digits in lower case"
            isMet = Self.isDigest
        case .app:
            example = "flatpak:ID or snap:ID"
            isMet = { Self.begins($0, with: ["flatpak:", "snap:"]) }
        case .label:
            example = "selinux:LABEL or apparmor:LABEL"
            isMet = { Self.begins($0, with: ["selinux:", "apparmor:"]) }
        default: return nil
        }
    }

    func isMet(by text: String) -> Bool { isMet(text) }

    private static func begins(_ text: String, with prefixes: [String]) -> Bool {
        prefixes.contains { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }
    }

    private static func isDigest(_ text: String) -> Bool {
        let prefix = "sha256:"
        guard text.hasPrefix(prefix) else { return false }
        let digits = text.utf8.dropFirst(prefix.utf8.count)
        return digits.count == 64
            && digits.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
            }
    }
}
