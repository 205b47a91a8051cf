// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel
internal import Security
internal import Synchronization

extension LAContext {
    func evaluate(_ policy: LAPolicy, _ reason: String) throws {
        if let problem = obstacle(to: policy) { throw problem }
        try evaluate(policy.constraint, reason)
    }

    func evaluate(_ constraint: Constraint, _ reason: String) throws {
        // Apple's systems raise an exception here.
        guard !reason.isEmpty else {
            throw NSError(
                domain: LAErrorDomain, code: -1001,
                userInfo: [NSLocalizedDescriptionKey: "The localized reason must not be empty."])
        }
        guard var context = authentication else { throw LAError(.invalidContext) }
        context.reason = reason
        let cancellation = Cancellation()
        guard enter(cancellation) else { throw LAError(.invalidContext) }
        defer { leave(cancellation) }
        do {
            _ = try KeychainEndpointChoice.current().send(
                Authenticate(constraint), in: context, cancellation: cancellation)
        } catch {
            throw cancellation.isCancelled ? LAError(.appCancel) : LAError(of: error)
        }
    }

    /// The error that prevents an evaluation of the policy on this machine; nil where it is
    /// possible. Whether a question can be put is not looked at: proofs given in the context before
    /// need none, and the service has them.
    func obstacle(to policy: LAPolicy) -> LAError? {
        guard state.withLock({ $0.authentication != nil }) else { return LAError(.invalidContext) }
        guard let known = try? Self.capabilities() else { return LAError(.systemCancel) }
        if policy.usesBiometry, known.biometry == .available {
            state.withLock { $0.domainState = Data(known.biometryState) }
        }
        return policy.obstacle(known).map { LAError($0) }
    }
}

extension LAPolicy {
    fileprivate var usesBiometry: Bool {
        self == .deviceOwnerAuthenticationWithBiometrics
            || self == .deviceOwnerAuthenticationWithBiometricsOrCompanion
    }

    fileprivate var constraint: Constraint {
        switch self {
        case .deviceOwnerAuthenticationWithBiometrics: .biometryAny
        case .deviceOwnerAuthentication: .userPresence
        case .deviceOwnerAuthenticationWithCompanion: .companion
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            .atLeast(required: 1, of: [.biometryAny, .companion])
        }
    }

    func obstacle(_ known: Capabilities) -> LAError.Code? {
        let biometry: LAError.Code? =
            switch known.biometry {
            case .none: .biometryNotAvailable
            case .notEnrolled: .biometryNotEnrolled
            case .available: nil
            }
        guard known.passcode || known.presence else { return .passcodeNotSet }
        return switch self {
        case .deviceOwnerAuthentication: nil
        case .deviceOwnerAuthenticationWithBiometrics: biometry
        case .deviceOwnerAuthenticationWithCompanion:
            known.companion ? nil : .companionNotAvailable
        case .deviceOwnerAuthenticationWithBiometricsOrCompanion:
            known.companion ? nil : biometry
        }
    }
}

extension LAAccessControlOperation {
    var itemOperation: ItemOperation {
        switch self {
        case .createItem, .createKey: .encrypt
        case .useItem: .decrypt
        case .useKeySign: .sign
        case .useKeyDecrypt: .decapsulate
        case .useKeyKeyExchange: .computeKey
        }
    }
}

extension LAError {
    /// The error of this module for an error of the service.
    init(of error: RequestError) {
        switch error {
        case .refused(.cancelled): self.init(.userCancel)
        case .refused(.interactionNotAllowed), .state(.locked), .state(.noSession):
            self.init(.notInteractive)
        case .state(.passcodeNotSet): self.init(.passcodeNotSet)
        case .failed(.notAvailable), .failed(.outOfMemory), .refused(.tooManyRequests):
            self.init(.systemCancel)
        case .invalid, .refused, .state, .failed: self.init(.authenticationFailed)
        }
    }
}
