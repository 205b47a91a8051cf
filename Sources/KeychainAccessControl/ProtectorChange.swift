// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// A change of what opens a keychain, with every fact that its judgement may rest on.
public struct ProtectorChange: Sendable {
    public enum Operation: Sendable { case add, remove }

    public let operation: Operation
    /// The keychain's 16 bytes.
    public let keychain: [UInt8]
    public let isPasscodeSet: Bool
    /// Whether a question may be put to the user, and the user is there to answer it.
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

/// What the judge says of such a change.
public enum ProtectorVerdict: ~Copyable, Sendable {
    case allow(ProtectorGrant)
    case deny(Denial)
    case allowAfter(Requirement)
}

/// The right to make one change, once. Only a judgement makes one; the store uses it up.
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

    /// A user who changes what opens a keychain is there, whatever else they know; and proves it
    /// for this very change, as for a change of an item's rights.
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
