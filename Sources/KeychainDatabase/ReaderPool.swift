// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainSecrets

/// The connections that read: one thread has each at a time, and a wait for one has a deadline.
///
/// Where several users share a file, one of them never holds all: a user's long reads keep that
/// user's other requests waiting, and leave a connection for the rest. A connection that comes free
/// goes to the user who holds the fewest, so that many requests of one user don't stand before one
/// of another.
final class ReaderPool: Sendable {
    /// As many read at once; more would find no core to run on.
    static let most = 4
    /// Of one of several users.
    static let mostOfOneUser = 3

    final class Reader: @unchecked Sendable {
        // Safe to send: only the thread that has taken the reader touches it.
        var connection: Connection?
    }

    // Safe to send: `reader` is touched under the pool's lock only.
    private final class Waiting: @unchecked Sendable {
        let user: UInt32?
        let turn = DispatchSemaphore(value: 0)
        var reader: Reader?

        init(_ user: UInt32?) { self.user = user }
    }

    private struct State {
        /// The last is the warmest.
        var free = (0..<ReaderPool.most).map { _ in Reader() }
        /// The user of each reader that is taken.
        var users: [UInt32?] = []
        var waiting: [Waiting] = []

        func mayTake(_ user: UInt32?) -> Bool {
            !free.isEmpty && (user == nil || held(by: user) < ReaderPool.mostOfOneUser)
        }

        func held(by user: UInt32?) -> Int { users.count { $0 == user } }

        mutating func take(for user: UInt32?) -> Reader? {
            users.append(user)
            return free.popLast()
        }

        mutating func giveBack(_ reader: Reader, of user: UInt32?) {
            if let position = users.firstIndex(of: user) { users.remove(at: position) }
            free.append(reader)
        }

        /// Who takes the reader that is free, if one does who waits.
        mutating func next() -> Waiting? {
            let able = waiting.indices.filter { mayTake(waiting[$0].user) }
            let fewest = able.min { held(by: waiting[$0].user) < held(by: waiting[$1].user) }
            return fewest.map { waiting.remove(at: $0) }
        }
    }
    private let state = ShortLock(State())

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// A reader for a user's request; nil stands for the file's only one. Throws “busy” where none
    /// comes free for so long.
    func take(for user: UInt32?, within timeout: BusyTimeout) throws(DatabaseError) -> Reader {
        let (taken, place) = state.withLock { state -> (Reader?, Waiting?) in
            // All that wait are users who hold as many as they may, or there is no free one.
            if state.mayTake(user) { return (state.take(for: user), nil) }
            let place = Waiting(user)
            state.waiting.append(place)
            return (nil, place)
        }
        if let taken { return taken }
        guard let place else { throw .busy }
        _ = place.turn.wait(timeout: timeout.end)
        // Given at the last moment, it is this thread's all the same.
        let given = state.withLock { state -> Reader? in
            if place.reader == nil { state.waiting.removeAll { $0 === place } }
            return place.reader
        }
        guard let given else { throw .busy }
        return given
    }

    func giveBack(_ reader: Reader, of user: UInt32?) {
        let next = state.withLock { state -> Waiting? in
            state.giveBack(reader, of: user)
            guard !state.waiting.isEmpty, let next = state.next() else { return nil }
            next.reader = state.take(for: next.user)
            return next
        }
        next?.turn.signal()
    }
}
