// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainLinuxSystem
internal import Synchronization

/// Has each user's files looked after once a day, by the user's worker, also where the user is not
/// served: earlier states of keychains and former secrets are removed in time, and what a process that
/// ended has left.
package final class Upkeep: Sendable {
    private static let each: Duration = .seconds(24 * 3600)
    /// Between two users whose turn has come, and between looks whether one's has.
    private static let pause: DispatchTimeInterval = .seconds(1)
    private static let rest: DispatchTimeInterval = .seconds(60)
    /// The most workers at once that were started for this alone.
    private static let atOnce = 2

    private let stateFolder: String
    private let workers: Workers
    private let queue = DispatchQueue(label: "upkeep")
    private let done = Mutex<[UInt32: ContinuousClock.Instant]>([:])

    package init(stateFolder: String, workers: Workers) {
        self.stateFolder = stateFolder
        self.workers = workers
    }

    package func begin() { look(after: Self.pause) }

    private func look(after pause: DispatchTimeInterval) {
        queue.asyncAfter(deadline: .now() + pause) { [weak self] in
            guard let self else { return }
            look(after: next() ? Self.pause : Self.rest)
        }
    }

    /// Users with a folder of their own.
    package static func users(in stateFolder: String) -> Set<UInt32> {
        Set(FolderNames.all(in: stateFolder).compactMap { UInt32($0) })
    }

    /// A running worker looks after its user's files by itself. Returns whether a user's turn has come.
    private func next() -> Bool {
        let running = workers.users
        let now = ContinuousClock.now
        let users = Self.users(in: stateFolder)
        let due = done.withLock { done -> UInt32? in
            for user in running { done[user] = now }
            done = done.filter { users.contains($0.key) }
            return users.subtracting(running).filter { user in
                done[user].map { $0.duration(to: now) >= Self.each } ?? true
            }.min()
        }
        guard let due else { return false }
        if workers.countForUpkeep < Self.atOnce { workers.wake(due) }
        return true
    }
}
