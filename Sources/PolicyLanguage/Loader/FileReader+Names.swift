// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

/// Values that hardly anything is called: a rule about one never matches for certain, so it lets
/// through what it was to keep out.
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
            if PolicyEffect.attribute(text) == nil {
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
        let isOfKeys = box.operations.isSubset(of: .useKey) && !box.operations.isEmpty
        for case .choice(.itemClass, let mask) in box.conditions
        where isOfKeys && mask & 1 << ChoiceField.keyClass == 0 {
            note(
                .contradiction, keys["operations"] ?? keys.node,
                "only items of the class key can do this, and the class is another",
                advice: "name other operations, or class: key")
        }
        for (isRemote, what) in [(true, "not remote"), (false, "remote")]
        where box.isOfSessions(isRemote ? ChoiceField.remoteSessions : ChoiceField.localSessions)
            && box.conditions.contains(.boolean(.remote, !isRemote))
        {
            note(
                .contradiction, keys["when"] ?? keys.node, "no such session is \(what)",
                advice: "leave out remote, or name other sessions")
        }
    }
}

extension PolicyBox {
    /// Sessions of the mask alone.
    func isOfSessions(_ mask: UInt8) -> Bool {
        conditions.contains {
            if case .choice(.session, let own) = $0 { own & ~mask == 0 } else { false }
        }
    }

    var isOfSSH: Bool {
        ChoiceField.session.index(of: "ssh").map { isOfSessions(1 << $0) } ?? false
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
        // A name may begin with such a mark, as ’t Hooft.
        if let first, let last = text.unicodeScalars.last, text.unicodeScalars.count > 1,
            quotes.contains(first), quotes.contains(last), field != .itemLabel
        {
            return ("\"\(text)\" stands in marks that quote nothing here", "use \" or '")
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
            guard let dot = text.lastIndex(of: ".") else {
                return no("unit", "write a unit as nginx.service", unless: false)
            }
            // Of x@y@.service the instance is "y@".
            let at = text.firstIndex(of: "@").map { text.index(after: $0) }
            guard at == dot else { return nil }
            return (
                "\"\(text)\" is a template, in which no program runs",
                "\"\(text[..<dot])*\(text[dot...])\" stands for all that are made of it"
            )
        case .slice:
            return no("slice", "write a slice as system.slice", unless: text.hasSuffix(".slice"))
        case .user:
            return isNumber ? ("\"\(text)\" is taken for a name", "write uid: \(text)") : nil
        case .group:
            return isNumber ? ("\"\(text)\" is taken for a name", "write the group's name") : nil
        default: return nil
        }
    }
}
