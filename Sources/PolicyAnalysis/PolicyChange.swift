// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyRequestSpace

/// What another set decides differently, with a request that shows it.
package struct PolicyChange: Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case newlyAllowed = "newly allowed"
        case newlyDenied = "newly denied"
        /// Nothing less than before.
        case nowNeeds = "now needs"
        case noLongerNeeds = "no longer needs"
        /// Other attributes are left out, or more or less is written down.
        case toldDifferently = "told differently"
    }

    /// A statement that only one of the sets has as it is.
    package struct Statement: Sendable, Hashable {
        package enum Fate: String, Sendable { case new, changed, gone }
        package let id: PolicyText
        package let fate: Fate
    }

    /// What an answer has or the log tells more or less; nothing of requests that were or are
    /// refused.
    package struct Telling: Sendable, Hashable {
        /// Attributes that answers newly leave out, and those that they have again.
        package let hidden: [PolicyText]
        package let shown: [PolicyText]
        /// The new level, where it is another.
        package let audit: AuditLevel?

        init(_ was: PolicyDecision, _ now: PolicyDecision) {
            let isTold = was.outcome != .deny && now.outcome != .deny
            hidden = isTold ? now.redacted.filter { !was.redacted.contains($0) } : []
            shown = isTold ? was.redacted.filter { !now.redacted.contains($0) } : []
            audit = isTold && was.audit != now.audit ? now.audit : nil
        }
    }

    /// A proof that may be older or younger than before, or of another scope.
    package struct Aging: Sendable, Hashable {
        /// What is needed, with the least that is written of how old it may be.
        package let before: PolicyDemand
        package let after: PolicyDemand
    }

    package let kind: Kind
    /// One of the requests, and what is decided of it. Whether it is refused, and what has to be
    /// proved, is the same for all.
    package let request: PolicyRequest
    package let before: PolicyDecision
    package let after: PolicyDecision
    package var telling: Telling { Telling(before, after) }
    package let agings: [Aging]
    /// The statements that match all the requests and that only one set has, by their ids.
    package let statements: [Statement]
    /// Where the requests with this change lie; none is in two of the areas.
    package let areas: [RequestArea]
    /// False where that took too long: requests with this change lie somewhere in the areas, with
    /// others, and decisions and statements are those of the example.
    package let isExact: Bool

    /// A program can do what it could not.
    package var isNewAccess: Bool { kind == .newlyAllowed }
    /// A program can do what it could, with less proof, or an older one.
    package var needsLess: Bool { kind == .noLongerNeeds }
}

/// All differences, as far as they were found.
package struct PolicyDifference: Sendable {
    package let changes: [PolicyChange]
    /// Changed statements; of requests that they match the budget left open whether more changes.
    package let undecided: [PolicyText]
    package var isComplete: Bool { undecided.isEmpty }

    package init(changes: [PolicyChange], undecided: [PolicyText] = []) {
        self.changes = changes
        self.undecided = undecided
    }
}
