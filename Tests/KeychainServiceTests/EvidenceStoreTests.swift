// SPDX-License-Identifier: Apache-2.0
import AccessControl
import KeychainMessages
import KeychainModel
import Testing

@testable import KeychainService

/// Somebody who asks, from wherever the test says.
private struct TestAsker: Asker {
    var caller: Caller
    var context: AuthenticationContext?
    var places = EvidencePlaces()
    let offersTerminal = false
    let notes = RequestNotes()
    let policyFacts = PolicyFacts()

    func reach(_ policy: CompiledPolicy, for operation: PolicyOperation) -> PolicyReach {
        PolicyReach()
    }

    init(user: UInt32 = 1000, session: Int32? = 7, process: Int32? = 42, tty: UInt32? = 3) {
        caller = Caller(
            user: user, process: process ?? 0, identity: .unknown, session: nil, terminal: tty,
            accessGroups: [])
        places.session = session
        places.process = process.map {
            .init(id: $0, startTime: 99, executableDevice: 1, executableInode: 2)
        }
        places.terminal = tty.map { .init(device: $0, leader: 5, leaderStart: 6) }
    }

    func with(_ context: AuthenticationContext) -> TestAsker {
        var asker = self
        asker.context = context
        return asker
    }

    func isUnchanged() -> Bool { true }
    func hasGone() -> Bool { false }
    func startPrompter(challenge: [UInt8]) -> Bool { false }
}

@Suite struct EvidenceStoreTests {
    private let store = EvidenceStore(keyring: nil)
    private let context = AuthenticationContext()

    private func scopes(_ asker: TestAsker) -> [Freshness] {
        store.evidence(for: asker).proofs.map(\.scope)
    }

    @Test func `a proof given in a context serves the context, and is as good as new`() {
        let asker = TestAsker().with(context)
        store.add([.factor(.passcode)], for: asker)
        let proofs = store.evidence(for: asker).proofs
        #expect(proofs == [PolicyProof(.factor(.passcode), age: .zero, scope: .context)])
    }

    @Test func `another context of the process shares no more than the process`() {
        store.add([.factor(.passcode)], for: TestAsker().with(context))
        #expect(scopes(TestAsker().with(AuthenticationContext())) == [.process])
        #expect(scopes(TestAsker()) == [.process])
    }

    @Test func `another process gets nothing of a context by knowing its name`() {
        store.add([.factor(.passcode)], for: TestAsker().with(context))
        #expect(scopes(TestAsker(process: 43).with(context)) == [.tty])
        #expect(scopes(TestAsker(process: 43, tty: 4).with(context)) == [.session])
        #expect(scopes(TestAsker(session: 8, process: 43, tty: 4).with(context)) == [])
        #expect(scopes(TestAsker(user: 1001).with(context)) == [])
    }

    @Test func `a process that became another program is another`() {
        store.add([.factor(.passcode)], for: TestAsker().with(context))
        var other = TestAsker(session: nil, tty: nil).with(context)
        other.places.process = .init(
            id: 42, startTime: 99, executableDevice: 1, executableInode: 3)
        #expect(scopes(other) == [])
        other.places.process = .init(
            id: 42, startTime: 100, executableDevice: 1, executableInode: 2)
        #expect(scopes(other) == [])
    }

    @Test func `what can't be told is shared with nobody`() {
        let unknown = TestAsker(session: nil, process: nil, tty: nil).with(context)
        store.add([.factor(.passcode)], for: unknown)
        #expect(scopes(unknown) == [])
    }

    @Test func `proofs end with the context, the session, the lock`() {
        let asker = TestAsker().with(context)
        store.add([.factor(.passcode)], for: asker)
        store.forgetContext(of: TestAsker(process: 43).with(context))
        #expect(scopes(asker) == [.context])
        store.forgetContext(of: asker)
        #expect(scopes(asker) == [])
        store.add([.factor(.passcode)], for: asker)
        store.forget(SessionID(rawValue: 7), of: 1000)
        #expect(scopes(asker) == [])
        store.add([.factor(.passcode)], for: asker)
        store.forget(1000)
        #expect(scopes(asker) == [])
    }

    @Test func `a user has so many proofs and no more, the newest of them`() {
        for _ in 0..<100 { store.add([.factor(.passcode)], for: TestAsker().with(context)) }
        #expect(scopes(TestAsker().with(context)).count == 64)
    }

    @Test func `what PAM proved at login is the session's`() {
        store.add(.factor(.passcode), of: 1000, in: SessionID(rawValue: 7))
        #expect(scopes(TestAsker().with(context)) == [.session])
        #expect(scopes(TestAsker(session: nil)) == [])
    }
}
