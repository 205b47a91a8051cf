// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainLocalSocket
internal import Synchronization

/// Starts programs for one user, each with a connection to `keychain-starter` that is bound to the
/// user.
package struct StarterSocket: ProgramStarter {
    private let connect: @Sendable () throws(SocketError) -> RecordConnection
    private let log: @Sendable (String) -> Void

    /// - Parameter connect: a new connection that is bound to the user.
    package init(
        connect: @escaping @Sendable () throws(SocketError) -> RecordConnection,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.connect = connect
        self.log = log
    }

    package func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram {
        try StarterExchange(connect: connect, log: log).start(request, passing: descriptors)
    }
}

/// What `keychaind` asks `keychain-starter` for on connections that are bound to no user, at a path:
/// the compiler of policies, a user's folders for a number, and the end of a worker.
package struct UnboundStarter: ProgramStarter {
    private let path: String
    private let log: @Sendable (String) -> Void
    private var exchange: StarterExchange {
        let path = path
        return StarterExchange(
            connect: { () throws(SocketError) in try RecordConnection(path: path) }, log: log)
    }

    package init(path: String, log: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.log = log
    }

    /// Starts the compiler of policies. A program that works for a user is refused here.
    package func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram {
        try exchange.start(request, passing: descriptors)
    }

    /// Gives the user's folders in these two to the number, and makes them where they are missing.
    /// Both are folders of root's, open for reading. Done again, it changes nothing.
    package func adopt(
        _ user: UInt32, _ number: UInt32, state: Descriptor, runtime: Descriptor
    ) throws(StarterError) {
        let record = try StartRecord.adopt(user: user, number: number)
        try exchange.perform(
            record, passing: [state, runtime], "give the folders of user \(user) away")
    }

    /// Ends a process of the number's, by its pidfd.
    package func end(
        _ process: Descriptor, of user: UInt32, _ number: UInt32
    ) throws(StarterError) {
        let record = try StartRecord.end(user: user, number: number)
        try exchange.perform(record, passing: [process], "end the worker of user \(user)")
    }
}

/// One request on a connection of its own.
private struct StarterExchange {
    /// Seconds to start a process.
    private static let patience = 5.0
    /// Policies are loaded while the machine starts, when the starter may be starting, too.
    private static let patienceForPolicies = 20.0

    let connect: @Sendable () throws(SocketError) -> RecordConnection
    let log: @Sendable (String) -> Void

    func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram {
        let (connection, reply) = try ask(
            StartRecord.bytes(of: request), passing: descriptors,
            withinSeconds: Self.patience(for: request))
        guard reply != .started else { return StartedProgram(request.program, connection, log) }
        throw refusal(reply, request.program)
    }

    private func ask(
        _ record: [UInt8], passing descriptors: [Descriptor], withinSeconds seconds: Double
    ) throws(StarterError) -> (RecordConnection, StartRecord.Reply) {
        do throws(SocketError) {
            let connection = try connect()
            try connection.send(record, passing: descriptors)
            let bytes = try connection.receive(
                limit: StartRecord.longestReply, deadlineSeconds: seconds)
            return (connection, try StartRecord.reply(in: bytes))
        } catch {
            throw refused("does not answer (\(error))", .notAnswering)
        }
    }

    /// Has the starter do itself what the record says.
    func perform(
        _ record: [UInt8], passing descriptors: [Descriptor], _ what: String
    ) throws(StarterError) {
        let (_, reply) = try ask(record, passing: descriptors, withinSeconds: Self.patience)
        switch reply {
        case .done: return
        case .failed, .foreignFolder:
            throw refused("did not \(what), for the reason in its log", .failed)
        default: throw refused("does not take its request", .notAnswering)
        }
    }

    private func refusal(_ reply: StartRecord.Reply, _ program: String) -> StarterError {
        switch reply {
        case .noService: .noService
        case .busy: .busy
        case .notInstalled: refused("does not find \(program)", .notInstalled)
        case .failed: refused("could not start \(program)", .failed)
        case .started, .ended, .done, .foreignFolder, .refused:
            refused("does not take its request", .notAnswering)
        }
    }

    private static func patience(for request: ProgramRequest) -> Double {
        if case .policies = request { patienceForPolicies } else { patience }
    }

    private func refused(_ why: String, _ error: StarterError) -> StarterError {
        log("keychain-starter \(why); keychainctl doctor says what helps")
        return error
    }
}

private final class StartedProgram: RunningProgram {
    private let program: String
    private let connection: RecordConnection
    private let log: @Sendable (String) -> Void
    /// Locked, since one thread may read it while another ends the process.
    private let known = Mutex(ProgramState.running)

    init(
        _ program: String, _ connection: RecordConnection,
        _ log: @escaping @Sendable (String) -> Void
    ) {
        self.program = program
        self.connection = connection
        self.log = log
    }

    func state(withinSeconds seconds: Double) -> ProgramState {
        known.withLock { known in
            guard known == .running else { return known }
            do throws(SocketError) {
                let bytes = try connection.receive(
                    limit: StartRecord.longestReply, deadlineSeconds: seconds)
                guard case .ended(let status) = try StartRecord.reply(in: bytes) else {
                    throw .malformed
                }
                known = .ended(status)
            } catch { known = error == .timedOut ? .running : .lost }
            if known == .lost { log("keychain-starter ended while \(program) ran") }
            return known
        }
    }

    /// A process ended from here does not count as lost.
    func end() {
        known.withLock { if $0 == .running { $0 = .ended(ExitStatus(code: nil)) } }
        connection.hangUp()
    }
}
