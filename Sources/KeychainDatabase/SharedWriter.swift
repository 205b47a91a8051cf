// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainSecrets

/// The connection that writes. Threads take turns in the order in which they came, and those that
/// wait share one commit: a sync costs the disk as much for sixteen items as for one.
///
/// The work of each thread is a savepoint of the shared transaction, so that an error undoes the part
/// of its own thread alone. A thread returns after the commit that holds its work, never before.
///
/// A wait for a turn has a deadline, and ends in “busy” with nothing written. A thread whose work is
/// done waits for its commit however long that takes: what is in the transaction can't be taken back
/// out of it. So a commit takes no more works once it has been open for `longestShared`.
final class SharedWriter: @unchecked Sendable {
    /// Works that one commit takes at most: the first of them waits for all.
    private static let mostShared = 64
    private static let longestShared: Duration = .milliseconds(250)

    private struct Line {
        var isBusy = false
        var waiting: [DispatchSemaphore] = []
    }

    /// A transaction under way, and the threads that wait for its end.
    private final class SharedCommit: @unchecked Sendable {
        let begun = ContinuousClock.now
        var members: [DispatchSemaphore] = []
        var error: (any Error)?

        var mayGrow: Bool {
            members.count < SharedWriter.mostShared
                && ContinuousClock.now - begun < SharedWriter.longestShared
        }
    }

    private let timeout: BusyTimeout
    private let line = ShortLock(Line())
    // Safe to send: only the thread whose turn it is touches these two, and reads `error` of a commit
    // only after the semaphore that follows its writing.
    private let connection: Connection
    private var open: SharedCommit?

    init(_ connection: Connection, _ timeout: BusyTimeout) {
        self.connection = connection
        self.timeout = timeout
    }

    /// Runs `body` in a transaction: all that it writes is on the disk when this returns, or none.
    func write<R>(_ body: (Connection) throws -> R) throws -> R {
        try takeTurn()
        let result: R
        let commit: SharedCommit
        do {
            commit = try begin()
            // The first in a transaction loses all of it with its own work.
            result =
                commit.members.isEmpty
                ? try body(connection) : try connection.savepoint { try body(connection) }
        } catch {
            giveUp(error)
            throw error
        }
        if commit.mayGrow {
            let committed = DispatchSemaphore(value: 0)
            commit.members.append(committed)
            if handOver() {
                committed.wait()
                if let error = commit.error { throw error }
                return result
            }
            commit.members.removeLast()
        }
        defer { passTurn() }
        try end()
        return result
    }

    /// Runs `body` outside any transaction.
    func alone<R>(_ body: (Connection) throws -> R) throws -> R {
        try takeTurn()
        defer { passTurn() }
        // Its members hear of an error; it is none of this thread's.
        try? end()
        return try body(connection)
    }

    // MARK: The shared transaction

    private func begin() throws -> SharedCommit {
        if let open { return open }
        try connection.run("BEGIN IMMEDIATE")
        let commit = SharedCommit()
        open = commit
        return commit
    }

    /// Commits what is open, and tells those who wait.
    private func end() throws {
        guard let commit = open else { return }
        open = nil
        do { try connection.run("COMMIT") } catch {
            connection.rollBack()
            commit.error = error
        }
        for member in commit.members { member.signal() }
        if let error = commit.error { throw error }
    }

    /// After an error of one thread, the work of the others goes on, unless SQLite has ended the whole
    /// transaction: a full disk does that.
    private func giveUp(_ error: any Error) {
        guard let commit = open else { return passTurn() }
        if commit.members.isEmpty { connection.rollBack() }
        if !connection.isInTransaction {
            open = nil
            commit.error = error
            for member in commit.members { member.signal() }
        } else if handOver() {
            return
        } else {
            try? end()
        }
        passTurn()
    }

    // MARK: Turns

    /// Gives the turn, and the commit that is open, to the next that waits; false where none does, and
    /// the turn stays with this thread. One step: the last to wait may give up at any moment, and a
    /// commit without a turn would never end.
    private func handOver() -> Bool {
        line.withLock { line in
            guard !line.waiting.isEmpty else { return false }
            line.waiting.removeFirst().signal()
            return true
        }
    }

    private func takeTurn() throws(DatabaseError) {
        let turn = line.withLock { line -> DispatchSemaphore? in
            guard line.isBusy else {
                line.isBusy = true
                return nil
            }
            let turn = DispatchSemaphore(value: 0)
            line.waiting.append(turn)
            return turn
        }
        guard let turn, turn.wait(timeout: timeout.end) == .timedOut else { return }
        let isStillWaiting = line.withLock { line in
            let position = line.waiting.firstIndex { $0 === turn }
            if let position { line.waiting.remove(at: position) }
            return position != nil
        }
        // A turn that came at the last moment is this thread's all the same.
        if isStillWaiting { throw .busy }
    }

    private func passTurn() {
        line.withLock { line in
            guard !line.waiting.isEmpty else {
                line.isBusy = false
                return
            }
            line.waiting.removeFirst().signal()
        }
    }
}
