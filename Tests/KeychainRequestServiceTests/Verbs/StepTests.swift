// SPDX-License-Identifier: Apache-2.0
import KeychainVaults
import KeychainUserPresence
import KeychainItemStore
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Synchronization
import Testing

@testable import KeychainManagement
@testable import KeychainRequestService

/// The steps of the pass of authorisation, each by itself.
@Suite struct StepTests {
    /// Opens a locked keychain for any text.
    private final class AnyText: UnlockStep {
        let vault = Mutex<(@Sendable () -> Void)?>(nil)
        func applies(to keychain: OpenKeychain) -> Bool { true }
        func question(
            for keychain: OpenKeychain, _ client: any Client
        ) throws(RequestError) -> UnlockQuestion {
            UnlockQuestion(
                prompt: "Any: ",
                question: Question(.openKeychain, names: [], itemCount: 0, reason: nil))
        }
        func opens(
            _ keychain: OpenKeychain, _ typed: HeldSecret, for client: any Client,
            since begun: LockGeneration
        ) throws(RequestError) -> Bool {
            vault.withLock { $0 }?()
            return true
        }
    }

    @Test func `work that finds a keychain locked is done once more after it was opened`() throws {
        let step = AnyText()
        let world = try ServiceInMemory(unlocking: step)
        try world.add("mail")
        let (vault, keychain) = (world.vault, try world.keychain)
        try vault.lock(keychain)
        world.person.types(ServiceInMemory.secret("any"))
        // It stays locked: the verb says so, and does not ask again.
        #expect(throws: RequestError.state(.locked)) { try world.read("mail") }
        #expect(world.person.questions.count == 1)
        step.vault.withLock { $0 = { vault.open(.login) } }
        #expect(try world.read("mail") == "secret of mail")
        #expect(world.person.questions.count == 2)
    }

    @Test func `an older password opens, and a wrong one does not and counts as a guess`() throws {
        let world = try ServiceInMemory()
        let keychain = try world.keychain
        let resync = world.service.management.resync
        #expect(!resync.applies(to: keychain))
        try world.vault.lock(keychain)
        let begun = world.vault.locks.now(keychain.id)
        let wrong = ServiceInMemory.secret("wrong")
        #expect(try !resync.opens(keychain, wrong, for: Program.git, since: begun))
        #expect(world.vault.lockState(of: keychain) != .unlocked)
        let right = ServiceInMemory.secret(ServiceInMemory.password)
        #expect(try resync.opens(keychain, right, for: Program.git, since: begun))
        #expect(world.vault.lockState(of: keychain) == .unlocked)
        // A lock since the question was put counts.
        try world.vault.lock(keychain)
        #expect(throws: RequestError.state(.locked)) {
            try resync.opens(keychain, right, for: Program.git, since: begun)
        }
    }

    @Test func `the user is asked about an item that has a list, and about no other`() throws {
        let world = try ServiceInMemory()
        try world.add("listed") { $0.trusted = [] }
        try world.add("plain")
        let mail = Program("/usr/bin/mail", process: 30)
        for (name, isAsked) in [("listed", true), ("plain", false), ("none", false)] {
            let query = ServiceInMemory.query(name)
            let access = Authorization(
                .read(query), in: try world.keychain,
                UserPrompts(mail, world.service.authentication), by: world.service)
            let search = try SearchPass(query, atMost: query.limit, access)
            let candidate = world.service.consent.candidate(search, access)
            #expect((candidate != nil) == isAsked, "\(name)")
            let choices = candidate?.options.choices ?? []
            #expect(choices == (isAsked ? [.deny, .once, .session, .always] : []))
        }
    }
}
