// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

/// Values that nothing is called: a rule about one never matches for certain, so it lets through
/// what it was to keep out.
extension FileReader {
    mutating func checkName(
        _ text: String, _ pattern: TextPattern, _ field: TextField, _ node: YAMLNode
    ) {
        let isWhole = if case .literal = pattern { true } else { false }
        guard let mistake = NameMistake(text, of: field, isWhole: isWhole) else { return }
        note(.impossibleName, node, mistake.message, advice: mistake.advice)
    }

    /// Of the words for classes one is of no item: what Apple calls an identity is two of them.
    mutating func checkClass(_ node: YAMLNode) {
        guard let place = Self.scalar("identity", in: node) else { return }
        note(
            .impossibleName, place, "no item is of the class identity",
            advice: "[certificate, key]: an identity is one of each")
    }

    mutating func redacted(_ node: YAMLNode) -> [PolicyText] {
        texts(node, "redact").map { text, node in
            // A name of four bytes is that of the attribute itself, as `acct`.
            if !Vocabulary.attributes.contains(text), text.utf8.count != 4 {
                note(
                    .unknownAttribute, node,
                    "no attribute is called \"\(text)\", so none is left out",
                    advice: Suggestion.advice(for: text, among: Vocabulary.attributes)
                        ?? "one of: " + Vocabulary.attributes.joined(separator: ", "))
            }
            return PolicyText(text)
        }
    }

    /// A match that no request can have.
    mutating func checkContradictions(_ box: PolicyBox, _ keys: Keys) {
        let isOfKeys = box.operations.isSubset(of: .onKeys) && !box.operations.isEmpty
        for case .choice(.itemClass, let mask) in box.conditions
        where isOfKeys && mask & 1 << ChoiceField.keyClass == 0 {
            note(
                .contradiction, keys["operations"] ?? keys.node,
                "only items of the class key can do this, and the class is another",
                advice: "name other operations, or class: key")
        }
        if box.isOfSSH, box.conditions.contains(.boolean(.remote, false)) {
            note(
                .contradiction, keys["when"] ?? keys.node,
                "a login by ssh is remote, and this is about those that are not",
                advice: "leave out remote, or name other sessions")
        }
    }
}

extension PolicyOperations {
    fileprivate static let onKeys = PolicyOperations([
        .init(.sign), .init(.decrypt), .init(.derive),
    ])
}

extension PolicyBox {
    /// Logins by ssh alone.
    var isOfSSH: Bool {
        let mask = ChoiceField.session.index(of: "ssh").map { UInt8(1) << $0 }
        return conditions.contains {
            if case .choice(.session, let own) = $0 { own == mask } else { false }
        }
    }
}

extension PolicyConstraint {
    /// It can't be met without a yes in a window.
    var needsConfirm: Bool {
        switch self {
        case .factor(let factor): factor == .confirm
        case .pam: false
        case .any(let children): children.allSatisfy(\.needsConfirm)
        case .all(let children): children.contains(where: \.needsConfirm)
        case .atLeast(let count, let children):
            children.count { !$0.needsConfirm } < Int(count)
        }
    }
}

/// Why nothing is called so, and what may have been meant.
private struct NameMistake {
    let message: String
    let advice: String

    init?(_ text: String, of field: TextField, isWhole: Bool) {
        let known: (message: String, advice: String)? =
            if let mark = Self.mark(text, field) {
                mark
            } else if isWhole {
                Self.shape(text, field)
            } else {
                nil
            }
        guard let known else { return nil }
        (message, advice) = known
    }

    /// Fields whose values begin with a letter, a digit or a few signs.
    private static let named: Set<TextField> = [
        .user, .group, .unit, .userUnit, .slice, .host, .server, .keychain,
    ]
    private static let quotes: Set<Unicode.Scalar> = [
        "\u{AB}", "\u{BB}", "\u{2018}", "\u{2019}", "\u{201A}", "\u{201B}", "\u{201C}", "\u{201D}",
        "\u{201E}", "\u{201F}",
    ]

    /// Signs that mean something elsewhere.
    private static func mark(_ text: String, _ field: TextField) -> (String, String)? {
        let first = text.unicodeScalars.first
        if let first, quotes.contains(first), field != .itemLabel {
            return ("\"\(text)\" begins with a mark that quotes nothing here", "use \" or '")
        }
        if field == .server, text.contains("/") {
            return ("\"\(text)\" is no host name", "name the host alone, as github.com")
        }
        guard named.contains(field) else { return nil }
        if first == "!" {
            return (
                "\"\(text)\" is taken letter by letter, with its \"!\"",
                "say under unless what a rule is not about"
            )
        }
        if first == "^" || (text.contains(".*") && text.hasSuffix("$")) {
            return (
                "\"\(text)\" is taken letter by letter, and no pattern like this is known",
                "\"*\" stands for any text, as in \"ann*\""
            )
        }
        return nil
    }

    private static func shape(_ text: String, _ field: TextField) -> (String, String)? {
        func no(_ what: String, _ advice: String, unless isMet: Bool) -> (String, String)? {
            isMet ? nil : ("no \(what) is called \"\(text)\"", advice)
        }
        let isNumber = text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        switch field {
        case .exe:
            return no("program", "write a path as /usr/bin/git", unless: text.hasPrefix("/"))
        case .unit, .userUnit:
            guard text.contains("@.") else {
                return no("unit", "write a unit as nginx.service", unless: text.contains("."))
            }
            let parts = text.split(separator: "@.", maxSplits: 1, omittingEmptySubsequences: false)
            return (
                "\"\(text)\" is a template, in which no program runs",
                "\"\(parts.joined(separator: "@*."))\" stands for all that are made of it"
            )
        case .slice:
            return no("slice", "write a slice as system.slice", unless: text.hasSuffix(".slice"))
        case .user:
            return no("user", "write uid: \(text)", unless: !isNumber)
        case .group:
            return no("group", "write the group's name", unless: !isNumber)
        default: return nil
        }
    }
}
