// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// What PAM's module asks of the daemon. Nothing in it is proved but what the connection's peer
/// proves: a login socket's peer is root, an offer socket's peer is any user.
package enum LoginRequest: Sendable {
    /// A session begins. No password: none was given to this host (a public key, or another
    /// process asked for it). An empty one was given, and is empty.
    case openSession(SessionFacts, password: HeldSecret?)
    case closeSession(ticket: Int32, user: UInt32)
    /// It may open an existing keychain, and never makes one.
    case offerPassword(user: UInt32, account: String, HeldSecret)
    case changePassword(user: UInt32, account: String, old: HeldSecret, new: HeldSecret)
    /// Root replaced the account's password without knowing it.
    case resetPassword(user: UInt32, account: String)
}

/// What the host of a login knows of the session that it opens.
package struct SessionFacts: Sendable, Equatable {
    package let user: UInt32
    package let account: String
    /// Serial of the ticket in the session keyring; 0 where the kernel gave none.
    package let ticket: Int32
    /// The process that says it opens the session. Compare with the connection's peer.
    package let leader: Int32
    package let auditSession: UInt32?
    package let service: String
    /// A hint only, from an environment that the user may have a say in: ask logind.
    package let logindSession: String?
    package let isRemote: Bool
    /// The host passes no messages on to the user.
    package let isSilent: Bool
    /// The user was authenticated for this session, with the password or without any; not so where
    /// others open it, or where another process had to do with that.
    package let isAuthenticated: Bool

    package init(
        user: UInt32, account: String, ticket: Int32, leader: Int32, auditSession: UInt32?,
        service: String, logindSession: String?, isRemote: Bool,
        isSilent: Bool = false, isAuthenticated: Bool = false
    ) {
        self.user = user
        self.account = account
        self.ticket = ticket
        self.leader = leader
        self.auditSession = auditSession
        self.service = service
        self.logindSession = logindSession
        self.isRemote = isRemote
        self.isSilent = isSilent
        self.isAuthenticated = isAuthenticated
    }
}
