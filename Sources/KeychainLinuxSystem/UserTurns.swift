// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Turns that several processes share.
package protocol TurnGate: Sendable {
    /// Returns when it is this process's turn.
    func begin()
    func end()
}

/// Has work done for users in turn: one user's work a piece at a time, and that of a few users at
/// once.
///
/// A user's pieces of work run in the order in which they came. A user who has many waits for them
/// alone: another user is delayed by at most one piece of each other waiting user.
package final class UserTurns: Sendable {
    private struct State {
        let atOnce: Int
        var running: Set<UInt32> = []
        var waiting: [UInt32: [DispatchSemaphore]] = [:]
        /// The waiting users, each once; the first has waited longest since its last turn.
        var order: [UInt32] = []

        init(atOnce: Int) { self.atOnce = atOnce }

        var hasRoom: Bool { running.count < atOnce }

        /// Takes the next turn: of the first waiting user with nothing running.
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
    private let state: Mutex<State>
    private let gate = Mutex<(any TurnGate)?>(nil)

    /// `atOnce`: the number of users whose work runs at the same time.
    package init(atOnce: Int) { state = Mutex(State(atOnce: atOnce)) }

    /// From now on a turn here begins with one of the gate's.
    package func share(_ gate: any TurnGate) { self.gate.withLock { $0 = gate } }

    /// Runs the body when it is the user's turn.
    package func take<R: ~Copyable, E: Error>(
        for user: UInt32, _ body: () throws(E) -> R
    ) throws(E) -> R {
        begin(user)
        defer { end(user) }
        let gate = gate.withLock { $0 }
        gate?.begin()
        defer { gate?.end() }
        return try body()
    }

    /// The number of waiting pieces of work.
    package var waitingCount: Int {
        state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } }
    }

    private func begin(_ user: UInt32) {
        let turn = state.withLock { state -> DispatchSemaphore? in
            // Where there is room, each waiting user has work running.
            if state.hasRoom, !state.running.contains(user) {
                state.running.insert(user)
                return nil
            }
            let turn = DispatchSemaphore(value: 0)
            if state.waiting[user, default: []].isEmpty { state.order.append(user) }
            state.waiting[user, default: []].append(turn)
            return turn
        }
        turn?.wait()
    }

    private func end(_ user: UInt32) {
        let next = state.withLock { state in
            state.running.remove(user)
            return state.next()
        }
        next?.signal()
    }
}
