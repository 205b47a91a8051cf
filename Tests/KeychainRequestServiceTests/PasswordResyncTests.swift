// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
@testable import KeychainManagement
@testable import KeychainRequestService
import KeychainSecrets
@testable import KeychainUserPresence
@testable import KeychainVaults
import Testing

/// A keychain whose password is an older one than its user's login.
@Suite struct PasswordResyncTests {
    private let world: ServiceInMemory
    private var resync: PasswordResync { world.service.management.resync }

    init() throws { world = try ServiceInMemory() }

    @Test func `the user reads which keychain it is, and what to type`() throws {
        let question = try resync.question(for: try world.keychain, Program.git)
        #expect(question.prompt == "Older password: ")
        #expect(question.question.keychain == "login")
        #expect(question.question.remarks.joined().contains("recovery key"))
    }

    @Test func `a policy's limit on questions ends them`() throws {
        try world.use(
            rules:
                "  - id: few\n    limit: {rate: 1/1h, by: [user], then: deny}\n    operations: unlock\n"
                + "    when: {prompted: true}\n")
        let keychain = try world.keychain
        _ = try resync.question(for: keychain, Program.git)
        #expect(throws: RequestError.state(.locked)) {
            try resync.question(for: keychain, Program.git)
        }
    }

    @Test func `the recovery key opens it as the password does`() throws {
        let text = HeldSecret(RecoveryKey.random().text())
        try world.ask(
            AddProtector(
                keychain: nil, .recoveryKey(text),
                opening: .password(HeldSecret(ServiceInMemory.password))))
        let keychain = try world.keychain
        try world.vault.lock(keychain)
        let begun = world.vault.locks.now(keychain.id)
        #expect(try resync.opens(keychain, text, for: Program.git, since: begun))
        #expect(world.vault.lockState(of: keychain) == .unlocked)
    }

    @Test func `what can be no password is wrong, and costs no guess`() throws {
        let keychain = try world.keychain
        let begun = world.vault.locks.now(keychain.id)
        let long = String(repeating: "x", count: RequestLimits.longestPassword + 1)
        for text in ["", long, "", long] {
            #expect(try !resync.opens(keychain, HeldSecret(text), for: Program.git, since: begun))
        }
        let right = HeldSecret(ServiceInMemory.password)
        #expect(try resync.opens(keychain, right, for: Program.git, since: begun))
    }

    @Test func `after three wrong passwords the right one has to wait`() throws {
        let keychain = try world.keychain
        let begun = world.vault.locks.now(keychain.id)
        for _ in 0..<3 {
            #expect(
                try !resync.opens(keychain, HeldSecret("wrong"), for: Program.git, since: begun))
        }
        let right = HeldSecret(ServiceInMemory.password)
        #expect(throws: RequestError.refused(.tooManyRequests)) {
            try resync.opens(keychain, right, for: Program.git, since: begun)
        }
    }

    @Test func `a try that shows nothing forgives no wrong one`() throws {
        let throttle = UnlockThrottle()
        let keychain = KeychainID(user: 1, name: .login)
        for _ in 0..<3 {
            try? throttle.attempt(keychain) { () throws(RequestError) in
                throw .refused(.wrongPassword)
            }
            try? throttle.attempt(keychain, shows: .undecided) { () throws(RequestError) in }
        }
        #expect(throws: RequestError.refused(.tooManyRequests)) {
            try throttle.attempt(keychain) { () throws(RequestError) in }
        }
    }
}
