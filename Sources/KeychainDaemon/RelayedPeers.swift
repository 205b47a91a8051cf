// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import Synchronization

/// A program for which a deputy asks.
final class RelayedProgram: Sendable {
    let process: PinnedProcess
    let callerFacts: CallerFacts
    /// As it was when it was introduced.
    let caller: Caller
    private let context = AuthenticationContext()
    private let facts: ProcessFacts
    /// What it runs, where the file can't be looked at.
    private let path: String?

    /// nil where an application is named and the process may ask for none.
    init?(
        _ process: PinnedProcess, of user: UInt32, for application: PortalApplication?,
        _ resolver: CallerResolver, _ directory: CallerFacts.Directory
    ) {
        self.process = process
        // Before the name is resolved: a program that becomes another in between has changed.
        facts = ProcessFacts(process)
        path = facts.executable == nil ? process.executablePath() : nil
        let caller =
            application.map { resolver.resolve($0, for: process, of: user) }
            ?? resolver.resolve(relayed: process, of: user)
        guard let caller else { return nil }
        self.caller = caller
        callerFacts = CallerFacts(process, label: .none, via: caller.via, directory)
    }

    var executable: ExecutableFacts? { facts.executable }

    /// Its own context, whichever the deputy names: a deputy's contexts would be all of its programs'.
    /// The deputy says no more than whether the user may be asked.
    func context(as said: AuthenticationContext?) -> AuthenticationContext {
        var own = context
        own.mayInteract = said?.mayInteract ?? true
        return own
    }

    /// Whether the process lives, runs the same file and is in the same control group.
    func isUnchanged() -> Bool {
        facts.hold() && (facts.executable != nil || process.executablePath() == path)
    }
}

/// The programs that deputies have introduced, each under a number that means it to that deputy alone.
///
/// A deputy is a process, however many connections it has: with the last of them its programs are
/// forgotten. A user's programs are bounded, since each holds descriptors of the daemon's; the one that
/// was asked for least lately gives way, and is introduced again where it is still there.
final class RelayedPeers: Sendable {
    static let mostOfUser = 512
    static let mostInAll = 1024

    /// A process that is known by its number and when it started.
    struct Deputy: Hashable, Sendable {
        let user: UInt32
        let process: Int32
        let started: UInt64

        /// nil for a process that is gone.
        init?(_ process: PinnedProcess?, of user: UInt32) {
            guard let process, let started = process.startTime else { return nil }
            self.user = user
            self.process = process.id
            self.started = started
        }
    }

    private struct Entry {
        let program: RelayedProgram
        let deputy: Deputy
        var lastUse: UInt64
    }
    private struct State {
        var connections: [Deputy: Int] = [:]
        var entries: [UInt64: Entry] = [:]
        var uses: UInt64 = 0

        mutating func use() -> UInt64 {
            uses += 1
            return uses
        }

        func leastUsed(of user: UInt32) -> UInt64? {
            entries.filter { $0.value.deputy.user == user }
                .min { $0.value.lastUse < $1.value.lastUse }?.key
        }

        /// The user with most of them.
        var crowdedUser: UInt32? {
            var counts: [UInt32: Int] = [:]
            for entry in entries.values { counts[entry.deputy.user, default: 0] += 1 }
            return counts.max { $0.value < $1.value }?.key
        }
    }
    private let state = Mutex(State())
    private let hasLeft: @Sendable (Deputy) -> Void

    /// `hasLeft` is called when the last connection of a deputy has ended.
    init(hasLeft: @escaping @Sendable (Deputy) -> Void = { _ in }) { self.hasLeft = hasLeft }

    /// A connection of the deputy's begins. Each is followed by `leave`.
    func join(_ deputy: Deputy) {
        state.withLock { $0.connections[deputy, default: 0] += 1 }
    }

    func leave(_ deputy: Deputy) {
        // What is forgotten ends outside of the lock.
        let gone = state.withLock { state -> [Entry]? in
            let left = state.connections[deputy, default: 1] - 1
            state.connections[deputy] = left > 0 ? left : nil
            guard left <= 0 else { return nil }
            let gone = state.entries.filter { $0.value.deputy == deputy }
            for handle in gone.keys { state.entries[handle] = nil }
            return Array(gone.values)
        }
        if gone != nil { hasLeft(deputy) }
    }

    /// The number is chosen at random, and so given to no other program later.
    func add(_ program: RelayedProgram, by deputy: Deputy) -> UInt64 {
        let (handle, gone) = state.withLock { state in
            var gone: [Entry?] = []
            let own = state.entries.values.count { $0.deputy.user == deputy.user }
            if own >= Self.mostOfUser, let least = state.leastUsed(of: deputy.user) {
                gone.append(state.entries.removeValue(forKey: least))
            } else if state.entries.count >= Self.mostInAll, let user = state.crowdedUser,
                let least = state.leastUsed(of: user)
            {
                gone.append(state.entries.removeValue(forKey: least))
            }
            var handle = UInt64.random(in: .min ... .max)
            while state.entries[handle] != nil { handle = UInt64.random(in: .min ... .max) }
            let use = state.use()
            state.entries[handle] = Entry(program: program, deputy: deputy, lastUse: use)
            return (handle, gone)
        }
        withExtendedLifetime(gone) {}
        return handle
    }

    /// nil for a number that means nothing to this deputy.
    func program(_ handle: UInt64, of deputy: Deputy) -> RelayedProgram? {
        state.withLock { state in
            guard var entry = state.entries[handle], entry.deputy == deputy else { return nil }
            entry.lastUse = state.use()
            state.entries[handle] = entry
            return entry.program
        }
    }

    func forget(_ handle: UInt64, of deputy: Deputy) {
        let gone = state.withLock { state in
            state.entries[handle]?.deputy == deputy
                ? state.entries.removeValue(forKey: handle) : nil
        }
        withExtendedLifetime(gone) {}
    }
}
