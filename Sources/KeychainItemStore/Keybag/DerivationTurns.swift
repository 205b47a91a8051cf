// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Schedules key derivations: a few at a time in the whole process, and the users in turn.
///
/// One user's derivations run one at a time, in the order in which they came. A user who starts
/// many, or one at the highest cost that a file may ask for, waits for them alone: another user is
/// delayed by at most one derivation of each other waiting user. A turn is one derivation and
/// nothing else: a file that is slow to write holds no turn.
final class DerivationTurns: Sendable {
    /// A derivation takes 64 MiB and a quarter of a second of one core, and up to 256 MiB if a file
    /// asks for it. So all derivations take half a GiB at most, and one user alone never takes
    /// every turn.
    static let atOnce = 2
    static let ofProcess = DerivationTurns()

    private struct State {
        var running: Set<UInt32> = []
        var waiting: [UInt32: [DispatchSemaphore]] = [:]
        /// The waiting users, each once; the first has waited longest since its last turn.
        var order: [UInt32] = []

        var hasRoom: Bool { running.count < DerivationTurns.atOnce }

        /// Takes the next turn: of the first waiting user with no derivation running.
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

    /// The number of waiting derivations.
    var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

    private func begin(_ user: UInt32) {
        let turn = DispatchSemaphore(value: 0)
        let begins = state.withLock { state in
            // Where there is room, each waiting user has a derivation running.
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
