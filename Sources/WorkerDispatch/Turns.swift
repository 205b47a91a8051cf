// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization
internal import WorkerHandoff

/// Turns to do work of which the machine does a bounded amount at once. A user has one turn at a
/// time, and users come in the order in which they asked. A turn that lasts too long is over where
/// another user waits: a worker that was taken over must not keep it.
final class Turns: Sendable {
    /// A key derivation takes 64 MiB and a core.
    private static let atOnce: [SharedWork: Int] = [.derivation: 2, .tpm: 1]

    /// No turn of a worker takes longer that works as it should.
    static let longest: [SharedWork: Duration] = [
        .derivation: .seconds(60), .tpm: .seconds(30),
    ]
    /// A worker asks for one turn of a kind at a time.
    private static let mostWaiting = 4

    private struct Line {
        /// When each user's turn began.
        var running: [UInt32: ContinuousClock.Instant] = [:]
        var waiting: [(user: UInt32, grant: @Sendable () -> Void)] = []
    }
    private let lines = Mutex<[SharedWork: Line]>([:])
    private let longest: [SharedWork: Duration]

    init(longest: [SharedWork: Duration] = Turns.longest) { self.longest = longest }

    /// `grant` is called once, when the user's turn has come, unless the user's turns end before. It is
    /// never called for a user who asks for too many.
    func ask(_ work: SharedWork, for user: UInt32, grant: @escaping @Sendable () -> Void) {
        lines.withLock { lines in
            let waiting = lines[work]?.waiting.count { $0.user == user } ?? 0
            guard waiting < Self.mostWaiting else { return }
            lines[work, default: Line()].waiting.append((user, grant))
        }
        next(work)
    }

    func end(_ work: SharedWork, of user: UInt32) {
        lines.withLock { lines in lines[work]?.running[user] = nil }
        next(work)
    }

    /// The user's worker has ended.
    func endAll(of user: UInt32) {
        lines.withLock { lines in
            for work in SharedWork.allCases {
                lines[work]?.running[user] = nil
                lines[work]?.waiting.removeAll { $0.user == user }
            }
        }
        for work in SharedWork.allCases { next(work) }
    }

    private func next(_ work: SharedWork) {
        let longest = longest[work] ?? .zero
        let grants = lines.withLock { lines -> [@Sendable () -> Void] in
            guard var line = lines[work] else { return [] }
            var grants: [@Sendable () -> Void] = []
            let now = ContinuousClock.now
            while let place = line.waiting.firstIndex(where: { line.running[$0.user] == nil }) {
                if line.running.count >= Self.atOnce[work] ?? 1 {
                    guard let late = line.running.first(where: { $0.value + longest <= now })
                    else { break }
                    line.running[late.key] = nil
                }
                let (user, grant) = line.waiting.remove(at: place)
                line.running[user] = now
                grants.append(grant)
            }
            lines[work] = line
            return grants
        }
        for grant in grants {
            grant()
            DispatchQueue.global().asyncAfter(deadline: .now() + longest / .seconds(1)) { [self] in
                next(work)
            }
        }
    }
}
