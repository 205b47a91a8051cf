// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import KeychainLinuxSystem
internal import KeychainSecrets

/// Schedules one user's reads while other users are connected. As many run at once as the machine
/// has cores; the others wait in the order in which they came.
///
/// Without turns the thread of each connection competes for the cores: a user with 32 connections
/// has 32 shares of them, and another user has one. With turns a user's reads wait for one another,
/// and never for those of other users, which find few threads before them. A waiting read is woken
/// twice and loses its core, which doubles its cost: so a user who is alone takes no turns.
///
/// A turn orders reads and protects nothing. A turn longer than `patience` no longer counts once
/// another read waits: a question to the user, a slow disk or a client that does not read its
/// answer delays the user's other reads for that long, and once.
final class RequestTurns: Sendable {
    private let most: Int
    private let patience: Duration

    /// The turn of one connection, for one read at a time.
    final class Turn: Sendable {
        fileprivate let begins = DispatchSemaphore(value: 0)
    }

    private struct Line {
        /// With the start of each turn; the earliest is first. By name alone, which takes no reference:
        /// a turn outlives its place here, since `end` comes before its connection's end.
        var working: [(turn: ObjectIdentifier, since: BootTime)] = []
        var waiting: [Turn] = []
    }
    private let line = ShortLock(Line())

    init(
        most: Int = sysconf(Int32(_SC_NPROCESSORS_ONLN)),
        patience: Duration = .milliseconds(50)
    ) {
        self.most = max(1, most)
        self.patience = patience
    }

    /// The number of waiting reads.
    var waitingCount: Int { line.withLock { $0.waiting.count } }

    var isIdle: Bool { line.withLock { $0.working.isEmpty } }

    /// Returns once the read's turn has come; `end` follows, on the same thread.
    func begin(_ turn: Turn) {
        let isFree = line.withLock { line in
            let isFree = line.working.count < most
            if isFree {
                line.working.append((ObjectIdentifier(turn), .now))
            } else {
                line.waiting.append(turn)
            }
            return isFree
        }
        if isFree { return }
        var left = patience
        while turn.begins.wait(timeout: .now() + left / .seconds(1)) == .timedOut {
            switch takeFromSlowest(turn) {
            case .taken: return
            case .later(let rest): left = rest
            // The turn was given at the last moment, and its signal follows.
            case .given: return turn.begins.wait()
            }
        }
    }

    private enum Taking {
        case taken, given
        /// The earliest turn still counts for so long.
        case later(Duration)
    }

    /// Takes the place of the turn that began first, if it has lasted too long.
    private func takeFromSlowest(_ turn: Turn) -> Taking {
        line.withLock { line in
            guard let place = line.waiting.firstIndex(where: { $0 === turn }) else { return .given }
            let now = BootTime.now
            if let slowest = line.working.first {
                let left = (slowest.since + patience).nanoseconds(since: now)
                guard left == 0 else { return .later(.nanoseconds(Int64(clamping: left))) }
                line.working.removeFirst()
            }
            line.waiting.remove(at: place)
            line.working.append((ObjectIdentifier(turn), now))
            return .taken
        }
    }

    func end(_ turn: Turn) {
        let next = line.withLock { line -> Turn? in
            let name = ObjectIdentifier(turn)
            guard let place = line.working.firstIndex(where: { $0.turn == name }) else {
                return nil
            }
            line.working.remove(at: place)
            guard !line.waiting.isEmpty else { return nil }
            let next = line.waiting.removeFirst()
            line.working.append((ObjectIdentifier(next), .now))
            return next
        }
        next?.begins.signal()
    }
}
