// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization

/// How many connections may be open, in all, for one user and for one program, so that none of them
/// keeps the others out.
///
/// A connection is counted before it has a thread and before anything is asked about it: by the
/// number of its user as the kernel reports it and the name of the file that its process runs:
/// processes are as many as a program wants. User numbers without an account share one part: a user
/// who makes namespaces has thousands of numbers to speak under. Numbers that the directory has not
/// been asked about yet share another, until it has answered: a slow directory holds up a bounded
/// number of threads and no user whom it knew before, and numbers that have no account keep out none
/// that may have one.
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
        /// Not asked about yet.
        case unknown

        /// By users whose programs are not one another's.
        var isShared: Bool { self == .withoutAccount || self == .unknown }
    }

    private struct Held {
        var count = 0
        var ofPrograms: [String: Int] = [:]
        let turns = RequestTurns()
    }

    private let accounts: AccountNames
    private let program: @Sendable (Int32) -> String
    private let open = Mutex<[Part: Held]>([:])
    let users = ConnectedUsers()

    /// `program` names what a process runs, without a look at any file system that could hang.
    /// Processes that are gone count as one program.
    init(
        _ accounts: AccountNames,
        program: @escaping @Sendable (Int32) -> String = { ProcessProgram.path(of: $0) ?? "" }
    ) {
        self.accounts = accounts
        self.program = program
    }

    /// Counts a connection; nil where there is no room for it. Asks nothing.
    func begin(_ peer: PeerCredentials) -> Place? {
        let part: Part =
            if accounts.isKnown(peer.user) { .user(peer.user) } else {
                accounts.isKnownAbsent(peer.user) ? .withoutAccount : .unknown
            }
        let program = program(peer.pid)
        return begin(part, program) ? Place(part, peer, program, self) : nil
    }

    private func begin(_ part: Part, _ program: String) -> Bool {
        open.withLock { open in
            var mine = open[part] ?? Held()
            let ofProgram = mine.ofPrograms[program, default: 0]
            let room = mine.count < Self.few ? Self.mostInAll : Self.mostInAll - Self.reserve
            let mayFill = part.isShared || ofProgram < Self.few
            let ownRoom = Self.mostForUser - (mayFill ? 0 : Self.reserveOfUser)
            let all = open.values.reduce(0) { $0 + $1.count }
            // Root's own are never kept out by others.
            guard part == .user(0) || all < room, mine.count < ownRoom else { return false }
            mine.count += 1
            mine.ofPrograms[program] = ofProgram + 1
            open[part] = mine
            users.are(open.count)
            return true
        }
    }

    private func end(_ part: Part, _ program: String) {
        open.withLock { open in
            guard var mine = open[part], let ofProgram = mine.ofPrograms[program] else { return }
            mine.count -= 1
            mine.ofPrograms[program] = ofProgram > 1 ? ofProgram - 1 : nil
            open[part] = mine.count > 0 ? mine : nil
            users.are(open.count)
        }
    }

    /// One connection's place among those that may be open.
    final class Place: Sendable {
        let peer: PeerCredentials
        private let program: String
        private let part: Mutex<Part?>
        private let limits: ConnectionLimits

        fileprivate init(
            _ part: Part, _ peer: PeerCredentials, _ program: String, _ limits: ConnectionLimits
        ) {
            self.part = Mutex(part)
            self.peer = peer
            self.program = program
            self.limits = limits
        }

        deinit { end() }

        /// The connection is over.
        func end() {
            part.withLock { part in
                if let part { limits.end(part, program) }
                part = nil
            }
        }

        /// The turns that the user's connections share.
        var turns: RequestTurns {
            part.withLock { part in
                let held = limits.open.withLock { open in part.flatMap { open[$0] } }
                return held?.turns ?? RequestTurns()
            }
        }

        /// Whether the user has an account, by a look that may take as long as the directory does;
        /// nil where there is no room for another connection of its kind.
        func hasAccount() -> Bool? {
            let hasAccount = limits.accounts.has(peer.user)
            let wanted: Part = hasAccount ? .user(peer.user) : .withoutAccount
            return part.withLock { part in
                guard let counted = part, counted != wanted else { return hasAccount }
                // From now on it counts as what it is.
                limits.end(counted, program)
                part = limits.begin(wanted, program) ? wanted : nil
                return part == nil ? nil : hasAccount
            }
        }
    }
}
