// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// The connection that writes. Threads take turns in the order in which they came, and those that
/// wait share one commit: a sync costs the disk as much for sixteen items as for one.
///
/// The work of each thread is a savepoint of the shared transaction, so that an error undoes the part
/// of its own thread alone. A thread returns after the commit that holds its work, never before.
final class SharedWriter: @unchecked Sendable {
    /// Works that one commit takes at most: the first of them waits for all.
    private static let mostShared = 64

    private struct Line {
        var isBusy = false
        var waiting: [DispatchSemaphore] = []
    }

    /// A transaction under way, and the threads that wait for its end.
    private final class SharedCommit: @unchecked Sendable {
        var members: [DispatchSemaphore] = []
        var error: (any Error)?
    }

    private let line = Mutex(Line())
    // Safe to send: only the thread whose turn it is touches these two, and reads `error` of a commit
    // only after the semaphore that follows its writing.
    private let connection: Connection
    private var open: SharedCommit?

    init(_ connection: Connection) { self.connection = connection }

    /// Runs `body` in a transaction: all that it writes is on the disk when this returns, or none.
    func write<R>(_ body: (Connection) throws -> R) throws -> R {
        takeTurn()
        let result: R
        let commit: SharedCommit
        do {
            commit = try begin()
            result = try connection.savepoint { try body(connection) }
        } catch {
            giveUp(error)
            throw error
        }
        if commit.members.count < Self.mostShared, isAwaited {
            let committed = DispatchSemaphore(value: 0)
            commit.members.append(committed)
            passTurn()
            committed.wait()
            if let error = commit.error { throw error }
        } else {
            defer { passTurn() }
            try end()
        }
        return result
    }

    /// Runs `body` outside any transaction.
    func alone<R>(_ body: (Connection) throws -> R) throws -> R {
        takeTurn()
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
        defer { passTurn() }
        guard let commit = open else { return }
        if !connection.isInTransaction {
            open = nil
            commit.error = error
            for member in commit.members { member.signal() }
        } else if !isAwaited {
            try? end()
        }
    }

    // MARK: Turns

    private var isAwaited: Bool { line.withLock { !$0.waiting.isEmpty } }

    private func takeTurn() {
        let turn = line.withLock { line -> DispatchSemaphore? in
            guard line.isBusy else {
                line.isBusy = true
                return nil
            }
            let turn = DispatchSemaphore(value: 0)
            line.waiting.append(turn)
            return turn
        }
        turn?.wait()
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
