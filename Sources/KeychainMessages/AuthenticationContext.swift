// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets
internal import Synchronization

/// What a request says of the context it comes in (`LAContext`): proofs that the user gave in it
/// serve its later requests as well. It means something to the process that made it, and to no
/// other.
package struct AuthenticationContext: Sendable {
    /// Bytes of an identifier.
    package static let identifierBytes = 16

    /// Chosen at random by the program.
    package let identifier: [UInt8]
    /// Whether the user may be asked.
    package var mayInteract = true
    /// The asking program's own words for the user.
    package var reason: String?
    /// What items made with an application password need besides. Copies share it: one that was
    /// wrong is taken out of the object that the program holds, too.
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

    /// Takes the password out, unless the program has given another one meanwhile.
    func remove(wrong password: HeldSecret) {
        credential.password.withLock { known in
            if known === password { known = nil }
        }
    }
}

/// What the user could be asked to prove, on this machine and at this moment.
package struct Capabilities: Sendable, Equatable {
    package enum Biometry: UInt8, Sendable {
        /// No reader, or no PAM service for one.
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
    /// Changes when what is enrolled changes; empty where nothing is.
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
        // Under the lock: once `whileWaiting` is over, what the action ends is another request's.
        state.withLock { state in
            state.isCancelled = true
            state.action?()
        }
    }

    /// What cancelling does while the request is under way; done at once where it came before.
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
