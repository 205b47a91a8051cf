// SPDX-License-Identifier: Apache-2.0
internal import Synchronization
internal import WorkerHandoff

/// Turns to do work of which the machine does a bounded amount at once. A user has one turn at a
/// time, and users come in the order in which they asked.
final class Turns: Sendable {
    /// A key derivation takes 64 MiB and a core.
    private static let atOnce: [SharedWork: Int] = [.derivation: 2, .tpm: 1]

    private struct Line {
        var running: Set<UInt32> = []
        var waiting: [(user: UInt32, grant: @Sendable () -> Void)] = []
    }
    private let lines = Mutex<[SharedWork: Line]>([:])

    /// `grant` is called once, when the user's turn has come, unless the user's turns end before.
    func ask(_ work: SharedWork, for user: UInt32, grant: @escaping @Sendable () -> Void) {
        lines.withLock { lines in lines[work, default: Line()].waiting.append((user, grant)) }
        next(work)
    }

    func end(_ work: SharedWork, of user: UInt32) {
        lines.withLock { lines in _ = lines[work]?.running.remove(user) }
        next(work)
    }

    /// The user's worker has ended.
    func endAll(of user: UInt32) {
        lines.withLock { lines in
            for work in SharedWork.allCases {
                lines[work]?.running.remove(user)
                lines[work]?.waiting.removeAll { $0.user == user }
            }
        }
        for work in SharedWork.allCases { next(work) }
    }

    private func next(_ work: SharedWork) {
        let grants = lines.withLock { lines -> [@Sendable () -> Void] in
            guard var line = lines[work] else { return [] }
            var grants: [@Sendable () -> Void] = []
            while line.running.count < Self.atOnce[work] ?? 1,
                let place = line.waiting.firstIndex(where: { !line.running.contains($0.user) })
            {
                let (user, grant) = line.waiting.remove(at: place)
                line.running.insert(user)
                grants.append(grant)
            }
            lines[work] = line
            return grants
        }
        for grant in grants { grant() }
    }
}
