// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// What is known of one login, and what it can be recognised by. An object, as each request looks at
/// its user's.
package final class LoginSession: Sendable, Equatable {
    /// What not every login has.
    package struct Details: Sendable, Equatable {
        /// The kernel's audit session, where it counts them.
        package var auditSession: UInt32?
        package var logindSession: String?
        package var isRemote = false
        package var lockReason = LockReason.none

        package init() {}
    }

    package let id: SessionID
    package let user: UInt32
    package let account: String
    /// The process that opened the session, and when it was started (clock ticks since boot).
    package let leader: Int32
    package let leaderStart: UInt64
    /// The PAM service that opened it.
    package let service: String
    private let details: Details

    package var auditSession: UInt32? { details.auditSession }
    package var logindSession: String? { details.logindSession }
    package var isRemote: Bool { details.isRemote }
    package var lockReason: LockReason { details.lockReason }

    /// `leader` is the number of the process and its start.
    package init(
        _ id: SessionID, user: UInt32, account: String, leader: (Int32, UInt64), service: String,
        _ details: Details = Details()
    ) {
        self.id = id
        self.user = user
        self.account = account
        (self.leader, leaderStart) = leader
        self.service = service
        self.details = details
    }

    // MARK: In the kernel

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
        var details = Details()
        details.auditSession = UInt32(next())
        let logindSession = next()
        details.logindSession = logindSession.isEmpty ? nil : logindSession
        details.isRemote = next() == "1"
        guard let reason = UInt8(next()).flatMap(LockReason.init) else { return nil }
        details.lockReason = reason
        self.init(
            SessionID(rawValue: id), user: user, account: next(), leader: (leader, start),
            service: next(), details)
    }

    // MARK: Changed

    package func named(_ id: SessionID) -> LoginSession {
        LoginSession(
            id, user: user, account: account, leader: (leader, leaderStart), service: service,
            details)
    }

    package func locked(_ reason: LockReason) -> LoginSession {
        var details = details
        details.lockReason = reason
        return LoginSession(
            id, user: user, account: account, leader: (leader, leaderStart), service: service,
            details)
    }

    package static func == (a: LoginSession, b: LoginSession) -> Bool {
        a === b
            || (a.id == b.id && a.user == b.user && a.account == b.account && a.leader == b.leader
                && a.leaderStart == b.leaderStart && a.service == b.service
                && a.details == b.details)
    }
}
