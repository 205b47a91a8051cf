// SPDX-License-Identifier: Apache-2.0
import Glibc
@testable import KeychainDaemon
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import KeychainUserPresence
import SystemTestSupport
import Testing

/// A program for which another process speaks, over a pair of sockets.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct RelayedConnectionsTests {
    private let server: ServerInMemory
    private let folder: ScratchFolder
    private let program: ClientConnection
    /// The program's connection at the service's end.
    private let original: Descriptor

    init() throws {
        server = try ServerInMemory()
        folder = try ScratchFolder()
        let path = folder("socket")
        let listener = try Listener(path: path, mode: 0o600)
        let connecting = Background { try ClientConnection(path: path, requiredPeer: nil) }
        original = try listener.accept()
        try ServerConnection(original).greet()
        program = try connecting.value()
    }

    private func pair() throws -> (Descriptor, Descriptor) {
        var numbers: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else {
            throw SocketError.system(errno)
        }
        return (Descriptor(owning: numbers[0]), Descriptor(owning: numbers[1]))
    }

    private func machine() throws -> MachineKeychain {
        let (ours, theirs) = try pair()
        server.server.serveRelayed(theirs, peerOf: original)
        return MachineKeychain(ours)
    }

    private func ask<V: Verb>(_ verb: V, _ machine: MachineKeychain) throws -> [V.Answer] {
        var parts: [V.Answer] = []
        try machine.ask(verb, for: Program.git) { parts.append($0) }
        return parts
    }

    private func query(in keychain: String?) -> CopyMatching {
        var query = ItemQuery(.genericPassword)
        query.keychain = keychain
        query.returnFields = .data
        return CopyMatching(query)
    }

    @Test func `the program that is served is the one of the other socket`() throws {
        let machine = try machine()
        let told = try ask(Status(), machine)
        let own = try server.connect().ask(Status())
        #expect(told.map(\.callerIdentifier) == own.map(\.callerIdentifier))
        // The connection serves further requests.
        #expect(!machine.hasEnded)
        #expect(try ask(Status(), machine) == told)
        withExtendedLifetime(program) {}
    }

    @Test func `a refusal comes as it was given, and only searches of that keychain are carried`()
        throws
    {
        let machine = try machine()
        // This service has no keychain of the machine's.
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            _ = try self.ask(self.query(in: "system"), machine)
        }
        for query in [query(in: "login"), query(in: nil)] {
            #expect(throws: RequestError.refused(.notEntitled)) { _ = try self.ask(query, machine) }
        }
        #expect(throws: RequestError.refused(.notEntitled)) {
            _ = try self.ask(Lock(keychain: "login"), machine)
        }
        #expect(try ask(Status(), machine).count == 1)
        #expect(server.world.person.questions.isEmpty)
    }

    @Test func `an end that is closed is not available, and stays so`() throws {
        // Nothing keeps the other end.
        let machine = MachineKeychain(try pair().0)
        #expect(!machine.hasEnded)
        for _ in 1...2 {
            #expect(throws: RequestError.failed(.notAvailable)) {
                _ = try self.ask(Status(), machine)
            }
            #expect(machine.hasEnded)
        }
    }

    @Test func `the program's own connection ends although it is served elsewhere too`() throws {
        let machine = try machine()
        _ = try ask(Status(), machine)
        #expect(!program.peerHungUp())
        _ = shutdown(original.number, Int32(SHUT_RDWR))
        #expect(program.peerHungUp())
        #expect(try ask(Status(), machine).count == 1)
    }

    @Test func `no user takes the room of all others`() {
        let connections = RelayedConnections()
        for _ in 0..<RelayedConnections.mostForUser { #expect(connections.begin(1)) }
        #expect(!connections.begin(1))
        for user in 2...8 as ClosedRange<UInt32> {
            for _ in 0..<RelayedConnections.mostForUser { #expect(connections.begin(user)) }
        }
        #expect(!connections.begin(9))
        connections.end(1)
        #expect(connections.begin(9))
        #expect(!connections.begin(1))
    }
}
