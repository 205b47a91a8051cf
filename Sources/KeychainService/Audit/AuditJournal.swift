// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import LoginManager
internal import Synchronization

/// The journal's copy of the records. One that is slow to take them keeps nobody waiting: what it does
/// not take in time it does not get. The file has everything.
final class AuditJournal: Sendable {
    private static let mostWaiting = 1000
    private static let lastPatience = DispatchTimeInterval.seconds(1)

    private let queue = DispatchQueue(label: "audit journal")
    private let sending = DispatchGroup()
    private let waiting = Atomic<Int>(0)

    func append(_ record: AuditRecord) {
        guard waiting.load(ordering: .relaxed) < Self.mostWaiting else { return }
        waiting.add(1, ordering: .relaxed)
        queue.async(group: sending) { [self] in
            Journal.send(record.journalFields)
            waiting.subtract(1, ordering: .relaxed)
        }
    }

    /// Before the process ends.
    func finish() { _ = sending.wait(timeout: .now() + Self.lastPatience) }
}
