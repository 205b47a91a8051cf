// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization

/// Limits the open connections in all, of one user and of one program, so that none of them shuts
/// out the others.
///
/// A connection is counted before it has a thread and before anything is asked about it: by its
/// user's number as the kernel reports it, and by the path of the file that its process runs, since
/// a program can have any number of processes. User numbers without an account share one part, as a
/// user with namespaces can connect under thousands of numbers. Numbers that the account directory
/// has not answered for yet share another part: a slow directory delays a bounded number of
/// threads, and no user whom it knew before; and numbers without an account shut out no number that
/// may have one.
final class ConnectionLimits: Sendable {
    static let mostForUser = 32
    static let mostInAll = 512
    /// Connections left for users who have few, when other users have many.
    static let reserve = 128
    /// Connections of a user left for programs that have few, when another program has many.
    static let reserveOfUser = 8
    static let few = 4

    enum Part: Hashable, Sendable {
        case user(UInt32)
        case withoutAccount
        /// The directory has not answered for the number yet.
        case unknown

        /// Whether several users share the part, so that programs of the same path may be different
        /// users'.
        var isShared: Bool { self == .withoutAccount || self == .unknown }
    }

    private struct Held {
        var count = 0
        var ofPrograms: [String: Int] = [:]
        let turns = RequestTurns()
    }

    private let accounts: AccountNames
    private let program: @Sendable (Int32) -> String?
    private let open = Mutex<[Part: Held]>([:])
    let users = ConnectedUsers()

    /// `program` gives the path of the file that a process runs, without a look at any file system
    /// that could hang; nil for a process that is gone.
    init(_ accounts: AccountNames, program: @escaping @Sendable (Int32) -> String?) {
        self.accounts = accounts
        self.program = program
    }

    /// Counts a connection; nil where there is no room for it. Never asks the directory.
    func begin(_ peer: PeerCredentials) -> Place? {
        let part: Part =
            if accounts.isKnown(peer.user) { .user(peer.user) } else {
                accounts.isKnownAbsent(peer.user) ? .withoutAccount : .unknown
            }
        // Processes that are gone count as one program.
        let program = program(peer.pid) ?? ""
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
            // Root's connections are never shut out by other users'.
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

        /// Ends the connection's place.
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

        /// Whether the user has an account. May block as long as the directory does; nil where
        /// there is no room for another connection of the kind that the user turns out to be.
        func hasAccount() -> Bool? {
            let hasAccount = limits.accounts.has(peer.user)
            let wanted: Part = hasAccount ? .user(peer.user) : .withoutAccount
            return part.withLock { part in
                guard let counted = part, counted != wanted else { return hasAccount }
                // From now on the connection counts under its true part.
                limits.end(counted, program)
                part = limits.begin(wanted, program) ? wanted : nil
                return part == nil ? nil : hasAccount
            }
        }
    }
}
