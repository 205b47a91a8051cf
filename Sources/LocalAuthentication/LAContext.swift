// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
public import Foundation
internal import KeychainEndpoints
package import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
// Security's names come with this module, as with Apple's headers.
@_exported public import Security
internal import Synchronization

/// Authenticates the user, and keeps the proofs for later requests made in it
/// (`kSecUseAuthenticationContext`). Proofs serve the process that made the context, and end with
/// the process, with `invalidate()`, and when the keychain is locked.
open class LAContext: NSObject, @unchecked Sendable {
    struct State {
        /// nil after `invalidate()`.
        var authentication: AuthenticationContext? = AuthenticationContext()
        var reason = ""
        var reuseDuration: TimeInterval = 0
        var domainState: Data?
        var waiting: [Cancellation] = []
    }
    let state = Mutex(State())

    /// The title of a prompt's button for another way; the prompters here have no such button.
    open var localizedFallbackTitle: String?
    open var localizedCancelTitle: String?
    @available(*, deprecated, message: "PAM's modules count for themselves.")
    open var maxBiometryFailures: NSNumber?

    public override init() { super.init() }

    deinit { invalidate() }

    /// The program's reason for the user, shown below the system's own description of the request.
    open var localizedReason: String {
        get { state.withLock { $0.reason } }
        set {
            state.withLock { state in
                state.reason = newValue
                state.authentication?.reason = newValue.isEmpty ? nil : newValue
            }
        }
    }

    /// Whether the user must not be asked: a request that needs a question fails.
    open var interactionNotAllowed: Bool {
        get { state.withLock { $0.authentication.map { !$0.mayInteract } ?? true } }
        set { state.withLock { $0.authentication?.mayInteract = !newValue } }
    }

    /// Seconds for which an unlock of the device by biometry counts, 0 to 300. PAM does not tell
    /// how a session was unlocked, so no unlock counts here.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set {
            let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
            state.withLock { $0.reuseDuration = newValue > 0 ? min(newValue, longest) : 0 }
        }
    }

    /// Changes when the user's enrolled fingers change; nil until a policy with biometry was found
    /// possible, or evaluated.
    open var evaluatedPolicyDomainState: Data? { state.withLock { $0.domainState } }

    /// The kind of reader that this machine has and PAM is set up for.
    open var biometryType: LABiometryType {
        guard let known = try? Self.capabilities() else { return .none }
        return known.biometry == .none ? .none : .touchID
    }

    /// Whether this machine is set up for the policy's proofs. It does not ask the user, and does
    /// not tell whether a question could be put now: a program that protects its items only where
    /// this is true would store them unprotected.
    @discardableResult
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let problem = obstacle(to: policy)
        // Safe: the caller's own variable for an error, nil where none is wanted.
        if let problem { unsafe error?.pointee = problem as NSError }
        return problem == nil
    }

    /// Asks the user. `reply` is called on a thread of the system's.
    ///
    /// - Parameter localizedReason: must not be empty.
    open func evaluatePolicy(
        _ policy: LAPolicy, localizedReason: String,
        reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        DispatchQueue.global().async { [self] in
            do {
                try evaluate(policy, localizedReason)
                reply(true, nil)
            } catch { reply(false, error) }
        }
    }

    /// Asks the user for the proofs that the access control needs before the operation.
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation,
        localizedReason: String, reply: @escaping @Sendable (Bool, (any Error)?) -> Void
    ) {
        DispatchQueue.global().async { [self] in
            do {
                guard let rights = accessControl.itemRights else {
                    throw LAError(.authenticationFailed)
                }
                try evaluate(rights.constraint(for: operation.itemOperation), localizedReason)
                reply(true, nil)
            } catch { reply(false, error) }
        }
    }

    @discardableResult
    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { success, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(success))
            }
        }
    }

    @discardableResult
    open func evaluateAccessControl(
        _ accessControl: SecAccessControl, operation: LAAccessControlOperation,
        localizedReason: String
    ) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluateAccessControl(
                accessControl, operation: operation, localizedReason: localizedReason
            ) { success, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(success))
            }
        }
    }

    /// Ends every evaluation and item call in progress, and forgets the proofs. The context can't be used
    /// afterwards.
    open func invalidate() {
        let (context, waiting) = state.withLock { state in
            defer {
                state.authentication = nil
                state.waiting = []
            }
            return (state.authentication, state.waiting)
        }
        for cancellation in waiting { cancellation.cancel() }
        // The service does not know a context in which no request was made.
        guard let context, wasUsed.withLock({ $0 }) else { return }
        _ = try? KeychainEndpointChoice.current().send(EndContext(), in: context)
    }

    /// Sets the application password, which keys to items made with one are derived from; nil
    /// removes it. Returns false for any other type, and in a context that has ended.
    @discardableResult
    open func setCredential(_ credential: Data?, type: LACredentialType) -> Bool {
        guard type == .applicationPassword else { return false }
        let password = credential.map { HeldSecret(SecretBytes(copying: [UInt8]($0))) }
        return state.withLock { state in
            state.authentication?.applicationPassword = password
            return state.authentication != nil
        }
    }

    open func isCredentialSet(_ type: LACredentialType) -> Bool {
        guard type == .applicationPassword else { return false }
        return state.withLock { $0.authentication?.applicationPassword != nil }
    }

    /// Whether the service may know the context.
    let wasUsed = Mutex(false)

    static func capabilities() throws -> Capabilities {
        try KeychainEndpointChoice.current().send(ReadCapabilities())
    }
}

/// The type of a call's error parameter, as on Apple's systems.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

extension LAContext: AuthenticationContextCarrier {
    package var authentication: AuthenticationContext? {
        wasUsed.withLock { $0 = true }
        return state.withLock { $0.authentication }
    }

    package func enter(_ cancellation: Cancellation) -> Bool {
        state.withLock { state in
            guard state.authentication != nil else { return false }
            state.waiting.append(cancellation)
            return true
        }
    }

    package func leave(_ cancellation: Cancellation) {
        state.withLock { $0.waiting.removeAll { $0 === cancellation } }
    }
}
