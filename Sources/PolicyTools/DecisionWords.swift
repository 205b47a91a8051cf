// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyAnalysis
internal import PolicyRequestSpace

extension PolicyDecision {
    /// `challenge of "passcode" because a.rule`
    package var words: String {
        let ids = because.map(\.string).joined(separator: ", ")
        return ending + (ids.isEmpty ? "" : " because \(ids)")
    }

    /// `; left out: account; audit: full`, or nothing.
    package var obligations: String {
        (redacted.isEmpty ? "" : "; left out: " + redacted.map(\.string).joined(separator: ", "))
            + (audit == .full ? "; audit: full" : "")
    }

    /// `challenge of "passcode"`
    package var ending: String {
        outcome.rawValue + (requires.map { " of \($0.json)" } ?? "")
    }
}

extension PolicyChange {
    /// `deny → allow`; of what is told differently, what is.
    package var words: String {
        guard kind == .toldDifferently else { return "\(before.ending) → \(after.ending)" }
        func names(_ names: [PolicyText], _ what: String) -> String? {
            names.isEmpty ? nil : names.map(\.string).joined(separator: ", ") + what
        }
        return [
            names(telling.hidden, " left out of answers"),
            names(telling.shown, " shown in answers again"),
            telling.audit.map { "audit: \($0.word)" },
        ].compactMap(\.self).joined(separator: "; ")
    }

    /// `a.rule (changed), b.rule (gone)`
    package var causes: String {
        statements.map { "\($0.id) (\($0.fate.rawValue))" }.joined(separator: ", ")
    }
}

extension [RequestArea] {
    /// So many areas of one entry are written out for people.
    package static var mostShown: Int { 20 }
}
