// SPDX-License-Identifier: Apache-2.0
// The facts side: what is known of one operation on one item when it is decided. Host names are
// lower-cased by the code that makes the fact.

/// A fact is there, is not, or could not be established; the last two are never the same.
public enum Fact<Value: Sendable & Hashable>: Sendable, Hashable {
    case absent
    case known(Value)
    case unknown
}

/// What a proof was given by.
public enum PolicyMethod: Sendable, Hashable {
    case factor(PolicyFactor)
    case pam(PolicyText)
}

/// Something proven, and how it may serve this request. Proofs that belong to other programs or
/// items (`confirm` is bound to both) are left out by the code that makes the request.
public struct PolicyProof: Sendable, Hashable {
    public var method: PolicyMethod
    public var age: PolicyDuration
    /// The narrowest scope that the proof shares with this request.
    public var scope: Freshness

    public init(_ method: PolicyMethod, age: PolicyDuration, scope: Freshness) {
        self.method = method
        self.age = age
        self.scope = scope
    }
}

/// One operation on one item, with every fact that its decision may rest on.
///
/// `interactive` is the fact of that name: whether a user could answer.
public struct PolicyRequest: Sendable, Hashable {
    public var operation: PolicyOperation
    /// For `add` and `update` the item is as it would be afterwards.
    public var facts: PolicyFacts
    /// For `update`: the item as it was. Its resource facts, flags and constraint are read, and
    /// `member` where it is set.
    public var before: PolicyFacts?
    public var evidence: [PolicyProof]
    /// Today's local date in days since 1970-01-01, for the end of complaining.
    public var day: Int32

    public init(
        _ operation: PolicyOperation, facts: PolicyFacts, before: PolicyFacts? = nil,
        evidence: [PolicyProof] = [], day: Int32
    ) {
        self.operation = operation
        self.facts = facts
        self.before = before
        self.evidence = evidence
        self.day = day
    }
}

extension PolicyRequest {
    /// Everything the request must pass: reading a key is a read and an export, and an update
    /// concerns the item before it too.
    package var cases: [(operation: PolicyOperation, facts: PolicyFacts)] {
        let itself = (operation: operation, facts: facts)
        switch operation {
        case .readSecret where facts[.itemClass].mayBe(ChoiceField.keyClass):
            return [itself, (.export, facts)]
        case .update:
            return [itself] + (before.map { [(operation, facts.with(item: $0))] } ?? [])
        default:
            return [itself]
        }
    }
}

extension Fact {
    package func mayBe(_ value: Value) -> Bool {
        switch self {
        case .absent: false
        case .known(let own): own == value
        case .unknown: true
        }
    }
}

extension PolicyProof {
    /// Whether it shows that the user was there; a word of consent and a login do not.
    package var provesPresence: Bool {
        guard case .factor(let factor) = method else { return false }
        return factor != .confirm && factor != .appPassword && factor != .login
    }
}
