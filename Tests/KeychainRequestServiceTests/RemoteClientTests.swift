// SPDX-License-Identifier: Apache-2.0
import AccountDatabase
@testable import CallerIdentity
import Glibc
@testable import KeychainDaemon
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import KeychainRequestAudit
@testable import KeychainUserPresence
import SystemTestSupport
import Testing

/// A program at the other end of a socket: here it is this very process.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct RemoteClientTests {
    private let server: ServerInMemory
    private let pair: ConnectionPair

    init() throws {
        server = try ServerInMemory()
        pair = try ConnectionPair()
    }

    private func client(facts: ProcessFacts?) -> RemoteClient {
        let seen = server.resolver.look(
            at: server.resolver.resolve(pair.server, running: facts?.program), pair.server.process)
        return RemoteClient(
            ConnectedProgram(pair.server, facts, server.directory), seen,
            server.resolver.sessionAttributes(
                seen.caller, pair.server.process, runsRootsFile: facts?.runsRootsFile ?? false),
            context: nil,
            prompterProgram: "/usr/libexec/keychain/keychain-prompter", notes: RequestNotes())
    }

    private func client() throws -> RemoteClient {
        client(facts: ProcessFacts(try #require(pair.server.process), OwnLooks()))
    }

    @Test func `it is the program that connected, by what the kernel says`() throws {
        let client = try client()
        let own = try #require(InstalledProgram.ownPath())
        #expect(client.caller.process == getpid() && client.caller.user == geteuid())
        // Where tests run as a system's service its unit is the name.
        let name = client.caller.identity.identifier
        #expect(name == "exe:" + own || name?.hasPrefix("unit:") == true)
        #expect(client.process?.id == getpid())
        #expect(client.isUnchanged())
    }

    @Test func `where it can't be told what it runs, it is not unchanged and proves nothing`() {
        let client = client(facts: nil)
        #expect(!client.isUnchanged())
        #expect(client.process == nil)
    }

    @Test func `a program that has ended is not the one that asks any more`() throws {
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["600"], environment: [], passing: [],
            newSession: true)
        let client = client(
            facts: ProcessFacts(
                try #require(PinnedProcess(pid: child.id, pidfd: nil)), OwnLooks()))
        #expect(client.isUnchanged())
        child.kill()
        #expect(!client.isUnchanged())
    }

    @Test func `it has gone when its end is closed`() throws {
        let client = try client()
        #expect(!client.hasGone())
        pair.client.shutDown()
        #expect(client.hasGone())
        #expect(!client.startPrompter(challenge: [1]))
    }

    @Test func `it is told which prompter to start, and for which question`() throws {
        #expect(try client().startPrompter(challenge: [1, 2, 3]))
        guard case .needsPrompter(let challenge, let program) = try pair.heard() else {
            Issue.record("it was told something else")
            return
        }
        #expect(challenge == [1, 2, 3])
        #expect(program == "/usr/libexec/keychain/keychain-prompter")
    }

    @Test func `its ancestors are the processes that started it`() throws {
        let client = try client()
        let parent = try #require(PinnedProcess(pid: getppid(), pidfd: nil))
        let place = try #require(
            ProofOrigin.Process(parent, running: parent.executable()))
        #expect(client.descends(from: place))
        let own = try #require(client.process)
        #expect(!client.descends(from: own))
    }

    /// A program that it executes since may have another group.
    @Test func `its groups are those of the connection`() throws {
        #expect(pair.server.peerGroups()?.first == getegid())
        let own = try #require(pair.server.process)
        let directory = CallerFacts.Directory(
            accounts: AccountNames { _ in "a" }, groups: { _ in ["staff"] },
            group: { $0 == 4242 ? "of-then" : "of-now" }, names: server.directory.names,
            looks: OwnLooks())
        let facts = CallerFacts(
            own, running: ProgramLook(at: own), in: [4242], label: .none, directory)
        let caller = try client().caller
        let groups = facts.facts(of: caller, .told)[.group]
        #expect(groups == .known(["staff", "of-then"]) || groups == .known(["of-then", "staff"]))
    }

    @Test func `policies and records are told which program it is, and of which groups`() throws {
        let client = try client()
        let own = try #require(InstalledProgram.ownPath())
        let facts = client.policyFacts(.told)
        #expect(facts[.exe] == .known([PolicyText(own)]))
        #expect(facts.uid == .known(geteuid()))
        let told = client.factsToTell()()
        #expect(told[.exe] == facts[.exe])
        #expect(told[.group] == .known(["staff"]))
    }
}
