// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// What is known of one login, and what it can be recognised by.
package struct LoginSession: Sendable, Equatable {
    package private(set) var id: SessionID
    package let user: UInt32
    package let account: String
    /// The process that opened the session, and when it was started (clock ticks since boot).
    package let leader: Int32
    package let leaderStart: UInt64
    /// The kernel's audit session, where it counts them.
    package var auditSession: UInt32?
    package var logindSession: String?
    package var isRemote = false
    /// The PAM service that opened it.
    package let service: String
    package var lockReason = LockReason.none

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

    package init?(record: [UInt8]) {
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
            leaderStart: start, service: next())
        self.auditSession = auditSession
        self.logindSession = logindSession.isEmpty ? nil : logindSession
        self.isRemote = isRemote
        lockReason = reason
    }

    package func named(_ id: SessionID) -> LoginSession {
        var session = self
        session.id = id
        return session
    }

    package init(
        id: SessionID, user: UInt32, account: String, leader: Int32, leaderStart: UInt64,
        service: String
    ) {
        self.id = id
        self.user = user
        self.account = account
        self.leader = leader
        self.leaderStart = leaderStart
        self.service = service
    }
}
