// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// What is known of one login, and what it can be recognised by. An object, as each request looks at
/// its user's.
package final class LoginSession: Sendable, Equatable {
    package let id: SessionID
    package let user: UInt32
    package let account: String
    /// The process that opened the session, and when it was started (clock ticks since boot).
    package let leader: Int32
    package let leaderStart: UInt64
    /// The kernel's audit session, where it counts them.
    package let auditSession: UInt32?
    package let logindSession: String?
    package let isRemote: Bool
    /// The PAM service that opened it.
    package let service: String
    package let lockReason: LockReason

    /// One line a field, for keeping it in the kernel. Nothing in it is secret.
    package var record: [UInt8] {
        let fields = [
            "2", String(id.rawValue), String(user), String(leader), String(leaderStart),
            auditSession.map(String.init) ?? "", logindSession ?? "", isRemote ? "1" : "0",
            String(lockReason.rawValue), account,
            service,
        ]
        return Array(fields.joined(separator: "\n").utf8)
    }

    package convenience init?(record: [UInt8]) {
        var fields = String(decoding: record, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        guard fields.count == 11 else { return nil }
        func next() -> String { fields.popFirst() ?? "" }
        guard next() == "2", let id = Int32(next()), let user = UInt32(next()),
            let leader = Int32(next()), let start = UInt64(next())
        else { return nil }
        let auditSession = UInt32(next())
        let logindSession = next()
        let isRemote = next() == "1"
        guard let reason = UInt8(next()).flatMap(LockReason.init) else { return nil }
        self.init(
            id: SessionID(rawValue: id), user: user, account: next(), leader: leader,
            leaderStart: start, auditSession: auditSession,
            logindSession: logindSession.isEmpty ? nil : logindSession, isRemote: isRemote,
            service: next(), lockReason: reason)
    }

    package func named(_ id: SessionID) -> LoginSession { with(id, lockReason) }

    package func locked(_ reason: LockReason) -> LoginSession { with(id, reason) }

    private func with(_ id: SessionID, _ lockReason: LockReason) -> LoginSession {
        LoginSession(
            id: id, user: user, account: account, leader: leader, leaderStart: leaderStart,
            auditSession: auditSession, logindSession: logindSession, isRemote: isRemote,
            service: service, lockReason: lockReason)
    }

    package init(
        id: SessionID, user: UInt32, account: String, leader: Int32, leaderStart: UInt64,
        auditSession: UInt32?, logindSession: String?, isRemote: Bool, service: String,
        lockReason: LockReason
    ) {
        self.id = id
        self.user = user
        self.account = account
        self.leader = leader
        self.leaderStart = leaderStart
        self.auditSession = auditSession
        self.logindSession = logindSession
        self.isRemote = isRemote
        self.service = service
        self.lockReason = lockReason
    }

    package static func == (a: LoginSession, b: LoginSession) -> Bool {
        a === b
            || (a.id == b.id && a.user == b.user && a.account == b.account && a.leader == b.leader
                && a.leaderStart == b.leaderStart && a.auditSession == b.auditSession
                && a.logindSession == b.logindSession && a.isRemote == b.isRemote
                && a.service == b.service && a.lockReason == b.lockReason)
    }
}
