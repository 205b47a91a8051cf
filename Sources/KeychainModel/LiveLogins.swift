// SPDX-License-Identifier: Apache-2.0

/// A user's logins that were alive at one look: a request that comes is one look for all that it is
/// asked for. After a wait, a new look is to be taken.
package struct LiveLogins: Sendable {
    package let user: UInt32
    package let sessions: [SessionID]
    /// Of all logins: another number where one has come or gone since.
    package let changes: UInt64

    package init(of user: UInt32, _ sessions: [SessionID], changes: UInt64) {
        self.user = user
        self.sessions = sessions
        self.changes = changes
    }
}
