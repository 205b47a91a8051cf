// SPDX-License-Identifier: Apache-2.0
import CallerIdentity
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainModel
@testable import PromptedAuthentication
import SystemTestSupport
import Testing

/// The prompters that there are, and who may be one.
@Suite struct PrompterRegistryTests {
    private static let place = PrompterPlace.terminal(user: 1, device: 34_816, session: 42)
    private static let other = PrompterPlace.terminal(user: 1, device: 34_816, session: 43)
    private let registry = PrompterRegistry()

    private func prompter(at place: PrompterPlace? = place) throws -> (Prompter, ConnectionPair) {
        let pair = try ConnectionPair()
        return (Prompter(pair.server, at: place) { _ in .noOtherReader }, pair)
    }

    // MARK: One for each place

    @Test func `a place has one prompter, for as long as that lives`() throws {
        let (first, pair) = try prompter()
        let (second, _) = try prompter()
        try registry.register(first)
        #expect(throws: RequestError.state(.duplicate)) { try registry.register(second) }
        let (elsewhere, _) = try prompter(at: Self.other)
        try registry.register(elsewhere)
        pair.client.shutDown()
        try registry.register(second)
    }

    @Test func `a prompter without a place is none`() throws {
        let (nowhere, _) = try prompter(at: nil)
        #expect(throws: RequestError.state(.noSession)) { try registry.register(nowhere) }
    }

    @Test func `a prompter that ends takes no other's place away`() throws {
        let (first, pair) = try prompter()
        let (second, other) = try prompter()
        defer { withExtendedLifetime(other) {} }
        try registry.register(first)
        pair.client.shutDown()
        try registry.register(second)
        registry.unregister(first)
        let (third, _) = try prompter()
        #expect(throws: RequestError.state(.duplicate)) { try registry.register(third) }
        registry.unregister(second)
        try registry.register(third)
    }

    @Test func `a user is asked by no other user's prompter`() throws {
        let (own, _) = try prompter()
        try registry.register(own)
        let caller = Caller(
            user: own.user &+ 1, process: 1, identity: .unknown, session: nil, terminal: 34_816,
            terminalSession: 42, accessGroups: [])
        #expect(registry.prompter(for: caller) == nil)
    }

    @Test func `a prompter that was hung up is waited for until it registers again`() throws {
        let (first, pair) = try prompter()
        let (second, other) = try prompter()
        defer { withExtendedLifetime((pair, other)) {} }
        try registry.register(first)
        #expect(!registry.waitForReturn(to: [Self.place]))
        first.hangUp()
        #expect(registry.waitForReturn(to: [Self.place]))
        registry.unregister(first)
        #expect(registry.waitForReturn(to: [Self.other, Self.place]))
        #expect(!registry.waitForReturn(to: [Self.other]))
        try registry.register(second)
        #expect(!registry.waitForReturn(to: [Self.place]))
    }

    @Test func `a prompter that has left is not waited for, nor one that does not come back`()
        throws
    {
        let (leaving, pair) = try prompter()
        try registry.register(leaving)
        pair.client.shutDown()
        leaving.hangUp()
        #expect(!registry.waitForReturn(to: [Self.place]))
        registry.unregister(leaving)
        #expect(!registry.waitForReturn(to: [Self.place]))
        let (lost, other) = try prompter()
        try registry.register(lost)
        lost.hangUp()
        registry.unregister(lost)
        let deadline = ContinuousClock.now + PrompterRegistry.returnsWithin + .seconds(30)
        while registry.waitForReturn(to: [Self.place]), .now < deadline {}
        #expect(ContinuousClock.now < deadline)
        withExtendedLifetime(other) {}
    }

    // MARK: One for each question

    @Test func `a prompter attaches under the name that was given out, once and there`() throws {
        let challenge = try registry.expect(at: Self.place, for: 1000)
        #expect(challenge.count == PrompterRegistry.challengeBytes)
        let (elsewhere, _) = try prompter(at: Self.other)
        let (first, _) = try prompter()
        let (second, _) = try prompter()
        #expect(throws: RequestError.state(.notFound)) {
            try registry.attach(elsewhere, challenge: challenge)
        }
        #expect(throws: RequestError.state(.notFound)) {
            try registry.attach(first, challenge: challenge.reversed())
        }
        try registry.attach(first, challenge: challenge)
        #expect(throws: RequestError.state(.notFound)) {
            try registry.attach(second, challenge: challenge)
        }
        let arrived = registry.arrival(of: challenge, within: .seconds(30), unless: { false })
        #expect(arrived === first)
        #expect(throws: RequestError.state(.notFound)) {
            try registry.attach(second, challenge: challenge)
        }
    }

    @Test func `a prompter that comes later is waited for`() throws {
        let challenge = try registry.expect(at: Self.place, for: 1000)
        let registry = registry
        let prompter = try prompter().0
        let attaching = Background { try registry.attach(prompter, challenge: challenge) }
        #expect(
            registry.arrival(of: challenge, within: .seconds(30), unless: { false }) === prompter)
        try attaching.value()
    }

    @Test func `no prompter is waited for in vain, nor for a program that has gone`() throws {
        for (time, isGone) in [(Duration.seconds(30), true), (.milliseconds(10), false)] {
            let challenge = try registry.expect(at: Self.place, for: 1000)
            #expect(registry.arrival(of: challenge, within: time, unless: { isGone }) == nil)
            #expect(throws: RequestError.state(.notFound)) {
                try registry.attach(try prompter().0, challenge: challenge)
            }
        }
    }

    @Test func `prompters that one user promises leave room for another user's`() throws {
        let names = Set(try (0..<16).map { _ in try registry.expect(at: Self.place, for: 1000) })
        #expect(names.count == 16)
        #expect(throws: RequestError.refused(.tooManyRequests)) {
            _ = try registry.expect(at: Self.place, for: 1000)
        }
        for user: UInt32 in 1001...1031 {
            for _ in 0..<16 { _ = try registry.expect(at: Self.place, for: user) }
        }
        #expect(throws: RequestError.refused(.tooManyRequests)) {
            _ = try registry.expect(at: Self.place, for: 1032)
        }
        _ = registry.arrival(of: names.first ?? [], within: .zero, unless: { false })
        _ = try registry.expect(at: Self.place, for: 1000)
    }
}
