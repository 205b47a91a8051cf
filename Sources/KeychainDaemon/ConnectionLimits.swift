// SPDX-License-Identifier: Apache-2.0
internal import KeychainLocalSocket
internal import Synchronization

/// Limits the user's open connections, in all and of one program, so that no program shuts out the
/// others.
///
/// A connection is counted before it has a thread and before anything is asked about it: by the path of
/// the file that its process runs, since a program can have any number of processes.
final class ConnectionLimits: Sendable {
    static let most = 32
    /// Connections left for programs that have few, when another program has many.
    static let reserve = 8
    static let few = 4

    private struct Open {
        var count = 0
        var ofPrograms: [String: Int] = [:]
    }

    private let program: @Sendable (Int32) -> String?
    private let open = Mutex(Open())

    /// `program` gives the path of the file that a process runs, without a look at any file system
    /// that could hang; nil for a process that is gone.
    init(program: @escaping @Sendable (Int32) -> String?) { self.program = program }

    /// The number of open connections.
    var count: Int { open.withLock { $0.count } }

    /// Counts a connection; nil where there is no room for it.
    func begin(_ peer: PeerCredentials) -> Place? {
        // Processes that are gone count as one program.
        let program = program(peer.pid) ?? ""
        let hasRoom = open.withLock { open in
            let ofProgram = open.ofPrograms[program, default: 0]
            let room = Self.most - (ofProgram < Self.few ? 0 : Self.reserve)
            guard open.count < room else { return false }
            open.count += 1
            open.ofPrograms[program] = ofProgram + 1
            return true
        }
        return hasRoom ? Place(program, self) : nil
    }

    private func end(_ program: String) {
        open.withLock { open in
            let ofProgram = open.ofPrograms[program, default: 1]
            open.count -= 1
            open.ofPrograms[program] = ofProgram > 1 ? ofProgram - 1 : nil
        }
    }

    /// One connection's place among those that may be open, until it is released.
    final class Place: Sendable {
        private let program: String
        private let limits: ConnectionLimits

        fileprivate init(_ program: String, _ limits: ConnectionLimits) {
            self.program = program
            self.limits = limits
        }

        deinit { limits.end(program) }
    }
}
