// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyAnalysis
internal import PolicyRequestSpace

extension PolicyDecision {
    /// `challenge of "passcode" because a.rule`
    package var words: String { ending + reasons }

    /// ` because a.rule`, or the empty text.
    package var reasons: String {
        let ids = because.map(\.string).joined(separator: ", ")
        return ids.isEmpty ? "" : " because \(ids)"
    }

    /// `allow after "passcode"`: the same for all requests with this requirement, whether or not
    /// their programs' users can be asked.
    package var need: String {
        outcome == .deny ? "deny" : "allow" + (requires.map { " after \($0.json)" } ?? "")
    }

    /// `; without account; audit: full`, or the empty text.
    package var obligations: String {
        (redacted.isEmpty ? "" : "; without " + redacted.map(\.shown).joined(separator: ", "))
            + (audit == .full ? "; audit: full" : "")
    }

    /// `challenge of "passcode"`
    package var ending: String {
        outcome.rawValue + (requires.map { " of \($0.json)" } ?? "")
    }
}

extension PolicyChange {
    /// `deny → allow after "passcode"`, with the proofs' ages and the changes of answers and log.
    package var words: String {
        let isSaid = kind == .toldDifferently || (before.need == after.need && !agings.isEmpty)
        let needs = isSaid ? [] : ["\(before.need) → \(after.need)"]
        return (needs + details).joined(separator: "; ")
    }

    /// `no longer needs "passcode" (now: nothing)`
    package var heading: String {
        if kind == .toldDifferently {
            return "\(kind.rawValue): " + details.joined(separator: "; ")
        }
        return ([title].compactMap(\.self) + details).joined(separator: "; ")
    }

    /// nil where the details say everything.
    private var title: String? {
        let (was, now) = (before.requires?.json, after.requires?.json)
        switch kind {
        case .newlyAllowed: return kind.rawValue + (now.map { ", after \($0)" } ?? "")
        case .newlyDenied:
            return kind.rawValue + (was.map { " (before: allowed after \($0))" } ?? "")
        case .toldDifferently: return kind.rawValue
        case .nowNeeds, .noLongerNeeds: break
        }
        switch (was, now) {
        case (nil, let now?): return "now needs \(now) (before: nothing)"
        case (let was?, nil): return "no longer needs \(was) (now: nothing)"
        case (let was?, let now?) where was != now:
            return kind == .nowNeeds
                ? "now needs \(now) (before: \(was))" : "needs \(now) instead of \(was)"
        default:
            return agings.isEmpty
                ? "\(kind.rawValue): \(before.need) → \(after.need)" : nil
        }
    }

    private var details: [String] {
        func names(_ names: [PolicyText], _ what: String) -> String? {
            names.isEmpty ? nil : names.map(\.shown).joined(separator: ", ") + what
        }
        let tellings = [
            names(telling.hidden, " left out of answers"),
            names(telling.shown, " shown in answers again"),
            telling.audit.map { "audit: \($0.word)" },
        ]
        return agings.map(\.words) + tellings.compactMap(\.self)
    }

    /// `a.rule (changed), b.rule (gone)`
    package var causes: String {
        statements.map { "\($0.id) (\($0.fate.rawValue))" }.joined(separator: ", ")
    }
}

extension PolicyChange.Aging {
    /// `"passcode" may be up to 5m old (before: must be given anew)`
    fileprivate var words: String {
        func age(_ demand: PolicyDemand) -> String {
            demand.within == .zero ? "must be given anew" : "may be up to \(demand.within) old"
        }
        func words(_ demand: PolicyDemand) -> String {
            if before.scope == after.scope { return age(demand) }
            let scope = "in scope \(demand.scope.word)"
            return before.within == after.within ? "counts \(scope)" : "\(age(demand)), \(scope)"
        }
        return "\(after.constraint.json) \(words(after)) (before: \(words(before)))"
    }
}

extension PolicyDifference {
    /// `3 differences: 1 of new access, 1 with less proof`
    package var summary: String {
        let access = changes.count { $0.isNewAccess }
        let less = changes.count { $0.needsLess }
        return "\(changes.count) difference\(changes.count == 1 ? "" : "s")"
            + (changes.isEmpty ? "" : ": \(access) of new access, \(less) with less proof")
    }

    /// The part without a result; nil where there is none.
    package var left: String? {
        guard !isComplete else { return nil }
        return "not decided in time: what is shown is true, and more may change of the requests "
            + "that these match: " + undecided.map(\.string).joined(separator: ", ")
    }
}

extension [RequestArea] {
    /// The most areas of one entry that are printed for people.
    package static var mostShown: Int { 20 }
    /// The most entries that are printed.
    package static var mostEntries: Int { 200 }
}
