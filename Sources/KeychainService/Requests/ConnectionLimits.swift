// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// How many connections may be open, in all and for one user, so that nobody keeps the others out.
///
/// User numbers without an account share one part: a user who makes namespaces has thousands of
/// numbers to speak under.
final class ConnectionLimits: Sendable {
    static let mostForUser = 32
    static let mostInAll = 512
    /// Left for those who have few when many have many.
    static let reserve = 128
    static let few = 4

    enum Part: Hashable, Sendable {
        case user(UInt32)
        case withoutAccount
    }

    private let open = Mutex<[Part: Int]>([:])

    func begin(_ part: Part) -> Bool {
        open.withLock { open in
            let mine = open[part, default: 0]
            let room = mine < Self.few ? Self.mostInAll : Self.mostInAll - Self.reserve
            let all = open.values.reduce(0, +)
            // Root's own are never kept out by others.
            guard part == .user(0) || all < room, mine < Self.mostForUser else { return false }
            open[part] = mine + 1
            return true
        }
    }

    func end(_ part: Part) {
        open.withLock { open in
            open[part, default: 1] -= 1
            if open[part] == 0 { open[part] = nil }
        }
    }
}

extension ConnectionLimits.Part {
    init(_ user: UInt32, _ accounts: AccountNames) {
        self = user == 0 || accounts.name(of: user) != nil ? .user(user) : .withoutAccount
    }
}
