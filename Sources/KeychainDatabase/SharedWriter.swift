// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainSecrets

/// The connection that writes. Threads take turns in the order in which they came, and waiting
/// threads share one commit: a sync costs the disk as much for sixteen items as for one.
///
/// The thread whose turn it is does its own work, then that of the threads behind it, and commits
/// once for all of them: no thread is woken before its work is on the disk. Each work after the
/// first is a savepoint of the shared transaction, so that an error undoes that work alone.
///
/// A wait for a turn has a deadline, and ends in “busy” with nothing written. A thread whose work
/// has begun waits for its commit however long that takes, as work in a transaction can't be taken
/// out of it. So a commit takes no more works once it has been open for `longestShared`.
///
/// Other processes may write the file too: they are ordered by the file's own lock, which a
/// transaction takes as it begins.
final class SharedWriter: @unchecked Sendable {
    /// The most works of one commit: the first of them waits for all.
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

    /// A log that begins anew is grown to `logBytes` on the disk first.
    init(_ connection: Connection, _ timeout: BusyTimeout, logBytes: Int) {
        self.connection = connection
        self.timeout = timeout
        self.logBytes = logBytes
    }

    /// The number of threads that wait for their turn, or for their work to be done.
    var waitingCount: Int { line.withLock { $0.waiting.count } }

    /// Runs `body` in a transaction, perhaps on another thread: everything that it writes is on the
    /// disk on return, or nothing.
    func write<R>(_ body: (Connection) throws -> R) throws -> R {
        var result: R?
        try withoutActuallyEscaping(body) { body in
            let own = Writing { result = try body($0) }
            // The thread that did the work has released it by then.
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
            connection.keepLog(of: logBytes)
            // An error of the first work undoes the whole transaction.
            try first.run(connection)
            members.append(first)
            let latest = ContinuousClock.now + Self.longestShared
            while let next = nextWork(among: members.count, until: latest) {
                do {
                    try connection.savepoint { try next.run(connection) }
                    members.append(next)
                } catch {
                    next.wake(error)
                    // An error of the disk ends the transaction and undoes all of it.
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

    /// The next work in line, if the commit may still take one.
    private func nextWork(among count: Int, until latest: ContinuousClock.Instant) -> Writing? {
        line.withLock { line in
            guard let next = line.waiting.first, next.isShared, count < Self.mostShared,
                ContinuousClock.now < latest
            else { return nil }
            return line.waiting.removeFirst()
        }
    }

    // MARK: Turns

    /// Waits until the turn is this thread's, and returns true; false where another thread has done
    /// its work.
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

/// A thread that waits to write, and its work.
// Safe to send: its own thread touches it until it stands in line and again once it is woken;
// between the two, the thread whose turn it is does.
private final class Writing: @unchecked Sendable {
    /// nil for work that shares no transaction, and after it was done.
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

    /// Releases the work, done or not: it must not outlive its thread's call.
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
