// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
import KeychainLinuxSystem
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
@testable import KeychainRequestAudit
@testable import KeychainUserPresence
@testable import KeychainVaults
import Testing

/// A client that asks from wherever the test says.
private struct TestClient: Client {
    var caller: Caller
    var context: AuthenticationContext?
    var process: ProofOrigin.Process?
    private let parent: ProofOrigin.Process?
    let offersTerminal = false
    let notes = RequestNotes()
    func policyFacts(_ asked: AskedFacts) -> PolicyFacts { PolicyFacts() }

    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        VisibleGroups()
    }

    init(
        user: UInt32 = 1000, session: Int32? = 7, process: Int32? = 42, tty: UInt32? = 3,
        parent: Int32? = nil,
        program: Caller.Identity = .trustedExecutable("/usr/bin/git"), via: Caller.Via? = nil,
        groups: [String] = []
    ) {
        caller = Caller(
            user: user, process: process ?? 0, identity: program,
            session: session.map(SessionID.init), terminal: tty, accessGroups: groups, via: via)
        self.process = process.map(Self.place)
        self.parent = parent.map(Self.place)
    }

    private static func place(_ id: Int32) -> ProofOrigin.Process {
        .init(id: id, startTime: 99, executableDevice: 1, executableInode: 2)
    }

    func descends(from process: ProofOrigin.Process) -> Bool { process == parent }

    func terminal() -> ProofOrigin.Terminal? {
        caller.terminal.map { .init(device: $0, leader: 5, leaderStart: 6) }
    }

    func with(_ context: AuthenticationContext) -> TestClient {
        var client = self
        client.context = context
        return client
    }

    func isUnchanged() -> Bool { true }
    func hasGone() -> Bool { false }
    func startPrompter(challenge: [UInt8]) -> Bool { false }
}

@Suite struct EvidenceStoreTests {
    private let store = EvidenceStore(keyring: nil)
    private let context = AuthenticationContext()

    private func scopes(_ client: TestClient) -> [Freshness] {
        store.evidence(for: client).proofs.map(\.scope)
    }

    @Test func `a yes to programs that can't be told apart serves all of them in the login`() throws
    {
        func program(_ process: Int32, _ session: Int32?, via: Caller.Via? = .secretService)
            -> TestClient
        {
            TestClient(
                session: session, process: process, tty: nil, program: .unknown, via: via,
                groups: ["bus:unidentified"])
        }
        let identifier = [UInt8](repeating: 1, count: 16)
        let other = [UInt8](repeating: 2, count: 16)
        let item = try #require(ItemReference(itemClass: .attributed, identifier: identifier))
        let another = try #require(ItemReference(itemClass: .attributed, identifier: other))
        store.add([.factor(.confirm)], for: program(50, 7), about: [item])
        func scopes(_ client: TestClient, _ item: ItemReference) -> [Freshness] {
            store.evidence(for: client).about(item).proofs.map(\.scope)
        }
        #expect(scopes(program(51, 7), item) == [.session])
        #expect(scopes(program(51, 7), another) == [])
        #expect(scopes(program(51, 8), item) == [])
        #expect(scopes(program(51, nil), item) == [])
        #expect(scopes(program(51, 7, via: nil), item) == [])
        #expect(scopes(TestClient(session: 7, via: .secretService), item) == [])
    }

    @Test func `a proof given in a context serves the context, and is as good as new`() {
        let client = TestClient().with(context)
        store.add([.factor(.passcode)], for: client)
        let proofs = store.evidence(for: client).proofs
        #expect(proofs == [PolicyProof(.factor(.passcode), age: .zero, scope: .context)])
    }

    @Test func `another context of the process shares no more than the process`() {
        store.add([.factor(.passcode)], for: TestClient().with(context))
        #expect(scopes(TestClient().with(AuthenticationContext())) == [.process])
        #expect(scopes(TestClient()) == [.process])
    }

    @Test func `another process gets nothing of a context by knowing its name`() {
        store.add([.factor(.passcode)], for: TestClient().with(context))
        #expect(scopes(TestClient(process: 43).with(context)) == [.tty])
        #expect(scopes(TestClient(process: 43, tty: 4).with(context)) == [.session])
        #expect(scopes(TestClient(session: 8, process: 43, tty: 4).with(context)) == [])
        #expect(scopes(TestClient(user: 1001).with(context)) == [])
    }

