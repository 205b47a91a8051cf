// SPDX-License-Identifier: Apache-2.0

/// logind's messages about sessions and the machine's sleep.
package enum LoginManagerEvent: Sendable, Equatable {
    /// logind is there; these sessions' screens are locked, those of all others are not.
    case present(lockedScreens: Set<String>)
    /// logind is gone or can't be reached: nothing is known any more.
    case absent
    /// The session's screen is to be locked.
    case lockRequested(session: String)
    /// The state as reported by the session's own program.
    case screen(session: String, isLocked: Bool)
    case sessionEnded(String)
    /// The user's last session has ended.
    case userLeft(UInt32)
    case sleeping
    /// The sleep may write memory to the disk.
    case mayHibernate
    case shuttingDown
}
