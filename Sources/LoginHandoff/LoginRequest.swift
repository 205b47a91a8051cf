// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// A request of the PAM module. Only the connection's peer proves its claims: a login socket's peer
/// is root, an offer socket's peer is any user.
package enum LoginRequest: Sendable {
    /// A session begins. nil means that this host was given no password (a public key, or another
    /// process asked for it); an empty password is a given one.
    case openSession(SessionFacts, password: HeldSecret?)
    case closeSession(ticket: Int32, user: UInt32)
    /// The password may open an existing keychain, and never creates one.
    case offerPassword(user: UInt32, account: String, HeldSecret)
    case changePassword(user: UInt32, account: String, old: HeldSecret, new: HeldSecret)
    /// Root replaced the account's password without knowing it.
    case resetPassword(user: UInt32, account: String)
    /// A session is about to begin, and its ticket to be made: whose it is to be.
    case number(user: UInt32)

    /// The user that it is about.
    package var user: UInt32 {
        switch self {
        case .openSession(let facts, _): facts.user
        case .closeSession(_, let user), .offerPassword(let user, _, _),
            .changePassword(let user, _, _, _), .resetPassword(let user, _), .number(let user):
            user
        }
    }
}

/// The facts that the host of a login has about the session that it opens.
package struct SessionFacts: Sendable, Equatable {
    package let user: UInt32
    package let account: String
    /// The serial of the ticket in the session keyring; 0 where the kernel gave none.
    package let ticket: Int32
    /// The process that claims to open the session. Compare it with the connection's peer.
    package let leader: Int32
    package let auditSession: UInt32?
    package let service: String
    /// Only a hint, from an environment that the user may control: ask logind.
    package let logindSession: String?
    package let isRemote: Bool
    /// The host shows no messages to the user.
    package let isSilent: Bool
    /// The user was authenticated for this session, with the password or without any; false where
    /// another user opens it, or where another process authenticated.
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
