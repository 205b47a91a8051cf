// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Work that runs beside users' logins: one piece after the other for each user, and no user's
/// behind another's. The caller limits how much may wait (`PendingUnlocks`).
final class WorkQueues: Sendable {
    private let queues = Mutex<[UInt32: DispatchQueue]>([:])

    func async(for user: UInt32, _ work: @escaping @Sendable () -> Void) {
        let queue = queues.withLock { queues in
            let queue = queues[user] ?? DispatchQueue(label: "unlock")
            queues[user] = queue
            return queue
        }
        queue.async(execute: work)
    }
}
