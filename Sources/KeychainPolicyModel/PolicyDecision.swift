// SPDX-License-Identifier: Apache-2.0

/// The outcome of a decision. The raw value is the written word.
public enum PolicyOutcome: String, Sendable, Hashable, CaseIterable {
    case allow
    case deny
    /// Allowed once `requires` has been proven; then the request is decided again.
    case challenge
    case interactionNotAllowed = "interaction-not-allowed"
}

/// A decision with everything that `decide`, `test` and `explain` show of it.
public struct PolicyDecision: Sendable, Hashable {
    public var outcome: PolicyOutcome
    /// The ids of all rules and scopes that led to it, sorted.
    public var because: [PolicyText]
    /// The part of the requirements that the evidence does not meet, canonical; nil when allowed or
    /// denied.
    public var requires: PolicyConstraint?
    public var audit: AuditLevel
    /// The attributes that the answer leaves out, sorted.
    public var redacted: [PolicyText]
    /// The outcome if the complaining rules were enforced, where that differs.
    public var wouldDecide: PolicyOutcome?

    public init(
        outcome: PolicyOutcome, because: [PolicyText] = [], requires: PolicyConstraint? = nil,
        audit: AuditLevel = .decision, redacted: [PolicyText] = [],
        wouldDecide: PolicyOutcome? = nil
    ) {
        self.outcome = outcome
        self.because = because
        self.requires = requires
        self.audit = audit
        self.redacted = redacted
        self.wouldDecide = wouldDecide
    }
}
