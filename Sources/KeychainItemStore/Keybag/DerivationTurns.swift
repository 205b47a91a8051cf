// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Which password is derived next: a few at a time in the whole process, and the users in turn.
///
/// Of one user's derivations one runs at a time, and the others wait behind it in the order in which
/// they came. So a user who starts many, or one that takes the longest a file may ask for, waits for
/// them alone: another user is delayed by no more than one derivation of each who waits as well. A
/// turn is one derivation and nothing else: a file that is slow to write holds no turn.
final class DerivationTurns: Sendable {
    /// A derivation takes 64 MiB and a quarter of a second of one core, by a file's word up to
    /// 256 MiB: so all of them take half a GiB at most, and one user alone never takes every turn.
    static let atOnce = 2
    static let ofProcess = DerivationTurns()

    private struct State {
        var running: Set<UInt32> = []
        var waiting: [UInt32: [DispatchSemaphore]] = [:]
        /// The users that wait, each once; the first has waited longest since a turn of its own.
        var order: [UInt32] = []

        var hasRoom: Bool { running.count < DerivationTurns.atOnce }

        /// The turn that begins now, of the first user of whom none is running.
        mutating func next() -> DispatchSemaphore? {
            guard hasRoom, let position = order.firstIndex(where: { !running.contains($0) }) else {
                return nil
            }
            let user = order.remove(at: position)
            running.insert(user)
            let turn = waiting[user]?.removeFirst()
            if waiting[user]?.isEmpty ?? true {
                waiting[user] = nil
            } else {
                order.append(user)
            }
            return turn
        }
    }
    private let state = Mutex(State())

    /// Runs the body when it is the user's turn.
    func take<R: ~Copyable, E: Error>(
        for user: UInt32, _ body: () throws(E) -> R
    ) throws(E) -> R {
        begin(user)
        defer { end(user) }
        return try body()
    }

    /// How many wait.
    var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    private func begin(_ user: UInt32) {
        let turn = DispatchSemaphore(value: 0)
        let begins = state.withLock { state in
            // Where there is room, all that wait are of users of whom one is running.
            if state.hasRoom, !state.running.contains(user) {
                state.running.insert(user)
                return true
            }
            if state.waiting[user, default: []].isEmpty { state.order.append(user) }
            state.waiting[user, default: []].append(turn)
            return false
        }
        if !begins { turn.wait() }
    }

    private func end(_ user: UInt32) {
        let next = state.withLock { state in
            state.running.remove(user)
            return state.next()
        }
        next?.signal()
    }
}
