// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// A change of a keychain's protectors, with every fact that its judgement may rest on.
public struct ProtectorChange: Sendable {
    public enum Operation: Sendable { case add, remove }

    public let operation: Operation
    /// The keychain's identifier, 16 bytes.
    public let keychain: [UInt8]
    public let isPasscodeSet: Bool
    /// Whether the user may be asked a question and is there to answer.
    public let mayAsk: Bool
    public let provable: Set<PolicyMethod>

    public init(
        _ operation: Operation, keychain: [UInt8], isPasscodeSet: Bool, mayAsk: Bool,
        provable: Set<PolicyMethod>
    ) {
        self.operation = operation
        self.keychain = keychain
        self.isPasscodeSet = isPasscodeSet
        self.mayAsk = mayAsk
        self.provable = provable
    }
}

/// The judge's answer to such a change.
public enum ProtectorVerdict: ~Copyable, Sendable {
    case allow(ProtectorGrant)
    case deny(Denial)
    case allowAfter(Requirement)
}

/// The right to make one change, once. Only the judge makes one; the store consumes it.
public struct ProtectorGrant: ~Copyable, Sendable {
    public let operation: ProtectorChange.Operation
    public let keychain: [UInt8]

    init(_ change: ProtectorChange) {
        operation = change.operation
        keychain = change.keychain
    }
}

extension Judge {
    private static let presence = PolicyConstraint.factor(.presence)

    /// A user who changes a keychain's protectors must prove presence for this very change,
    /// whatever was proven before, as for a change of an item's rights.
    public func judge(_ change: ProtectorChange, _ evidence: Evidence) -> ProtectorVerdict {
        let demand = PolicyDemand(Self.presence)
        if demand.isMet(by: evidence.proofs, for: .changeACL) {
            return .allow(ProtectorGrant(change))
        }
        let requirement = Requirement(Self.presence)
        guard change.isPasscodeSet else { return .deny(.passcodeNotSet) }
        guard requirement.cheapestProof(available: change.provable) != nil else {
            return .deny(.impossible)
        }
        guard change.mayAsk else { return .deny(.interactionNotAllowed) }
        return .allowAfter(requirement)
    }
}
