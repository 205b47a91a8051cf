// SPDX-License-Identifier: Apache-2.0
import KeychainVaults
import KeychainItemStore
import KeychainMessages
import KeychainModel
import Testing

@testable import KeychainRequestService

/// Verbs on keychains as a whole that ask nothing.
@Suite struct WholeKeychainTests {
    private let world: ServiceInMemory

    init() throws { world = try ServiceInMemory() }

    private static let verbs: [any Verb] = [
        CreateKeychain(name: "work", password: ServiceInMemory.secret("work")),
        Unlock(
            keychain: nil, password: ServiceInMemory.secret(ServiceInMemory.password)),
        SetPassword(
            keychain: nil, old: ServiceInMemory.secret(ServiceInMemory.password),
            new: ServiceInMemory.secret("new")),
        Preferences(.searchList(["login", "work"])),
        Policies(.reload),
    ]

    @Test(arguments: WholeKeychainTests.verbs.indices)
    func `a client that became another program changes nothing`(_ number: Int) throws {
        let program = Program("/usr/bin/git", process: 10)
        program.isSame.end()
        let before = try world.state()
        #expect(throws: RequestError.refused(.notEntitled)) {
            _ = try world.ask(Self.verbs[number], program)
        }
        #expect(try world.state() == before)
    }

    @Test func `whether a question would be put is told without one`() throws {
        let matters: [WouldAsk.Matter] = [
            .items([]), .unlocking(keychain: "login"), .creatingKeychain,
            .deleting(keychain: "work"),
        ]
        for matter in matters { #expect(try world.ask(WouldAsk(matter)), "\(matter)") }
        world.person.leaves()
        for matter in matters { #expect(try !world.ask(WouldAsk(matter)), "\(matter)") }
        #expect(world.person.questions.isEmpty)
    }

    @Test func `a strict setting is made unasked, and a loose one is asked for`() throws {
        var change = KeychainSettingsChange()
        change.lockAfter = 60
        try world.ask(ChangeSettings(keychain: nil, change))
        #expect(world.person.questions.isEmpty)
        change.lockAfter = 0
        world.person.leaves()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try world.ask(ChangeSettings(keychain: nil, change))
        }
    }

    @Test func `settings that another program changed meanwhile are not written over`() throws {
        var strict = KeychainSettingsChange()
        strict.lockAfter = 60
        try world.ask(ChangeSettings(keychain: nil, strict))
        var loose = KeychainSettingsChange()
        loose.lockAfter = 0
        var other = KeychainSettingsChange()
        other.lockAfterIdle = 30
        let (service, request) = (world.service, ChangeSettings(keychain: nil, other))
        world.person.meanwhile {
            _ = try? service.answer(request, for: Program.git) { _ in }
        }
        #expect(throws: RequestError.refused(.authenticationFailed)) {
            try world.ask(ChangeSettings(keychain: nil, loose))
        }
        #expect(try world.keychain.file.unverifiedSettings().lockAfter == 60)
    }

    @Test func `a proof that was given serves the context, and none beside it`() throws {
        var program = Program("/usr/bin/git", process: 10)
        program.context = AuthenticationContext()
        for _ in 0..<2 { try world.ask(Authenticate(.userPresence), program) }
        #expect(world.person.questions.count == 1)
        program.context = AuthenticationContext()
        program.context?.mayInteract = false
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try world.ask(Authenticate(.userPresence), program)
        }
    }
}
