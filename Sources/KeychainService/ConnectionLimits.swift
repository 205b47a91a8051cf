// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// How many connections may be open, in all and for one user, so that nobody keeps the others out.
final class ConnectionLimits: Sendable {
    static let mostForUser = 32
    static let mostInAll = 512

    private let open = Mutex<[UInt32: Int]>([:])

    func begin(_ user: UInt32) -> Bool {
        open.withLock { open in
            let all = open.values.reduce(0, +)
            // Root's own are never kept out by others.
            guard user == 0 || all < Self.mostInAll, open[user, default: 0] < Self.mostForUser
            else { return false }
            open[user, default: 0] += 1
            return true
        }
    }

    func end(_ user: UInt32) {
        open.withLock { open in
            open[user, default: 1] -= 1
            if open[user] == 0 { open[user] = nil }
        }
    }
}