    @Test func `no program has another's proofs forgotten`() {
        let mine = TestClient(process: 42, program: .trustedExecutable("/usr/bin/git"))
        store.add([.factor(.passcode)], for: mine)
        for number in 0..<3 * Int32(EvidenceStore.most) {
            store.add(
                [.factor(.passcode)],
                for: TestClient(
                    session: 8, process: 1000 + number, tty: 9,
                    program: .executable("/tmp/greedy")))
        }
        #expect(scopes(mine) == [.process])
    }

    @Test func `what was proven to a program serves none that a deputy says is the same`() throws {
        let store = EvidenceStore(keyring: nil)
        func scopes(_ client: TestClient) -> [Freshness] {
            store.evidence(for: client).proofs.map(\.scope)
        }
        let (direct, brought) = (TestClient(), TestClient(via: .secretService))
        store.add([.factor(.passcode)], for: direct, about: [])
        #expect(scopes(direct) == [.process] && scopes(brought) == [.session])
        #expect(scopes(TestClient(process: 43)) == [.tty])
        #expect(scopes(TestClient(process: 43, via: .secretService)) == [.session])
        store.add([.factor(.biometry)], for: brought, about: [])
        #expect(Set(scopes(direct)) == [.process, .session])
        #expect(Set(scopes(brought)) == [.session, .process])
    }

    private func relayed(
        process: Int32 = 42, session: Int32? = 7,
        program: Caller.Identity = .trustedExecutable("/usr/bin/git")
    ) -> TestClient {
        TestClient(
            session: session, process: process, tty: nil, program: program, via: .secretService
        ).with(context)
    }

    private static let item = ItemReference(
        itemClass: .attributed, identifier: [UInt8](repeating: 1, count: 16))

    private func isFresh(_ client: TestClient, _ store: EvidenceStore) throws -> Bool {
        let item = try #require(Self.item)
        let proof = PolicyProof(.factor(.passcode), age: .zero, scope: .context)
        return store.evidence(for: client).about(item).proofs.contains(proof)
    }

