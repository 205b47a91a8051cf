// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// A change of password in its two halves, and the keychain of a first login.
@Suite struct PasswordChangeTests {
    private let old = TestKeychain.password

    private func change(_ keychain: TestKeychain, _ old: String, _ new: String) throws {
        try keychain.file.changePassword(
            old: secret(old), new: secret(new), deviceSecret: keychain.deviceSecret,
            cost: TestKeychain.cost)
    }

    private enum Ended: Equatable { case opened(LoginEffect, hasPasscodeKey: Bool), differs }

    private func login(_ keychain: TestKeychain, _ password: String) throws -> Ended {
        let outcome = try keychain.file.login(
            password: secret(password), deviceSecret: keychain.deviceSecret,
            deviceKey: keychain.deviceKey)
        switch consume outcome {
        case .opened(let keys, let effect):
            let hasPasscodeKey = keys.whileUnlocked.key(2) != nil
            return .opened(effect, hasPasscodeKey: hasPasscodeKey)
        case .differs: return .differs
        }
    }

    /// The passcode key that the password opens; nil when it opens nothing at all.
    private func passcodeKey(_ keychain: TestKeychain, _ password: String) throws -> [UInt8]? {
        do throws(KeychainStoreError) {
            let keys = try keychain.file.unlock(
                password: secret(password), deviceSecret: keychain.deviceSecret)
            return keys.whileUnlocked.key(2)?.releasedFromLockedMemory() ?? []
        } catch {
            guard error == .wrongPassword else { throw error }
            return nil
        }
    }

    private func states(_ keychain: TestKeychain) throws -> [ProtectorRecord.State] {
        try keychain.file.protectors().map(\.state).sorted { $0.rawValue < $1.rawValue }
    }

    private let confirmed = Ended.opened(.confirmed, hasPasscodeKey: true)
    private let unchanged = Ended.opened(.nothing, hasPasscodeKey: true)
    private let adopted = Ended.opened(.wrappedAnew, hasPasscodeKey: true)

    @Test func `after a change either password opens the same keys`() throws {
        let keychain = try TestKeychain()
        let before = try passcodeKey(keychain, old)
        try change(keychain, old, "new")
        #expect(before?.count == SealingKey.byteCount)
        #expect(try passcodeKey(keychain, old) == before)
        #expect(try passcodeKey(keychain, "new") == before)
        #expect(try passcodeKey(keychain, "other") == nil)
        #expect(try states(keychain) == [.current, .pending])
    }

    @Test func `a login with the new password leaves that one alone`() throws {
        let keychain = try TestKeychain()
        let before = try passcodeKey(keychain, old)
        try change(keychain, old, "new")
        #expect(try login(keychain, "new") == confirmed)
        #expect(try states(keychain) == [.current])
        #expect(try passcodeKey(keychain, old) == nil)
        #expect(try passcodeKey(keychain, "new") == before)
        #expect(try login(keychain, "new") == unchanged)
    }

    @Test func `what the old password sealed is gone from file and log with it`() throws {
        let keychain = try TestKeychain()
        let first = try #require(keychain.file.protectors().first)
        try change(keychain, old, "new")
        #expect(try login(keychain, "new") == confirmed)
        for ending in ["", "-wal"] {
            let bytes = try rawBytes(keychain.path + ending)
            #expect(!bytes.contains(first.wrappedMaster))
            #expect(!bytes.contains(first.wrappedPasscode))
        }
    }

    @Test func `a login with the old password proves nothing against the new one`() throws {
        let keychain = try TestKeychain()
        try change(keychain, old, "new")
        #expect(try login(keychain, old) == unchanged)
        #expect(try passcodeKey(keychain, "new") != nil)
        #expect(try login(keychain, "new") == confirmed)
    }

    @Test func `unlocking by hand confirms no change`() throws {
        let keychain = try TestKeychain()
        try change(keychain, old, "new")
        #expect(try passcodeKey(keychain, "new") != nil)
        #expect(try states(keychain) == [.current, .pending])
        #expect(try passcodeKey(keychain, old) != nil)
    }

    @Test func `a change that never was confirmed is over with the next`() throws {
        let keychain = try TestKeychain()
        try change(keychain, old, "lost")
        try change(keychain, old, "new")
        #expect(try passcodeKey(keychain, "lost") == nil)
        #expect(try passcodeKey(keychain, old) != nil)
        #expect(try passcodeKey(keychain, "new") != nil)
        #expect(try states(keychain) == [.current, .pending])
    }

    @Test func `a second change before any login goes from the first one's password`() throws {
        let keychain = try TestKeychain()
        let before = try passcodeKey(keychain, old)
        try change(keychain, old, "second")
        try change(keychain, "second", "third")
        #expect(try passcodeKey(keychain, old) == nil)
        #expect(try passcodeKey(keychain, "second") == before)
        #expect(try passcodeKey(keychain, "third") == before)
        #expect(try login(keychain, "third") == confirmed)
        #expect(try passcodeKey(keychain, "second") == nil)
    }

