// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyRequestSpace

/// A difference between two sets' decisions, with a request as an example.
package struct PolicyChange: Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case newlyAllowed = "newly allowed"
        case newlyDenied = "newly denied"
        /// The requirements have grown, and none is gone.
        case nowNeeds = "now needs"
        case noLongerNeeds = "no longer needs"
        /// Other attributes are left out of answers, or the log has more or less.
        case toldDifferently = "told differently"
    }

    /// A statement that only one of the sets has in this form.
    package struct Statement: Sendable, Hashable {
        package enum Fate: String, Sendable { case new, changed, gone }
        package let id: PolicyText
        package let fate: Fate
    }

    /// The changes in answers and in the log, without those of requests that were or are refused.
    package struct Telling: Sendable, Hashable {
        /// Attributes that answers newly leave out, and attributes that they have again.
        package let hidden: [PolicyText]
        package let shown: [PolicyText]
        /// The new level; nil where it did not change.
        package let audit: AuditLevel?

        init(_ was: PolicyDecision, _ now: PolicyDecision) {
            let isTold = was.outcome != .deny && now.outcome != .deny
            hidden = isTold ? now.redacted.filter { !was.redacted.contains($0) } : []
            shown = isTold ? was.redacted.filter { !now.redacted.contains($0) } : []
            audit = isTold && was.audit != now.audit ? now.audit : nil
        }
    }

    /// A proof whose greatest age, or whose scope, has changed.
    package struct Aging: Sendable, Hashable {
        /// The requirement, with the smallest age that is written.
        package let before: PolicyDemand
        package let after: PolicyDemand
    }

    package let kind: Kind
    /// An example request, and its decisions. All requests agree in whether they are refused, and
    /// in the requirements.
    package let request: PolicyRequest
    package let before: PolicyDecision
    package let after: PolicyDecision
    package var telling: Telling { Telling(before, after) }
    package let agings: [Aging]
    /// The statements that match all the requests and that only one set has, by their ids.
    package let statements: [Statement]
    /// The areas of the requests with this change; they are disjoint.
    package let areas: [RequestArea]
    /// False where that took too long: requests with this change are somewhere in the areas, beside
    /// others, and decisions and statements are those of the example.
    package let isExact: Bool

    /// A program can do what it could not do before.
    package var isNewAccess: Bool { kind == .newlyAllowed }
    /// A program needs less proof than before, or may use an older one.
    package var needsLess: Bool { kind == .noLongerNeeds }
}

/// All differences that were found.
package struct PolicyDifference: Sendable {
    package let changes: [PolicyChange]
    /// Changed statements: the budget did not suffice to find all changes of requests that they
    /// match.
    package let undecided: [PolicyText]
    package var isComplete: Bool { undecided.isEmpty }

    package init(changes: [PolicyChange], undecided: [PolicyText] = []) {
        self.changes = changes
        self.undecided = undecided
    }
}
