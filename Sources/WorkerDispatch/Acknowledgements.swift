// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Synchronization

/// Waits for several workers to have done as they were told.
final class Acknowledgements: Sendable {
    private struct Waiting {
        var left: Set<UInt32>
        let all: DispatchSemaphore
    }
    private struct State {
        var last: UInt32 = 0
        var waiting: [UInt32: Waiting] = [:]
    }
    private let state = Mutex(State())

    /// Tells all of these users' workers under a new number, and waits until each has said that it is
    /// done, or has ended. Returns false where the time is over before.
    func wait(
        for users: Set<UInt32>, within time: DispatchTimeInterval, telling tell: (UInt32) -> Void
    ) -> Bool {
        let all = DispatchSemaphore(value: 0)
        let id = state.withLock { state in
            // Zero stands for no number.
            state.last = state.last == .max ? 1 : state.last + 1
            state.waiting[state.last] = Waiting(left: users, all: all)
            return state.last
        }
        tell(id)
        let isDone = users.isEmpty || all.wait(timeout: .now() + time) == .success
        state.withLock { $0.waiting[id] = nil }
        return isDone
    }

    func done(_ id: UInt32, by user: UInt32) {
        state.withLock { Self.remove(user, from: &$0.waiting[id]) }
    }

    func ended(_ user: UInt32) {
        state.withLock { state in
            for id in state.waiting.keys { Self.remove(user, from: &state.waiting[id]) }
        }
    }

    private static func remove(_ user: UInt32, from waiting: inout Waiting?) {
        guard waiting?.left.remove(user) != nil, waiting?.left.isEmpty == true else { return }
        waiting?.all.signal()
    }
}
