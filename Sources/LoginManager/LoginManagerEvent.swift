// SPDX-License-Identifier: Apache-2.0

/// What logind says about sessions and the machine's sleep.
package enum LoginManagerEvent: Sendable, Equatable {
    /// It is there; these sessions' screens are locked, those of all others are not.
    case present(lockedScreens: Set<String>)
    /// It is gone, or can't be heard: nothing more is known.
    case absent
    /// The session's screen is to be locked.
    case lockRequested(session: String)
    /// The session's own program says so.
    case screen(session: String, isLocked: Bool)
    case sessionEnded(String)
    /// The user's last session has ended.
    case userLeft(UInt32)
    case sleeping
    /// The sleep may write memory to the disk.
    case mayHibernate
    case shuttingDown
}
