// SPDX-License-Identifier: Apache-2.0

/// What has been proven, and how it may serve one request. Facts only; a decision is never kept.
public struct Evidence: Sendable, Equatable {
    public private(set) var proofs: [PolicyProof]

    public init(_ proofs: [PolicyProof] = []) { self.proofs = proofs }

    /// With what was proven for this very request.
    public func adding(_ method: PolicyMethod) -> Evidence {
        Evidence(proofs + [PolicyProof(method, age: .zero, scope: .operation)])
    }

    public func adding(_ other: Evidence) -> Evidence { Evidence(proofs + other.proofs) }

    public var isEmpty: Bool { proofs.isEmpty }
}

extension PolicyMethod {
    /// The PAM service that proves it; nil for what PAM does not prove.
    public var service: String? {
        switch self {
        case .factor(.presence): "keychain-presence"
        case .factor(.passcode): "keychain-passcode"
        case .factor(.biometry): "keychain-biometry"
        case .factor(.companion): "keychain-companion"
        case .factor(.biometryCurrentSet), .factor(.confirm), .factor(.appPassword): nil
        case .pam(let service): service.string
        }
    }

    /// The factors that a PAM service of ours proves.
    public static let factors: [PolicyMethod] = [
        .factor(.presence), .factor(.biometry), .factor(.companion), .factor(.passcode),
    ]
}
