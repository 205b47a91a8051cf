// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainSecrets

/// The connection that writes. Threads take turns in the order in which they came, and those that
/// wait share one commit: a sync costs the disk as much for sixteen items as for one.
///
/// The thread whose turn it is does its own work, then that of the threads behind it, and commits
/// once for all of them: no thread is woken before its work is on the disk. Each work behind the
/// first is a savepoint of the shared transaction, so that an error undoes that work alone.
///
/// A wait for a turn has a deadline, and ends in “busy” with nothing written. A thread whose work has
/// begun waits for its commit however long that takes: what is in the transaction can't be taken back
/// out of it. So a commit takes no more works once it has been open for `longestShared`.
///
/// Other processes may have the file too: what decides between them is the file's own lock, which a
/// transaction takes as it begins.
final class SharedWriter: @unchecked Sendable {
    /// Works that one commit takes at most: the first of them waits for all.
    private static let mostShared = 64
    private static let longestShared: Duration = .milliseconds(250)

    private static let begin = Query("BEGIN IMMEDIATE")
    private static let commit = Query("COMMIT")

    private struct Line {
        var isBusy = false
        var waiting: [Writing] = []
    }

    private let timeout: BusyTimeout
    private let logBytes: Int
    private let line = ShortLock(Line())
    // Safe to send: only the thread whose turn it is touches it.
    private let connection: Connection

    /// The log has `logBytes` on the disk before anything is written to it.
    init(_ connection: Connection, _ timeout: BusyTimeout, logBytes: Int) {
        self.connection = connection
        self.timeout = timeout
        self.logBytes = logBytes
    }

    /// How many wait for their turn, or for another to do their work.
    var waitingCount: Int { line.withLock { $0.waiting.count } }

    /// Runs `body` in a transaction, perhaps on another thread that writes: all that it writes is on
    /// the disk when this returns, or none.
    func write<R>(_ body: (Connection) throws -> R) throws -> R {
        var result: R?
        try withoutActuallyEscaping(body) { body in
            let own = Writing { result = try body($0) }
            // Whoever did the work has let go of it by then.
            defer { own.end() }
            if try takeTurn(own) { lead(own) }
            if let error = own.error { throw error }
        }
        guard let result else { throw DatabaseError.busy }
        return result
    }

    /// Runs `body` outside any transaction, on this thread.
    func alone<R>(_ body: (Connection) throws -> R) throws -> R {
        _ = try takeTurn(Writing(nil))
        defer { passTurn() }
        return try body(connection)
    }

    // MARK: The shared transaction

    private func lead(_ first: Writing) {
        defer { passTurn() }
        var members: [Writing] = []
        do {
            try connection.run(Self.begin)
            connection.growLog(to: logBytes)
            // The first in a transaction loses all of it with its own work.
            try first.run(connection)
            members.append(first)
            let latest = ContinuousClock.now + Self.longestShared
            while let next = nextWork(among: members.count, until: latest) {
                do {
                    try connection.savepoint { try next.run(connection) }
                    members.append(next)
                } catch {
                    next.wake(error)
                    // An error of the disk ends a transaction with all that is in it.
                    if !connection.isInTransaction { throw error }
                }
            }
            try connection.run(Self.commit)
            for member in members where member !== first { member.wake(nil) }
        } catch {
            connection.rollBack()
            first.error = error
            for member in members where member !== first { member.wake(error) }
        }
    }

    /// The work that is next in line, where the commit may still take one.
    private func nextWork(among count: Int, until latest: ContinuousClock.Instant) -> Writing? {
        line.withLock { line in
            guard let next = line.waiting.first, next.isShared, count < Self.mostShared,
                ContinuousClock.now < latest
            else { return nil }
            return line.waiting.removeFirst()
        }
    }

    // MARK: Turns

    /// Waits until the turn is this thread's, or another thread has done its work: then it is false.
    private func takeTurn(_ own: Writing) throws(DatabaseError) -> Bool {
        let isFree = line.withLock { line in
            guard line.isBusy else {
                line.isBusy = true
                return true
            }
            line.waiting.append(own)
            return false
        }
        if isFree { return true }
        if own.wait(until: timeout.end) { return own.hasTurn }
        let isStillWaiting = line.withLock { line in
            let position = line.waiting.firstIndex { $0 === own }
            if let position { line.waiting.remove(at: position) }
            return position != nil
        }
        if isStillWaiting { throw .busy }
        // The turn came, or the work was begun, at the last moment.
        own.wait()
        return own.hasTurn
    }

    private func passTurn() {
        line.withLock { line in
            guard !line.waiting.isEmpty else {
                line.isBusy = false
                return
            }
            line.waiting.removeFirst().wakeWithTurn()
        }
    }
}

/// A thread that wants to write, and what it wants to write.
// Safe to send: its own thread touches it until it stands in line and again once it is woken;
// between the two, the thread whose turn it is does.
private final class Writing: @unchecked Sendable {
    /// nil for work that shares no transaction, and once it is done.
    private var work: ((Connection) throws -> Void)?
    let isShared: Bool
    private(set) var hasTurn = false
    var error: (any Error)?
    private let woken = DispatchSemaphore(value: 0)

    init(_ work: ((Connection) throws -> Void)?) {
        self.work = work
        isShared = work != nil
    }

    func run(_ connection: Connection) throws {
        let work = work.take()
        try work?(connection)
    }

    /// The work is let go, done or not: it is its thread's, and must not outlive the call.
    func end() { work = nil }

    // MARK: Waiting

    func wait() { woken.wait() }

    func wait(until end: DispatchTime) -> Bool { woken.wait(timeout: end) == .success }

    func wake(_ error: (any Error)?) {
        self.error = error
        woken.signal()
    }

    func wakeWithTurn() {
        hasTurn = true
        woken.signal()
    }
}
