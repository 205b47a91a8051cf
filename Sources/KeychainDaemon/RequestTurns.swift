// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import KeychainSecrets

/// The turns of one user's reads. As many are worked on at once as the machine has cores; the others
/// wait in the order in which they came.
///
/// Without turns the thread of each connection competes for the cores: a user with 32 connections has
/// 32 shares of them, and another user has one. With turns a user's reads wait for one another, and
/// never for those of other users, which find few threads before them.
///
/// A turn orders reads and protects nothing. One that lasts longer than `patience` counts no more: a
/// question to the user, a slow disk and a client that does not read its answer hold up the user's
/// other reads for that long, and once.
final class RequestTurns: Sendable {
    private let most: Int
    private let patience: DispatchTimeInterval

    /// A connection's place among those of its user, for one read at a time.
    final class Turn: Sendable {
        fileprivate let begins = DispatchSemaphore(value: 0)
    }

    private struct Line {
        /// The one that began first is first.
        var working: [Turn] = []
        var waiting: [Turn] = []
    }
    private let line = ShortLock(Line())

    init(
        most: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN)),
        patience: DispatchTimeInterval = .milliseconds(50)
    ) {
        self.most = max(1, most)
        self.patience = patience
    }

    /// How many wait.
    var waitingCount: Int { line.withLock { $0.waiting.count } }

    var isIdle: Bool { line.withLock { $0.working.isEmpty } }

    /// Runs `read` when its turn has come, on this thread.
    func take<R>(_ turn: Turn, _ read: () -> R) -> R {
        begin(turn)
        defer { end(turn) }
        return read()
    }

    private func begin(_ turn: Turn) {
        let isFree = line.withLock { line in
            let isFree = line.working.count < most
            if isFree { line.working.append(turn) } else { line.waiting.append(turn) }
            return isFree
        }
        if isFree || turn.begins.wait(timeout: .now() + patience) == .success { return }
        // Given at the last moment, it is told all the same.
        if !takeFromSlowest(turn) { turn.begins.wait() }
    }

    /// The turn that began first counts no more. False for one that does not wait any more.
    private func takeFromSlowest(_ turn: Turn) -> Bool {
        line.withLock { line in
            guard let place = line.waiting.firstIndex(where: { $0 === turn }) else { return false }
            line.waiting.remove(at: place)
            if !line.working.isEmpty { line.working.removeFirst() }
            line.working.append(turn)
            return true
        }
    }

    private func end(_ turn: Turn) {
        let next = line.withLock { line -> Turn? in
            guard let place = line.working.firstIndex(where: { $0 === turn }) else { return nil }
            line.working.remove(at: place)
            guard !line.waiting.isEmpty else { return nil }
            let next = line.waiting.removeFirst()
            line.working.append(next)
            return next
        }
        next?.begins.signal()
    }
}
