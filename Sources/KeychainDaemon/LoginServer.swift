// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import CallerIdentity
internal import KeychainModel
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import LoginHandoff
internal import KeychainSecrets

/// Serves connections to the login socket, on which the PAM module reports logins, and to the offer
/// socket, on which an unprivileged screen locker may offer its own user's password.
package final class LoginServer: Sendable {
    package enum Kind: Sendable {
        /// Only root may connect, on behalf of any user.
        case login
        /// Each user may connect, for their own keychains, and may only offer a password.
        case offer
    }

    private let source: any ConnectionSource
    private let accounts: AccountNames
    private let user: UInt32
    private let kind: Kind
    private let logins: Logins
    private let limits: ConnectionLimits

    init(
        _ source: any ConnectionSource, _ kind: Kind, of user: UInt32, logins: Logins,
        accounts: AccountNames, looks: any ProcessLooks
    ) {
        self.source = source
        self.user = user
        self.accounts = accounts
        self.kind = kind
        self.logins = logins
        // Root's programs are not looked at: a login waits for none of it.
        limits = ConnectionLimits { kind == .login ? nil : looks.path(of: $0) }
    }

    /// The number of connections.
    var connectionCount: Int { limits.count }

    package func run() { source.serve(limits) { [self] in welcome($0.descriptor) } }

    private func welcome(_ descriptor: Descriptor) {
        guard let connection = try? LoginConnection(descriptor), isAllowed(connection) else {
            return
        }
        guard accounts.has(user) else { return reply(.refused(.notEntitled), connection) }
        do throws(LoginHandoffError) { try handle(connection.receive(), connection) } catch {
            guard let refusal = LoginRefusal(error) else { return }
            try? connection.reply(.refused(refusal))
        }
    }

    private func isAllowed(_ connection: LoginConnection) -> Bool {
        kind == .offer || connection.peerUser == 0
    }

    private func handle(_ request: LoginRequest, _ connection: LoginConnection) {
        let host = connection.peerProcess
        // keychaind reads whom a frame is about, and passes it to that user's worker.
        guard request.user == user else { return reply(.refused(.notEntitled), connection) }
        switch (kind, request) {
        case (.login, .openSession(let facts, let password)):
            let (refusal, notice) = logins.open(facts, password, host: host)
            if refusal == nil, let notice {
                try? connection.reply(.acceptedWithNotice(notice))
            } else {
                reply(refusal, connection)
            }
        case (.login, .closeSession(let ticket, let user)):
            logins.close(ticket: ticket, user: user, host: host)
            reply(nil, connection)
        case (.login, .changePassword(let user, let account, let old, let new)):
            reply(
                logins.changePassword(of: user, account, old: old, new: new, host: host), connection
            )
        case (.login, .resetPassword(let user, let account)):
            reply(logins.resetPassword(of: user, account, host: host), connection)
        case (.login, .offerPassword(let user, let account, let password)):
            reply(
                logins.offer(password, verified: true, for: user, account, host: host), connection)
        case (.offer, .offerPassword(let user, let account, let password))
        where user == connection.peerUser:
            reply(
                logins.offer(password, verified: false, for: user, account, host: host), connection)
        // A number is keychaind's to tell.
        case (.login, .number), (.offer, _):
            reply(.refused(.notEntitled), connection)
        }
    }

    private func reply(_ error: RequestError?, _ connection: LoginConnection) {
        try? connection.reply(error.map { .refused(LoginRefusal($0)) } ?? .accepted)
    }
}