    @Test func `through a deputy a proof serves the program and the items, over connections`()
        throws
    {
        let item = try #require(Self.item)
        store.add([.factor(.passcode)], for: relayed(), about: [item])
        #expect(try isFresh(relayed(process: 43), store))
        #expect(try isFresh(relayed(), store))
        let other = try #require(
            ItemReference(itemClass: .attributed, identifier: [UInt8](repeating: 2, count: 16)))
        #expect(
            !store.evidence(for: relayed()).about(other).proofs.contains { $0.scope == .context })
        // Neither another program, nor another login, nor one that connects itself.
        #expect(
            try !isFresh(
                relayed(process: 43, program: .trustedExecutable("/usr/bin/ssh")), store))
        #expect(try !isFresh(relayed(process: 43, program: .executable("/usr/bin/git")), store))
        #expect(try !isFresh(relayed(process: 43, session: 8), store))
        #expect(try !isFresh(TestClient(process: 43, tty: nil), store))
        #expect(try !isFresh(relayed(process: 43, program: .unknown), store))
    }

    @Test func `a program ends what was proven to let it have an item, and nothing else`() throws {
        let item = try #require(Self.item)
        let other = try #require(
            ItemReference(itemClass: .attributed, identifier: [UInt8](repeating: 2, count: 16)))
        store.add([.factor(.passcode)], for: relayed(), about: [item])
        store.add([.factor(.passcode)], for: TestClient().with(context))
        let stranger = relayed(program: .trustedExecutable("/usr/bin/ssh"))
        #expect(store.forget(about: [item], of: stranger.caller).isEmpty)
        #expect(store.forget(about: [other], of: relayed().caller).isEmpty)
        #expect(try isFresh(relayed(process: 43), store))
        #expect(store.forget(about: [other, item], of: relayed().caller) == [item])
        #expect(try !isFresh(relayed(process: 43), store))
        #expect(store.forget(about: [item], of: relayed().caller).isEmpty)
        #expect(!store.evidence(for: TestClient().with(context)).isEmpty)
    }

    @Test func `a proof that ends tells all items that it was given for`() throws {
        let items = try (1...3).map { number in
            try #require(
                ItemReference(
                    itemClass: .attributed, identifier: [UInt8](repeating: number, count: 16)))
        }
        store.add([.factor(.passcode)], for: relayed(), about: Array(items[..<2]))
        store.add([.factor(.passcode)], for: relayed(), about: Array(items[..<1]))
        store.add([.factor(.passcode)], for: relayed(), about: Array(items[2...]))
        let ended = store.forget(about: [items[0]], of: relayed().caller)
        #expect(ended.count == 2 && Set(ended) == Set(items[..<2]))
        #expect(store.forget(about: items, of: relayed().caller) == [items[2]])
    }

    @Test func `it serves for a minute`() throws {
        let item = try #require(Self.item)
        for (seconds, serves) in [(59, true), (61, false)] {
            let store = EvidenceStore(keyring: nil)
            var proof = Proof(
                method: .factor(.passcode), given: .now - .seconds(seconds),
                context: context.identifier, places: relayed().places)
            proof.relayed = Proof.Relayed(
                program: "exe:/usr/bin/git", strength: ProgramStrength.rootsFile.rawValue,
                items: [item.bytes])
            store.keep(proof, 1000)
            #expect(try isFresh(relayed(), store) == serves)
        }
    }

    @Test func `a process that became another program is another`() {
        store.add([.factor(.passcode)], for: TestClient().with(context))
        var other = TestClient(session: nil, tty: nil).with(context)
        other.process = .init(
            id: 42, startTime: 99, executableDevice: 1, executableInode: 3)
        #expect(scopes(other) == [])
        other.process = .init(
            id: 42, startTime: 100, executableDevice: 1, executableInode: 2)
        #expect(scopes(other) == [])
    }

    @Test func `a client that can't be told shares its proofs with no other`() {
        let unknown = TestClient(session: nil, process: nil, tty: nil).with(context)
        store.add([.factor(.passcode)], for: unknown)
        #expect(scopes(unknown) == [])
    }

    @Test func `proofs end with the context, the session, the lock`() {
        let client = TestClient().with(context)
        store.add([.factor(.passcode)], for: client)
        store.forgetContext(of: TestClient(process: 43).with(context))
        #expect(scopes(client) == [.context])
        store.forgetContext(of: client)
        #expect(scopes(client) == [])
        store.add([.factor(.passcode)], for: client)
        store.forget(SessionID(rawValue: 7), of: 1000, isLast: false)
        #expect(scopes(client) == [])
        store.add([.factor(.passcode)], for: client)
        store.forget(1000)
        #expect(scopes(client) == [])
    }

    @Test func `a program in no session keeps no proof beyond its user's last login`() {
        let managed = TestClient(session: nil, tty: nil)
        store.add([.factor(.passcode)], for: managed)
        store.forget(SessionID(rawValue: 7), of: 1001, isLast: true)
        store.forget(SessionID(rawValue: 7), of: 1000, isLast: false)
        #expect(scopes(managed) == [.process])
        store.forget(SessionID(rawValue: 7), of: 1000, isLast: true)
        #expect(scopes(managed) == [])
    }

    @Test func `a user has so many proofs and no more, the newest of them`() {
        for _ in 0..<100 { store.add([.factor(.passcode)], for: TestClient().with(context)) }
        #expect(scopes(TestClient().with(context)).count == 64)
    }

    @Test func `a login is the session's, and proves that it was a login`() {
        store.addLogin(of: 1000, in: SessionID(rawValue: 7))
        let proofs = store.evidence(for: TestClient().with(context)).proofs
        #expect(proofs.map(\.scope) == [.session])
        #expect(proofs.map(\.method) == [.factor(.login)])
        #expect(scopes(TestClient(session: nil)) == [])
    }

    @Test func `a kept yes that names no program and no items is none`() throws {
        func kept(_ factor: PolicyFactor) throws -> Proof? {
            let proof = Proof(
                method: .factor(factor), given: .now, context: nil, places: TestClient().places)
            return Proof(try #require(proof.record))
        }
        #expect(try kept(.confirm) == nil)
        #expect(try kept(.passcode)?.method == .factor(.passcode))
    }

    @Test func `on a terminal a proof serves the program that it was given to`() {
        store.add([.factor(.passcode)], for: TestClient())
        let ssh = Caller.Identity.trustedExecutable("/usr/bin/ssh")
        #expect(scopes(TestClient(process: 43)) == [.tty])
        #expect(scopes(TestClient(process: 43, program: ssh)) == [.session])
        #expect(scopes(TestClient(process: 43, program: .unknown)) == [.session])
    }

    @Test func `where no terminal is, a proof serves the process and its children`() {
        store.add([.factor(.passcode)], for: TestClient(tty: nil))
        #expect(scopes(TestClient(process: 43, tty: nil, parent: 42)) == [.tty])
        #expect(scopes(TestClient(process: 43, tty: nil)) == [.session])
        #expect(scopes(TestClient(process: 43, tty: 3, parent: 42)) == [.session])
        store.forget(1000)
        store.add([.factor(.passcode)], for: TestClient(tty: 3))
        #expect(scopes(TestClient(process: 43, tty: nil, parent: 42)) == [.session])
        #expect(scopes(TestClient(process: 43, tty: 4, parent: 42)) == [.session])
    }

    @Test func `a child knows the process that it descends from, and no other`() throws {
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let place = try #require(ProofOrigin.Process(own, running: own.executable()))
        let child = try ChildProcess(
            executable: "/bin/sleep", arguments: ["60"], environment: [], passing: [],
            newSession: false)
        defer { child.kill() }
        let pinned = try #require(PinnedProcess(pid: child.id, pidfd: nil))
        #expect(place.isAncestor(of: pinned, OwnLooks()))
        #expect(!place.isAncestor(of: own, OwnLooks()))
        var other = ProofOrigin.Process(
            id: place.id, startTime: place.startTime + 1,
            executableDevice: place.executableDevice, executableInode: place.executableInode)
        #expect(!other.isAncestor(of: pinned, OwnLooks()))
        other = ProofOrigin.Process(
            id: place.id, startTime: place.startTime, executableDevice: place.executableDevice,
            executableInode: place.executableInode + 1)
        #expect(!other.isAncestor(of: pinned, OwnLooks()))
    }

    @Test func `a terminal is called what people call it`() {
        func name(_ device: UInt32) -> String? {
            ProofOrigin.Terminal(device: device, leader: 1, leaderStart: 1).name
        }
        #expect(name(0x8800) == "pts/0")
        #expect(name(0x10_882C) == "pts/300")
        #expect(name(0x0402) == "tty2")
        #expect(name(0x0440) == nil)
    }

    @Test(arguments: [(1, 0), (60, 0), (1_000_000, 0), (-1, 1), (-43_190, 1), (-43_201, 0)])
    func `evidence from the future, or from long ago, is none`(_ seconds: Int, _ count: Int) {
        let client = TestClient()
        let given = ContinuousClock.now + .seconds(seconds)
        store.keep(
            Proof(
                method: .factor(.passcode), given: given, context: nil, places: client.places),
            1000)
        #expect(store.evidence(for: client).proofs.count == count)
    }

    private static func item(_ number: UInt8) -> ItemReference {
        ItemReference(
            itemClass: .genericPassword, identifier: [UInt8](repeating: number, count: 16))!
    }

    @Test func `a yes serves the program and the items that the question named`() {
        let git = Caller.Identity.trustedExecutable("/usr/bin/git")
        let client = TestClient(program: git)
        store.add([.factor(.confirm)], for: client, about: [Self.item(1), Self.item(2)])
        let evidence = store.evidence(for: client)
        #expect(evidence.proofs.isEmpty)
        #expect(evidence.about(Self.item(1)).proofs.map(\.method) == [.factor(.confirm)])
        #expect(evidence.about(Self.item(2)).proofs.map(\.scope) == [.process])
        #expect(evidence.about(Self.item(3)).proofs.isEmpty)
        let again = store.evidence(for: TestClient(process: 43, tty: nil, program: git))
        #expect(again.about(Self.item(1)).proofs.map(\.scope) == [.session])
        let other = TestClient(program: .executable("/home/a/git"))
        #expect(store.evidence(for: other).about(Self.item(1)).proofs.isEmpty)
    }

    @Test func `a yes to an unknown program, or about nothing, is not kept`() {
        let unknown = TestClient(program: .unknown)
        store.add([.factor(.confirm)], for: unknown, about: [Self.item(1)])
        #expect(store.evidence(for: unknown).isEmpty)
        let git = TestClient(program: .trustedExecutable("/usr/bin/git"))
        store.add([.factor(.confirm)], for: git)
        store.add([.factor(.confirm)], for: git, about: (0..<65).map(Self.item))
        #expect(store.evidence(for: git).isEmpty)
    }
}
