// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import Synchronization

/// What keychaind does for workers and may wait for: another process, the account directory, the
/// bus. A user has few threads for it, so that no user's waiting delays another one's.
final class Errands: Sendable {
    static let atOnce = 8
    /// A worker has 32 connections, and asks one thing at a time for each.
    static let mostWaiting = 64
    private static let stackBytes = 256 * 1024

    private struct Line {
        var running = 0
        var waiting: [@Sendable () -> Void] = []
    }
    private let lines = Mutex<[UInt32: Line]>([:])

    /// Does it on a thread, after the user's earlier ones where several run. Returns false where
    /// the user has too many, or the machine no room for a thread.
    func run(for user: UInt32, _ errand: @escaping @Sendable () -> Void) -> Bool {
        enum Place { case thread, line, none }
        let place = lines.withLock { lines -> Place in
            var line = lines[user] ?? Line()
            defer { lines[user] = line }
            if line.running < Self.atOnce {
                line.running += 1
                return .thread
            }
            guard line.waiting.count < Self.mostWaiting else { return .none }
            line.waiting.append(errand)
            return .line
        }
        guard place == .thread else { return place == .line }
        let hasBegun = DetachedThread.start(stackBytes: Self.stackBytes) { [self] in
            errand()
            while let next = next(of: user) { next() }
        }
        // What waits is done by the threads that run.
        if !hasBegun { end(of: user) }
        return hasBegun
    }

    /// nil where none waits: the thread has ended then.
    private func next(of user: UInt32) -> (@Sendable () -> Void)? {
        lines.withLock { lines in
            guard lines[user]?.waiting.isEmpty == false else {
                Self.endOne(&lines, user)
                return nil
            }
            return lines[user]?.waiting.removeFirst()
        }
    }

    private func end(of user: UInt32) { lines.withLock { Self.endOne(&$0, user) } }

    private static func endOne(_ lines: inout [UInt32: Line], _ user: UInt32) {
        lines[user]?.running -= 1
        if lines[user]?.running == 0, lines[user]?.waiting.isEmpty == true { lines[user] = nil }
    }

    /// The user's worker has ended, and hears no answer.
    func forget(_ user: UInt32) {
        let gone = lines.withLock { lines in
            defer { lines[user]?.waiting = [] }
            return lines[user]?.waiting
        }
        withExtendedLifetime(gone) {}
    }
}
