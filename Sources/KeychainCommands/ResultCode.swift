// SPDX-License-Identifier: Apache-2.0

/// How the program ends. Fixed: scripts depend on it, and the manual page says so.
package enum ResultCode: Int32 {
    case done = 0
    case failure = 1
    case usage = 2
    case notFound = 3
    /// Locked, or no user to ask.
    case locked = 4
    case refused = 5
    case notAuthenticated = 6
    case cancelled = 7
    case damaged = 8
    case exists = 9
}
