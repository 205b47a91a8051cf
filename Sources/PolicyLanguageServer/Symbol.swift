// SPDX-License-Identifier: Apache-2.0
internal import PolicyLanguage
internal import KeychainPolicyModel

/// A name that a policy declares, and that is used elsewhere.
struct Symbol: Hashable, Sendable {
    enum Kind: Sendable {
        /// Declared under `define:`, and known in its file alone.
        case definition
        /// An access group.
        case group
        /// The id of a rule, a scope, a group's entry or an assertion.
        case id
    }

    let kind: Kind
    let name: String

    /// Whether the text can be a name of the kind.
    static func mayBeCalled(_ name: String, _ kind: Kind) -> Bool {
        switch kind {
        case .definition, .id: Identifier.isOne(name)
        case .group:
            !name.isEmpty && name.utf8.count <= Identifier.longest
                && !name.unicodeScalars.contains { $0.value < 0x20 || $0 == "*" || $0 == ":" }
        }
    }
}

/// Where a symbol is declared or used.
struct SymbolPlace: Sendable {
    let symbol: Symbol
    let isDeclaration: Bool
    let word: Outline.Word
}

extension Outline {
    private static let declaring = ["rules", "groups", "closed", "assert"]

    var symbols: [SymbolPlace] { words.compactMap(Self.symbol) }

    static func symbol(_ word: Word) -> SymbolPlace? {
        func place(_ kind: Symbol.Kind, _ isDeclaration: Bool) -> SymbolPlace {
            SymbolPlace(
                symbol: Symbol(kind: kind, name: word.text), isDeclaration: isDeclaration,
                word: word)
        }
        if word.role == .key {
            return word.path == [.key("define")] ? place(.definition, true) : nil
        }
        guard let last = lastKey(word.path) else { return nil }
        switch last {
        case "id" where declares(word.path): return place(.id, true)
        case "group" where word.path == [.key("groups"), .item, .key("group")]:
            return place(.group, true)
        case "use", "access-group", "replaces", "because":
            return kind(namedBy: last).map { place($0, false) }
        default: return nil
        }
    }

    /// The kind of symbol that the values of a key name; nil for other keys.
    static func kind(namedBy key: String) -> Symbol.Kind? {
        switch key {
        case "use": .definition
        case "access-group": .group
        case "replaces", "because": .id
        default: nil
        }
    }

    static func lastKey(_ path: [Step]) -> String? {
        for step in path.reversed() { if case .key(let key) = step { return key } }
        return nil
    }

    private static func declares(_ path: [Step]) -> Bool {
        guard path.count == 3, case .key(let list) = path[0], path[1] == .item else { return false }
        return declaring.contains(list)
    }
}
