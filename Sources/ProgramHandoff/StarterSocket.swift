// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import Synchronization

/// The socket of `keychain-starter`, with a connection for each program.
package struct StarterSocket: ProgramStarter {
    /// Seconds to start a process.
    private static let patience = 5.0
    /// Policies are loaded while the machine starts, when the starter may be starting, too.
    private static let patienceForPolicies = 20.0

    private let path: String
    private let log: @Sendable (String) -> Void

    package init(path: String, log: @escaping @Sendable (String) -> Void) {
        self.path = path
        self.log = log
    }

    package func start(
        _ request: ProgramRequest, passing descriptors: [Descriptor]
    ) throws(StarterError) -> any RunningProgram {
        let record = try StartRecord.bytes(of: request)
        let connection: RecordConnection
        let reply: StartRecord.Reply
        do throws(SocketError) {
            connection = try RecordConnection(path: path)
            try connection.send(record, passing: descriptors)
            reply = try StartRecord.reply(
                in: connection.receive(
                    limit: StartRecord.longestReply, deadlineSeconds: Self.patience(for: request)))
        } catch {
            throw refused("does not answer (\(error))", .notAnswering)
        }
        switch reply {
        case .started: return StartedProgram(request.program, connection, log)
        case .noService: throw .noService
        case .busy: throw .busy
        case .notInstalled: throw refused("does not find \(request.program)", .notInstalled)
        case .failed: throw refused("could not start \(request.program)", .failed)
        case .ended, .refused: throw refused("does not take its request", .notAnswering)
        }
    }

    private static func patience(for request: ProgramRequest) -> Double {
        if case .policies = request { patienceForPolicies } else { patience }
    }

    private func refused(_ why: String, _ error: StarterError) -> StarterError {
        log("keychain-starter, on \(path), \(why); keychainctl doctor says what helps")
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