    @Test func `a change takes the old password`() throws {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.wrongPassword) {
            try change(keychain, "guess", "mine")
        }
        #expect(try states(keychain) == [.current])
        let open = try TestKeychain(password: nil)
        #expect(throws: KeychainStoreError.notProtected) { try change(open, "any", "mine") }
    }

    @Test func `setting a password by hand ends a change that waits`() throws {
        let keychain = try TestKeychain()
        try change(keychain, old, "new")
        try keychain.file.setPassword(
            old: secret("new"), new: secret("own"), deviceKey: keychain.deviceKey,
            deviceSecret: keychain.deviceSecret, cost: TestKeychain.cost)
        #expect(try states(keychain) == [.current])
        #expect(try passcodeKey(keychain, "own") != nil)
        #expect(try passcodeKey(keychain, old) == nil && passcodeKey(keychain, "new") == nil)
    }

    // MARK: Out of step

    @Test func `a login that does not open it goes on with its password once the old one came`()
        throws
    {
        let keychain = try TestKeychain()
        let before = try passcodeKey(keychain, old)
        let outcome = try keychain.file.login(
            password: secret("root chose"), deviceSecret: keychain.deviceSecret,
            deviceKey: keychain.deviceKey)
        guard case .differs(let keys) = consume outcome else {
            Issue.record("it opened")
            return
        }
        #expect(try passcodeKey(keychain, "root chose") == nil)
        let kept = try PasswordKeys(copy: keys.copy())
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try keychain.file.unlock(
                password: secret("guess"), goingOnWith: kept,
                deviceSecret: keychain.deviceSecret)
        }
        #expect(try states(keychain) == [.current])
        _ = try keychain.file.unlock(
            password: secret(old), goingOnWith: kept, deviceSecret: keychain.deviceSecret)
        #expect(try passcodeKey(keychain, "root chose") == before)
        #expect(try passcodeKey(keychain, old) == before)
        #expect(try states(keychain) == [.current, .adopted])
        #expect(try login(keychain, "root chose") == confirmed)
        #expect(try states(keychain) == [.current])
        #expect(try passcodeKey(keychain, old) == nil)
    }

    @Test func `a password that was let in ends with a login that uses the keychain's own`() throws
    {
        let keychain = try TestKeychain()
        let outcome = try keychain.file.login(
            password: secret("mistyped"), deviceSecret: keychain.deviceSecret,
            deviceKey: keychain.deviceKey)
        guard case .differs(let keys) = consume outcome else {
            Issue.record("it opened")
            return
        }
        _ = try keychain.file.unlock(
            password: secret(old), goingOnWith: keys, deviceSecret: keychain.deviceSecret)
        #expect(try login(keychain, old) == confirmed)
        #expect(try passcodeKey(keychain, "mistyped") == nil)
        #expect(try states(keychain) == [.current])
    }

    @Test func `keys of a password that are kept for a while are refused at another length`() {
        for count in [0, 24, 88, 90] {
            #expect(throws: KeychainStoreError.damaged) {
                _ = try PasswordKeys(copy: SecretBytes(random: count))
            }
        }
    }

    // MARK: Provisional

    @Test func `a second login with the same password ends the device's part`() throws {
        let keychain = try TestKeychain(provisional: true)
        #expect(try keychain.file.isProvisional())
        #expect(try states(keychain) == [.current, .provisional])
        #expect(try login(keychain, old) == confirmed)
        #expect(try !keychain.file.isProvisional())
        #expect(try states(keychain) == [.current])
        #expect(try login(keychain, "other") == .differs)
    }

    @Test func `a second login with another password opens it and takes it over`() throws {
        let keychain = try TestKeychain(provisional: true)
        let before = try passcodeKey(keychain, old)
        #expect(try login(keychain, "without the code") == adopted)
        #expect(try passcodeKey(keychain, "without the code") == before)
        #expect(try passcodeKey(keychain, old) == nil)
        // Neither password was given twice yet.
        #expect(try keychain.file.isProvisional())
        #expect(try login(keychain, "without the code") == confirmed)
        #expect(try states(keychain) == [.current])
    }

    @Test func `a provisional keychain opens by the device for a login only`() throws {
        let keychain = try TestKeychain(provisional: true)
        #expect(throws: KeychainStoreError.notProtected) {
            _ = try keychain.file.unlock(deviceKey: keychain.deviceKey)
        }
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try keychain.file.setPassword(
                old: nil, new: secret("mine"), deviceKey: keychain.deviceKey,
                deviceSecret: keychain.deviceSecret, cost: TestKeychain.cost)
        }
        #expect(try passcodeKey(keychain, "guess") == nil)
        #expect(try keychain.file.isProvisional())
    }

    @Test func `without its device key a provisional keychain is one with a password`() throws {
        let keychain = try TestKeychain(provisional: true)
        let outcome = try keychain.file.login(
            password: secret("other"), deviceSecret: keychain.deviceSecret,
            deviceKey: SealingKey.random())
        let differs: Bool
        switch consume outcome {
        case .opened: differs = false
        case .differs: differs = true
        }
        #expect(differs)
        #expect(try passcodeKey(keychain, old) != nil)
    }

    @Test func `a change of a provisional keychain is proven by the login after it`() throws {
        let keychain = try TestKeychain(provisional: true)
        try change(keychain, old, "new")
        #expect(try states(keychain) == [.current, .pending, .provisional])
        #expect(try login(keychain, "new") == confirmed)
        #expect(try states(keychain) == [.current])
    }

    @Test func `setting a password by hand ends the device's part as well`() throws {
        let keychain = try TestKeychain(provisional: true)
        try keychain.file.setPassword(
            old: secret(old), new: secret("own"), deviceKey: keychain.deviceKey,
            deviceSecret: keychain.deviceSecret, cost: TestKeychain.cost)
        #expect(try states(keychain) == [.current])
    }
}
