// SPDX-License-Identifier: Apache-2.0
package import KeychainRequestAudit
internal import Dispatch
internal import KeychainLinuxSystem
package import LoginManager
internal import Synchronization

/// The journal's copy of the audit records. A slow journal delays no request: records that it does
/// not take in time are dropped from the copy. The file has all of them.
package final class AuditJournal: AuditSink {
    private static let mostWaiting = 1000
    /// The most waiting records of one user, so that a slow journal keeps room for other users'
    /// records.
    private static let mostOfUser = 200
    private static let lastPatience = DispatchTimeInterval.seconds(1)

    private let send: @Sendable ([Journal.Field]) -> Void
    private let queue = DispatchQueue(label: "audit journal")
    private let sending = DispatchGroup()
    private let waiting = Mutex<[UInt32: Int]>([:])

    /// `send` may block.
    package init(send: @escaping @Sendable ([Journal.Field]) -> Void = Journal.send) {
        self.send = send
    }

    package func append(_ record: AuditRecord) {
        guard begin(record.user) else { return }
        CoreSet.withAll {
            queue.async(group: sending) { [self] in
                send(record.journalFields)
                end(record.user)
            }
        }
    }

    private func begin(_ user: UInt32) -> Bool {
        waiting.withLock { waiting in
            let mine = waiting[user, default: 0]
            let all = waiting.values.reduce(0, +)
            guard mine < Self.mostOfUser, all < Self.mostWaiting else { return false }
            waiting[user] = mine + 1
            return true
        }
    }

    private func end(_ user: UInt32) {
        waiting.withLock { waiting in
            let left = waiting[user, default: 1] - 1
            waiting[user] = left > 0 ? left : nil
        }
    }

    /// Waits briefly for the last records, before the process ends.
    package func finish() { _ = sending.wait(timeout: .now() + Self.lastPatience) }
}
