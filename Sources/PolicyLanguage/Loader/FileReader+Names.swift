// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

/// Checks for values that hardly any real name has: a rule about one never matches for certain, so
/// it lets through the requests that it was to refuse.
extension FileReader {
    mutating func checkName(
        _ text: String, _ pattern: TextPattern, _ field: TextField, _ node: YAMLNode
    ) {
        let isWhole = if case .literal = pattern { true } else { false }
        guard let mistake = NameMistake(text, of: field, isWhole: isWhole) else { return }
        note(.impossibleName, node, mistake.message, advice: mistake.advice)
    }

    /// `identity` is the class of no item: what Apple calls an identity is two items.
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

    /// Reports a match that no request can have.
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
    /// Whether a condition limits the sessions to those of the mask.
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
    /// Whether it can't be met without a yes in a window.
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
