// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMessages
internal import KeychainModel
internal import KeychainPolicyEngine
internal import Synchronization

/// Recognises the deputy: the installed program whose file belongs to the group that the peer runs
/// under, as with the prompter.
///
/// The file is checked for a connection whose group was the file's a moment ago, and for other
/// connections only now and then: checking a file and its folders for each connection would cost
/// all other programs time.
final class DeputyProgram: Sendable {
    private static let looksEvery: Duration = .seconds(2)

    private let path: String
    private let known = Mutex<(group: UInt32?, asOf: ContinuousClock.Instant)?>(nil)

    init(_ path: String) { self.path = path }

    func isDeputy(_ peer: PeerCredentials) -> Bool {
        let now = ContinuousClock.now
        let known = known.withLock { $0 }
        if let known, known.group != peer.group, now < known.asOf + Self.looksEvery { return false }
        let group = InstalledProgram.setgidGroup(path)
        self.known.withLock { $0 = (group, now) }
        return group == peer.group
    }
}

/// One connection of a deputy's: introduces programs, and finds the program that a request is for.
final class DeputyConnection: Sendable {
    private static let clockTicks: UInt64 = 100
    private static let nanoseconds: UInt64 = 1_000_000_000

    private let deputy: RelayedPeers.Deputy
    private let peers: RelayedPeers
    private let resolver: CallerResolver
    private let directory: CallerFacts.Directory

    /// nil where the deputy's process is gone.
    init?(
        _ connection: ServerConnection, _ peers: RelayedPeers, _ resolver: CallerResolver,
        _ directory: CallerFacts.Directory
    ) {
        guard let deputy = RelayedPeers.Deputy(connection.process, of: connection.peer.user) else {
            return nil
        }
        self.deputy = deputy
        self.peers = peers
        self.resolver = resolver
        self.directory = directory
        peers.join(deputy)
    }

    deinit { peers.leave(deputy) }

    var user: UInt32 { deputy.user }
    var process: Int32 { deputy.process }

    func program(_ relay: Relay) throws(RequestError) -> RelayedProgram {
        guard let program = peers.program(relay.peer, of: deputy) else {
            throw .state(.noSuchPeer)
        }
        return program
    }

    func forget(_ peer: UInt64) { peers.forget(peer, of: deputy) }

    /// The process must be the deputy's user's, and must have started before the deputy heard of
    /// its connection: a connection outlives its process, and another process may get the number.
    func introduce(
        _ introduction: Introduce, _ descriptor: Descriptor, under policy: CompiledPolicy
    ) throws(RequestError) -> RelayedPeer {
        guard let process = PinnedProcess(passed: descriptor),
            let credentials = process.credentials(),
            credentials.realUser == deputy.user, credentials.effectiveUser == deputy.user,
            Self.wasThere(process, introduction.heardOf)
        else { throw .refused(.notEntitled) }
        let program = RelayedProgram(
            process, of: deputy.user, for: introduction.application, resolver, directory)
        // The process is alive after everything was read, so all of it was read of this process.
        guard let program, process.isAlive else { throw .refused(.notEntitled) }
        let caller = program.callerFacts.atHome(program.caller, policy)
        return RelayedPeer(
            handle: peers.add(program, by: deputy),
            groups: caller.identifier == nil ? [] : caller.accessGroups)
    }

    /// Whether the process had started by then. The kernel tells the start in hundredths of a
    /// second, rounded down. No process number is given twice within a hundredth: all other numbers
    /// are given first.
    private static func wasThere(_ process: PinnedProcess, _ heardOf: UInt64?) -> Bool {
        guard let heardOf else { return true }
        guard let started = process.startTime else { return false }
        return started <= heardOf / (nanoseconds / clockTicks)
    }
}
