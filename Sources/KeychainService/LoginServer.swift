// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel
internal import KeychainStore
internal import LocalSocket
internal import LoginHandoff
internal import Secrets

/// Serves the login socket, where PAM's module says who logged in, and the offer socket, where an
/// unprivileged screen locker may offer its own user's password.
public final class LoginServer: Sendable {
    public enum Kind: Sendable {
        /// Only root may speak, about anybody.
        case login
        /// Anybody may speak, about himself, and only offer a password.
        case offer
    }

    private let listener: Listener
    private let kind: Kind
    private let logins: Logins
    private let limits = ConnectionLimits()

    init(_ listener: Listener, _ kind: Kind, logins: Logins) {
        self.listener = listener
        self.kind = kind
        self.logins = logins
    }

    public func run() {
        while true {
            let descriptor: Descriptor
            do { descriptor = try listener.accept() } catch {
                if error == .closed { return }
                continue
            }
            let thread = Thread { [self] in welcome(descriptor) }
            thread.stackSize = 512 * 1024
            thread.start()
        }
    }

    private func welcome(_ descriptor: Descriptor) {
        guard let connection = try? LoginConnection(descriptor.number), isAllowed(connection),
            limits.begin(connection.peerUser)
        else { return }
        defer { limits.end(connection.peerUser) }
        guard let request = try? connection.receive() else { return }
        withExtendedLifetime(descriptor) { handle(request, connection) }
    }

    private func isAllowed(_ connection: LoginConnection) -> Bool {
        kind == .offer || connection.peerUser == 0
    }

    private func handle(_ request: LoginRequest, _ connection: LoginConnection) {
        switch (kind, request) {
        case (.login, .openSession(let facts, let password)):
            reply(logins.open(facts, password, host: connection.peerProcess), connection)
        case (.login, .closeSession(let ticket, let user)):
            logins.close(ticket: ticket, user: user)
            reply(nil, connection)
        case (.login, .changePassword(let user, _, let old, let new)):
            reply(logins.changePassword(of: user, old: old, new: new), connection)
        case (.login, .offerPassword(let user, _, let password)):
            reply(logins.offer(password, for: user), connection)
        case (.offer, .offerPassword(let user, _, let password))
        where user == connection.peerUser:
            reply(logins.offer(password, for: user), connection)
        case (.offer, _):
            reply(.notEntitled, connection)
        }
    }

    private func reply(_ refusal: Refusal?, _ connection: LoginConnection) {
        try? connection.reply(refusal.map { .refused(LoginRefusal($0)) } ?? .accepted)
    }
}
