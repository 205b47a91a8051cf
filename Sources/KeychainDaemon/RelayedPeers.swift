// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLinuxSystem
internal import KeychainMessages
internal import KeychainModel
internal import Synchronization

/// A program that a deputy makes requests for.
final class RelayedProgram: Sendable {
    let process: PinnedProcess
    let callerFacts: CallerFacts
    /// The caller as resolved at the introduction.
    let caller: Caller
    private let context = AuthenticationContext()
    private let facts: ProcessFacts

    /// nil where an application is named that the process may not speak for, and for a process that
    /// has ended or can't be looked at now.
    init?(
        _ process: PinnedProcess, of user: UInt32, for application: PortalApplication?,
        _ resolver: CallerResolver, _ directory: CallerFacts.Directory
    ) {
        // Looked at before the name is resolved: a process that executes another program in between is
        // then seen to have changed.
        guard let facts = ProcessFacts(process, resolver.looks) else { return nil }
        let program = facts.program
        let caller =
            application.map { resolver.resolve($0, for: process, running: program, of: user) }
            ?? resolver.resolve(relayed: process, running: program, of: user)
        guard let caller else { return nil }
        self.process = process
        self.facts = facts
        self.caller = caller
        callerFacts = CallerFacts(
            process, running: program, in: process.groups(), label: .none, via: caller.via,
            directory)
    }

    var executable: ExecutableFacts? { facts.executable }

    /// The program's own context, whatever context the deputy names: a deputy's context would be
    /// shared by all of its programs. Only the deputy's word whether the user may be asked counts.
    func context(as said: AuthenticationContext?) -> AuthenticationContext {
        var own = context
        own.mayInteract = said?.mayInteract ?? true
        return own
    }

    /// Whether the process is alive, has executed no other program, and is in the same control group.
    func isUnchanged() -> Bool { facts.hold() }
}

/// The programs that deputies have introduced, each under a number that is valid for that deputy
/// alone.
///
/// A deputy is a process, however many connections it has: when the last of them ends, its programs
/// are forgotten. Each user's programs are bounded, since each holds descriptors of the daemon's.
/// The program used least recently is dropped, and is introduced again if it is still there.
final class RelayedPeers: Sendable {
    static let mostOfUser = 512
    static let mostInAll = 1024

    /// A process, identified by its number and its start time.
    struct Deputy: Hashable, Sendable {
        let user: UInt32
        let process: Int32
        let started: UInt64

        /// nil for a process that has ended.
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

        /// The user with the most programs.
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

    /// Counts a connection of the deputy. Each call is followed by `leave`.
    func join(_ deputy: Deputy) {
        state.withLock { $0.connections[deputy, default: 0] += 1 }
    }

    func leave(_ deputy: Deputy) {
        // Dropped entries are released outside the lock.
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

    /// The number is random, so that no later program gets the same one.
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

    /// nil for a number that is not valid for this deputy.
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
