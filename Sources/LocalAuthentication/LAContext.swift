// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
public import Foundation
internal import KeychainEndpoints
package import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
// Its names come with this module, as by the headers of Apple's.
@_exported public import Security
internal import Synchronization

/// Authenticates the user, and holds what was proven for later requests that are made in it
/// (`kSecUseAuthenticationContext`). Proofs serve the process that the context was made in, and end
/// with it, with `invalidate()`, and with the lock of the keychain.
open class LAContext: NSObject, @unchecked Sendable {
    struct State {
        /// nil once it was invalidated.
        var authentication: AuthenticationContext? = AuthenticationContext()
        var reason = ""
        var reuseDuration: TimeInterval = 0
        var domainState: Data?
        var waiting: [Cancellation] = []
    }
    let state = Mutex(State())

    /// Of the prompt's button for another way; the prompters here have none.
    open var localizedFallbackTitle: String?
    open var localizedCancelTitle: String?
    @available(*, deprecated, message: "PAM's modules count for themselves.")
    open var maxBiometryFailures: NSNumber?

    public override init() { super.init() }

    deinit { invalidate() }

    /// Words for the user, below what the system itself says of the request.
    open var localizedReason: String {
        get { state.withLock { $0.reason } }
        set {
            state.withLock { state in
                state.reason = newValue
                state.authentication?.reason = newValue.isEmpty ? nil : newValue
            }
        }
    }

    /// Whether the user must not be asked: what needs a question fails instead.
    open var interactionNotAllowed: Bool {
        get { state.withLock { $0.authentication.map { !$0.mayInteract } ?? true } }
        set { state.withLock { $0.authentication?.mayInteract = !newValue } }
    }

    /// Seconds for which an unlock of the device by biometry counts, 0 to 300. PAM does not tell
    /// how a session was unlocked, so that none counts here.
    open var touchIDAuthenticationAllowableReuseDuration: TimeInterval {
        get { state.withLock { $0.reuseDuration } }
        set {
            let longest = LATouchIDAuthenticationMaximumAllowableReuseDuration
            state.withLock { $0.reuseDuration = newValue > 0 ? min(newValue, longest) : 0 }
        }
    }

    /// Changes when what the user has enrolled changes; nil before a policy that asks for biometry
    /// was found possible, or evaluated.
    open var evaluatedPolicyDomainState: Data? { state.withLock { $0.domainState } }

    /// The kind of reader that this machine has and PAM is set up for.
    open var biometryType: LABiometryType {
        guard let known = try? Self.capabilities() else { return .none }
        return known.biometry == .none ? .none : .touchID
    }

    /// Whether the user could be asked for what the policy needs, on this machine and as it is set
    /// up; asks nothing.
    open func canEvaluatePolicy(_ policy: LAPolicy, error: NSErrorPointer) -> Bool {
        let problem = obstacle(to: policy, mustAsk: true)
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

    /// Asks the user for what the access control needs before the operation.
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

    open func evaluatePolicy(_ policy: LAPolicy, localizedReason: String) async throws -> Bool {
        try await withCheckedThrowingContinuation { continuation in
            evaluatePolicy(policy, localizedReason: localizedReason) { success, error in
                continuation.resume(with: error.map { .failure($0) } ?? .success(success))
            }
        }
    }

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

    /// Ends every evaluation that is under way, and forgets what was proven. The context can do
    /// nothing afterwards.
    open func invalidate() {
        let (context, waiting) = state.withLock { state in
            defer {
                state.authentication = nil
                state.waiting = []
            }
            return (state.authentication, state.waiting)
        }
        for cancellation in waiting { cancellation.cancel() }
        // A context that nothing was asked in is unknown to the service.
        guard let context, wasUsed.withLock({ $0 }) else { return }
        _ = try? KeychainEndpointChoice.current().send(EndContext(), in: context)
    }

    /// What goes into the derivation of keys to items made with an application password; nil takes
    /// it away again. False for any other type, and in a context that has ended.
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

    /// Whether the service may have heard of it.
    let wasUsed = Mutex(false)

    static func capabilities() throws -> Capabilities {
        try KeychainEndpointChoice.current().send(ReadCapabilities())
    }
}

/// Where a call puts its error, as on Apple's systems.
public typealias NSErrorPointer = UnsafeMutablePointer<NSError?>?

extension LAContext: AuthenticationContextCarrier {
    package var authentication: AuthenticationContext? {
        wasUsed.withLock { $0 = true }
        return state.withLock { $0.authentication }
    }
}
