// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// The sessions whose screens are locked, according to logind.
package final class ScreenLocks: Sendable {
    /// nil while there is no connection to logind.
    private let locked = ShortLock<Set<String>?>(nil)

    package init() {}

    package func know(_ sessions: Set<String>) { locked.withLock { $0 = sessions } }

    package func knowNothing() { locked.withLock { $0 = nil } }

    package func note(_ session: String, isLocked: Bool) {
        locked.withLock { locked in
            if isLocked { locked?.insert(session) } else { locked?.remove(session) }
        }
    }

    package func isLocked(_ session: String) -> Bool? { locked.withLock { $0?.contains(session) } }
}
