// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Which sessions' screens are locked, by what logind was told of them.
final class ScreenLocks: Sendable {
    /// nil while logind can't be heard.
    private let locked = ShortLock<Set<String>?>(nil)

    func know(_ sessions: Set<String>) { locked.withLock { $0 = sessions } }

    func knowNothing() { locked.withLock { $0 = nil } }

    func note(_ session: String, isLocked: Bool) {
        locked.withLock { locked in
            if isLocked { locked?.insert(session) } else { locked?.remove(session) }
        }
    }

    func isLocked(_ session: String) -> Bool? { locked.withLock { $0?.contains(session) } }
}
