// SPDX-License-Identifier: Apache-2.0
public import KeychainModel
public import KeychainPolicyModel

/// What has been proven, and how it may serve one request. Facts only; a decision is never kept.
public struct Evidence: Sendable, Equatable {
    public private(set) var proofs: [PolicyProof]
    /// What serves some items and no other, such as a yes.
    private let ofItems: [ItemReference: [PolicyProof]]

    public init(_ proofs: [PolicyProof] = [], ofItems: [ItemReference: [PolicyProof]] = [:]) {
        self.proofs = proofs
        self.ofItems = ofItems
    }

    /// With what was proven for that item alone.
    public func about(_ item: ItemReference) -> Evidence {
        ofItems[item].map { Evidence(proofs + $0) } ?? self
    }

    /// With what was proven for this very request.
    public func adding(_ method: PolicyMethod) -> Evidence {
        Evidence(
            proofs + [PolicyProof(method, age: .zero, scope: .operation)], ofItems: ofItems)
    }

    public func adding(_ other: Evidence) -> Evidence {
        Evidence(proofs + other.proofs, ofItems: ofItems.merging(other.ofItems) { $0 + $1 })
    }

    public var isEmpty: Bool { proofs.isEmpty && ofItems.isEmpty }
}

extension PolicyMethod {
    /// The PAM service that proves it; nil for what PAM does not prove.
    public var service: String? {
        switch self {
        case .factor(.presence): "keychain-presence"
        case .factor(.passcode): "keychain-passcode"
        case .factor(.biometry): "keychain-biometry"
        case .factor(.companion): "keychain-companion"
        case .factor(.biometryCurrentSet), .factor(.confirm), .factor(.appPassword),
            .factor(.login):
            nil
        case .pam(let service): service.string
        }
    }

    /// The factors that a PAM service of ours proves.
    public static let factors: [PolicyMethod] = [
        .factor(.presence), .factor(.biometry), .factor(.companion), .factor(.passcode),
    ]
}
