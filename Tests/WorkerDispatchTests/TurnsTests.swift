// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Synchronization
import Testing
import WorkerHandoff

@testable import WorkerDispatch

@Suite struct TurnsTests {
    private let turns = Turns()
    private let granted = Granted()

    private final class Granted: Sendable {
        private let users = Mutex<[UInt32]>([])
        var value: [UInt32] { users.withLock { $0 } }
        func add(_ user: UInt32) { users.withLock { $0.append(user) } }
    }

    private func ask(_ user: UInt32) {
        turns.ask(.derivation, for: user) { [granted] in granted.add(user) }
    }

    @Test func `two users have a turn at once, and the others in the order in which they asked`() {
        for user: UInt32 in [1, 2, 3, 4] { ask(user) }
        #expect(granted.value == [1, 2])
        turns.end(.derivation, of: 2)
        #expect(granted.value == [1, 2, 3])
        turns.end(.derivation, of: 1)
        #expect(granted.value == [1, 2, 3, 4])
    }

    @Test func `a user has one turn at a time, however many are asked for`() {
        for user: UInt32 in [1, 1, 1, 2] { ask(user) }
        #expect(granted.value == [1, 2])
        turns.end(.derivation, of: 1)
        #expect(granted.value == [1, 2, 1])
    }

    @Test func `the turns of a worker that ended are others'`() {
        for user: UInt32 in [1, 2, 1, 3] { ask(user) }
        turns.endAll(of: 1)
        #expect(granted.value == [1, 2, 3])
        turns.end(.derivation, of: 2)
        #expect(granted.value == [1, 2, 3])
    }

    @Test func `a turn that lasts too long is over where another user waits`() async throws {
        let turns = Turns(longest: [.derivation: .seconds(1)])
        for user: UInt32 in [1, 2, 3] {
            turns.ask(.derivation, for: user) { [granted] in granted.add(user) }
        }
        #expect(granted.value == [1, 2])
        while granted.value.count < 3 { try await Task.sleep(for: .milliseconds(5)) }
        #expect(granted.value == [1, 2, 3])
    }

    @Test func `a worker that asks for very many turns waits for four`() {
        for _ in 0..<100 { ask(1) }
        for _ in 0..<100 { turns.end(.derivation, of: 1) }
        #expect(granted.value == [1, 1, 1, 1, 1])
    }

    @Test func `each kind of work has turns of its own`() {
        turns.ask(.tpm, for: 1) { [granted] in granted.add(100) }
        turns.ask(.tpm, for: 2) { [granted] in granted.add(200) }
        ask(1)
        #expect(granted.value == [100, 1])
        turns.end(.tpm, of: 1)
        #expect(granted.value == [100, 1, 200])
    }
}

@Suite struct AcknowledgementsTests {
    private let acknowledgements = Acknowledgements()

    @Test func `all are waited for, and none that has ended`() {
        #expect(
            acknowledgements.wait(for: [1, 2, 3], within: .seconds(20)) { id in
                acknowledgements.done(id, by: 2)
                acknowledgements.ended(3)
                acknowledgements.done(id, by: 1)
            })
    }

    @Test func `none is waited for longer than the time`() {
        #expect(
            !acknowledgements.wait(for: [1, 2], within: .milliseconds(20)) { id in
                acknowledgements.done(id, by: 1)
                acknowledgements.done(id + 1, by: 2)
                acknowledgements.done(id, by: 3)
            })
        #expect(acknowledgements.wait(for: [], within: .seconds(20)) { _ in })
    }
}
