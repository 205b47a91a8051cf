// SPDX-License-Identifier: Apache-2.0

/// What may wait for the user: of the thread that has the connection. A few are worked on at once, and
/// fewer of one group's programs, so that one program's questions never hold up all others'. The rest
/// wait in the order in which they came.
final class Questions {
    private let pool = WorkPool(threads: Limits.questions)
    private var standing: [String?: Int] = [:]
    private var waiting: [(group: String?, call: UInt64?, work: @Sendable () -> Void)] = []

    /// `call` is the call that waits for it; a prompt's has none. Who ends it calls `end`.
    func ask(of group: String?, _ call: UInt64?, _ work: @escaping @Sendable () -> Void) {
        waiting.append((group, call, work))
        begin()
    }

    func end(_ group: String?) {
        standing[group, default: 1] -= 1
        if standing[group] == 0 { standing[group] = nil }
        begin()
    }

    /// A call that is answered asks nothing any more, unless it has begun to.
    func drop(_ call: UInt64) { waiting.removeAll { $0.call == call } }

    private func begin() {
        var place = 0
        while place < waiting.count, standing.values.reduce(0, +) < Limits.questions {
            let group = waiting[place].group
            guard standing[group, default: 0] < Limits.questionsOfGroup else {
                place += 1
                continue
            }
            standing[group, default: 0] += 1
            pool.submit(waiting.remove(at: place).work)
        }
    }
}
