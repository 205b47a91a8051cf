// SPDX-License-Identifier: Apache-2.0
@testable import CallerIdentity
import Glibc
@testable import KeychainDaemon
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import Testing

@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct RelayedPeersTests {
    private let server: ServerInMemory
    private let peers = RelayedPeers()
    private let own: PinnedProcess
    private let program: RelayedProgram

    init() throws {
        server = try ServerInMemory()
        own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        program = try #require(
            RelayedProgram(own, of: geteuid(), for: nil, server.resolver, server.directory))
    }

    private func deputy(_ user: UInt32 = 1000) throws -> RelayedPeers.Deputy {
        try #require(RelayedPeers.Deputy(own, of: user))
    }

    @Test func `a number means its program to the deputy that has it from us`() throws {
        let (mine, others) = (try deputy(1000), try deputy(1001))
        let handle = peers.add(program, by: mine)
        #expect(peers.program(handle, of: mine) === program)
        #expect(peers.program(handle, of: others) == nil)
        #expect(peers.program(handle &+ 1, of: mine) == nil)
        peers.forget(handle, of: others)
        #expect(peers.program(handle, of: mine) === program)
        peers.forget(handle, of: mine)
        #expect(peers.program(handle, of: mine) == nil)
    }

    @Test func `with a deputy's last connection its programs are forgotten`() throws {
        let deputy = try deputy()
        peers.join(deputy)
        peers.join(deputy)
        let handle = peers.add(program, by: deputy)
        peers.leave(deputy)
        #expect(peers.program(handle, of: deputy) != nil)
        peers.leave(deputy)
        #expect(peers.program(handle, of: deputy) == nil)
    }

    @Test func `of too many the one that was asked for least lately is forgotten`() throws {
        let deputy = try deputy()
        let handles = (0..<RelayedPeers.mostOfUser).map { _ in peers.add(program, by: deputy) }
        #expect(peers.program(handles[0], of: deputy) != nil)
        let newest = peers.add(program, by: deputy)
        #expect(peers.program(handles[1], of: deputy) == nil)
        #expect(peers.program(handles[0], of: deputy) != nil)
        #expect(peers.program(newest, of: deputy) != nil)
    }

    @Test func `in all they are so many, and users with few keep theirs`() throws {
        let few = try deputy(1)
        let handle = peers.add(program, by: few)
        for user in UInt32(2)...4 {
            let deputy = try deputy(user)
            for _ in 0..<RelayedPeers.mostOfUser { _ = peers.add(program, by: deputy) }
        }
        #expect(peers.program(handle, of: few) != nil)
    }

    @Test func `a program is what it was as long as it runs the same file`() throws {
        #expect(program.isUnchanged())
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
        let process = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        let other = try #require(
            RelayedProgram(process, of: geteuid(), for: nil, server.resolver, server.directory))
        #expect(other.isUnchanged())
        child.kill()
        #expect(!other.isUnchanged())
    }

    @Test func `without the group no connection is a deputy's`() throws {
        let program = DeputyProgram("/no/such/keychain-secrets")
        #expect(!program.isDeputy(PeerCredentials(pid: 1, user: 0, group: 0)))
        let connection = try server.connect()
        func refusal(_ message: ClientMessage) throws -> RequestError? {
            try connection.say(message)
            if case .refusal(let refusal, _) = try connection.hear() { return refusal }
            return nil
        }
        let relay = Relay(peer: 7, transfer: nil)
        #expect(
            try refusal(
                .request(Status(), context: nil, relay: relay, offersTerminal: false))
                == .refused(.notEntitled))
        for verb in [Introduce(heardOf: nil), ForgetPeer(7)] as [any Verb] {
            #expect(
                try refusal(.request(verb, context: nil, relay: nil, offersTerminal: false))
                    == .refused(.notEntitled))
        }
    }
}
