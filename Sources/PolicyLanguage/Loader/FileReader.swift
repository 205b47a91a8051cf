// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
package import PolicySyntax

/// Reads one file's values into the model and notes every mistake on the way. A mistaken part
/// becomes nil and the rest is read on, so that one run reports all mistakes.
package struct FileReader {
    /// The most mistakes reported for one file.
    package static let mostDiagnostics = 100

    let source: SourceFile
    let level: Int
    /// Local date in days since 1970-01-01.
    let today: Int32
    package private(set) var diagnostics: [Diagnostic] = []
    var definitions: [String: [PolicyCondition]] = [:]
    var usedDefinitions: Set<String> = []

    package init(_ source: SourceFile, level: Int, today: Int32) {
        self.source = source
        self.level = level
        self.today = today
    }

    var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    // MARK: Mistakes

    mutating func note(_ diagnostic: Diagnostic) {
        guard diagnostics.count < Self.mostDiagnostics else { return }
        diagnostics.append(diagnostic)
    }

    mutating func note(
        _ code: DiagnosticCode, _ node: YAMLNode, _ message: String, advice: String? = nil
    ) {
        note(
            Diagnostic(
                code, in: source, at: node.place,
                length: source.length(at: node.place, plain: node.scalar ?? ""), message,
                advice: advice))
    }

    mutating func note(
        _ code: DiagnosticCode, _ entry: YAMLEntry, _ message: String, advice: String? = nil
    ) {
        note(
            Diagnostic(
                code, in: source, at: entry.place,
                length: source.length(at: entry.place, plain: entry.key), message, advice: advice))
    }

    // MARK: Kinds

    /// The entries of a mapping that may have these keys; other keys are mistakes.
    mutating func mapping(
        _ node: YAMLNode, _ what: String, keys known: [String],
        unknown code: DiagnosticCode = .unknownKey, keyWord: String = "key"
    ) -> Keys? {
        guard case .mapping(let entries) = node.content else {
            note(
                .wrongKind, node, "\(what) is \(node.kind), not a mapping",
                advice: WrittenForms.of(what))
            return nil
        }
        for entry in entries where !known.contains(entry.key) {
            note(
                code, entry, "unknown \(keyWord) \"\(entry.key)\"",
                advice: Vocabulary.advice(for: entry.key, in: what, among: known))
        }
        let expected = entries.filter { known.contains($0.key) }
        return Keys(node: node, entries: expected, hasUnknown: expected.count < entries.count)
    }

    /// A list, or one value that stands for a list of one.
    mutating func values(_ node: YAMLNode, _ what: String) -> [YAMLNode] {
        switch node.content {
        case .scalar(""):
            note(.empty, node, "\(what) says nothing", advice: "leave it out, or write a value")
            return []
        case .list(let items):
            if items.isEmpty {
                note(.empty, node, "\(what) is an empty list", advice: "leave it out")
            }
            return items
        case .scalar, .mapping: return [node]
        }
    }

    mutating func list(_ node: YAMLNode, _ what: String) -> [YAMLNode] {
        guard case .list(let items) = node.content else {
            note(
                .wrongKind, node, "\(what) is \(node.kind), not a list",
                advice: "begin each with \"- \"")
            return []
        }
        return items
    }

    mutating func text(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = node.scalar else {
            note(
                .wrongKind, node, "\(what) is \(node.kind), not a word",
                advice: WrittenForms.of(what))
            return nil
        }
        guard !text.isEmpty else {
            note(.empty, node, "\(what) is empty")
            return nil
        }
        return text
    }

    mutating func texts(_ node: YAMLNode, _ what: String) -> [(text: String, node: YAMLNode)] {
        values(node, what).compactMap { item in text(item, what).map { ($0, item) } }
    }

    mutating func boolean(_ node: YAMLNode, _ what: String) -> Bool? {
        switch node.scalar {
        case "true": return true
        case "false": return false
        default:
            note(.badBoolean, node, "\(what) is neither true nor false", advice: "true or false")
            return nil
        }
    }

    mutating func duration(_ node: YAMLNode, _ what: String) -> PolicyDuration? {
        guard let text = self.text(node, what) else { return nil }
        if let duration = PolicyDuration(text) { return duration }
        note(
            .badDuration, node, "\(what) \"\(text)\" is no duration",
            advice: "digits and ms, s, m, h or d, as 15m")
        return nil
    }

    /// Reads one of the words.
    mutating func word(_ node: YAMLNode, _ what: String, of words: [String]) -> String? {
        guard let text = self.text(node, what) else { return nil }
        if words.contains(text) { return text }
        note(
            .unknownWord, node, "unknown \(what) \"\(text)\"",
            advice: Suggestion.advice(for: text, what, among: words))
        return nil
    }

    mutating func words(_ node: YAMLNode, _ what: String, of words: [String]) -> [String] {
        values(node, what).compactMap { word($0, what, of: words) }
    }

    mutating func identifier(_ node: YAMLNode, _ what: String) -> String? {
        guard let text = self.text(node, what) else { return nil }
        guard Identifier.isOne(text) else {
            note(
                .badIdentifier, node, "\(what) \"\(text)\" is no identifier",
                advice: "letters and digits, joined by \".\", \"-\" or \"_\"; "
                    + "at most \(Identifier.longest) bytes")
            return nil
        }
        noteLooks(of: text, node)
        return text
    }

    func origin(_ node: YAMLNode) -> PolicyOrigin {
        PolicyOrigin(
            file: source.path, line: node.place.line, column: node.place.column, level: level)
    }

    /// Warns of a name with letters that look like others.
    mutating func noteLooks(of text: String, _ node: YAMLNode) {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return }
        if Lookalike.mixesScripts(text) {
            note(
                .mixedScript, node, "\"\(text)\" mixes letters of different scripts",
                advice: "it may not be what it looks like")
        } else if let plain = Lookalike.skeleton(text), plain.utf8.allSatisfy({ $0 < 0x80 }) {
            note(.confusable, node, "\"\(text)\" looks like \"\(plain)\", and is not")
        }
    }
}

/// The entries of a mapping, by key.
struct Keys {
    let node: YAMLNode
    let entries: [YAMLEntry]
    /// Whether there were unknown keys, which were reported.
    let hasUnknown: Bool

    subscript(key: String) -> YAMLNode? { entry(key)?.value }
    func entry(_ key: String) -> YAMLEntry? { entries.first { $0.key == key } }
}
