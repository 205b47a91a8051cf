// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLocalSocket
internal import Synchronization

/// How many connections may be open, in all, for one user and for one program, so that none of them
/// keeps the others out.
///
/// A connection is counted before it has a thread and before anything is asked about it: by the
/// numbers of its user and its process as the kernel reports them. User numbers without an account
/// share one part: a user who makes namespaces has thousands of numbers to speak under. Numbers
/// that the directory has not been asked about yet are among those until it has answered, so that a
/// slow directory holds up a bounded number of threads, and no user whom it knew before.
final class ConnectionLimits: Sendable {
    static let mostForUser = 32
    static let mostInAll = 512
    /// Left for users who have few when many have many.
    static let reserve = 128
    /// Of a user's own, left for programs that have few when one has many.
    static let reserveOfUser = 8
    static let few = 4

    enum Part: Hashable, Sendable {
        case user(UInt32)
        case withoutAccount
    }

    private struct Held {
        var count = 0
        var ofProcesses: [Int32: Int] = [:]
    }

    private let accounts: AccountNames
    private let open = Mutex<[Part: Held]>([:])

    init(_ accounts: AccountNames) { self.accounts = accounts }

    /// Counts a connection; nil where there is no room for it. Asks nothing.
    func begin(_ peer: PeerCredentials) -> Place? {
        let part: Part = accounts.isKnown(peer.user) ? .user(peer.user) : .withoutAccount
        return begin(part, peer.pid) ? Place(part, peer, self) : nil
    }

    private func begin(_ part: Part, _ process: Int32) -> Bool {
        open.withLock { open in
            var mine = open[part] ?? Held()
            let ofProcess = mine.ofProcesses[process, default: 0]
            let room = mine.count < Self.few ? Self.mostInAll : Self.mostInAll - Self.reserve
            let ownRoom =
                ofProcess < Self.few ? Self.mostForUser : Self.mostForUser - Self.reserveOfUser
            let all = open.values.reduce(0) { $0 + $1.count }
            // Root's own are never kept out by others.
            guard part == .user(0) || all < room, mine.count < ownRoom else { return false }
            mine.count += 1
            mine.ofProcesses[process] = ofProcess + 1
            open[part] = mine
            return true
        }
    }

    private func end(_ part: Part, _ process: Int32) {
        open.withLock { open in
            guard var mine = open[part], let ofProcess = mine.ofProcesses[process] else { return }
            mine.count -= 1
            mine.ofProcesses[process] = ofProcess > 1 ? ofProcess - 1 : nil
            open[part] = mine.count > 0 ? mine : nil
        }
    }

    /// One connection's place among those that may be open.
    final class Place: Sendable {
        let peer: PeerCredentials
        private let part: Mutex<Part?>
        private let limits: ConnectionLimits

        fileprivate init(_ part: Part, _ peer: PeerCredentials, _ limits: ConnectionLimits) {
            self.part = Mutex(part)
            self.peer = peer
            self.limits = limits
        }

        deinit { end() }

        /// The connection is over.
        func end() {
            part.withLock { part in
                if let part { limits.end(part, peer.pid) }
                part = nil
            }
        }

        /// Whether the user has an account, by a look that may take as long as the directory does;
        /// nil where it has, and no room for another connection.
        func hasAccount() -> Bool? {
            guard limits.accounts.has(peer.user) else { return false }
            return part.withLock { part in
                guard part == .withoutAccount else { return true }
                // From now on it counts as that user's.
                limits.end(.withoutAccount, peer.pid)
                part = limits.begin(.user(peer.user), peer.pid) ? .user(peer.user) : nil
                return part == nil ? nil : true
            }
        }
    }
}
