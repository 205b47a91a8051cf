// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets
internal import Synchronization

/// The context that a request comes in (`LAContext`): proofs that the user gave in it serve its
/// later requests as well. It counts only for the process that made it.
package struct AuthenticationContext: Sendable {
    /// The number of bytes in an identifier.
    package static let identifierBytes = 16

    /// Chosen at random by the program.
    package let identifier: [UInt8]
    /// Whether the user may be asked.
    package var mayInteract = true
    /// The asking program's own words for the user.
    package var reason: String?
    /// The password that items made with an application password need besides. Copies share it: a
    /// wrong one is also removed from the object that the program holds.
    package var applicationPassword: HeldSecret? {
        get { credential.password.withLock { $0 } }
        nonmutating set { credential.password.withLock { $0 = newValue } }
    }
    private let credential: Credential

    private final class Credential: Sendable {
        let password = Mutex<HeldSecret?>(nil)
    }

    /// nil where the identifier has another length.
    package init?(identifier: [UInt8]) {
        guard identifier.count == Self.identifierBytes else { return nil }
        self.identifier = identifier
        credential = Credential()
    }

    package init() {
        identifier = RandomBytes.make(Self.identifierBytes)
        credential = Credential()
    }

    /// Removes the wrong password, unless the program has set another one meanwhile.
    func remove(wrong password: HeldSecret) {
        credential.password.withLock { known in
            if known === password { known = nil }
        }
    }
}

/// The proofs that the user could be asked for, on this machine and at this moment.
package struct Capabilities: Sendable, Equatable {
    package enum Biometry: UInt8, Sendable {
        /// There is no reader, or no PAM service for one.
        case none = 0
        case notEnrolled = 1
        case available = 2
    }

    /// The login keychain has a password, and a PAM service asks for it.
    package var passcode = false
    package var presence = false
    package var biometry = Biometry.none
    package var companion = false
    /// Whether there is a user to ask, and a way to do it.
    package var interaction = false
    /// Changes when the enrolled fingers change; empty where none are enrolled.
    package var biometryState: [UInt8] = []

    package init() {}
}

/// Lets another thread end a request that waits, as for a user who is being asked.
package final class Cancellation: Sendable {
    private struct State {
        var isCancelled = false
        var action: (@Sendable () -> Void)?
    }
    private let state = Mutex(State())

    package init() {}

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    package func cancel() {
        // Called under the lock: after `whileWaiting` returns, the action would end another
        // request.
        state.withLock { state in
            state.isCancelled = true
            state.action?()
        }
    }

    /// Sets the action of `cancel()` while the request is under way. The action is called at once
    /// where `cancel()` came before.
    package func whileWaiting<R, E: Error>(
        _ action: @escaping @Sendable () -> Void, _ body: () throws(E) -> R
    ) throws(E) -> R {
        let isCancelled = state.withLock { state in
            state.action = action
            return state.isCancelled
        }
        defer { state.withLock { $0.action = nil } }
        if isCancelled { action() }
        return try body()
    }
}
