// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import KeychainAccessControl
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// The end of the passcode-set class, by its password's and without it.
@Suite struct PasscodeEndTests {
    private func grant(
        _ operation: ProtectorChange.Operation, _ keychain: TestKeychain
    ) throws -> ProtectorGrant {
        let change = ProtectorChange(
            operation, keychain: keychain.file.identifier, isPasscodeSet: true, mayAsk: true,
            provable: [])
        let proven = Evidence().adding(.factor(.presence))
        guard case .allow(let grant) = Judge().judge(change, proven) else {
            throw KeychainStoreError.notGranted
        }
        return grant
    }

    private func addPaper(_ keychain: TestKeychain) throws -> (ProtectorRecord, HeldSecret) {
        let record = try ProtectorRecord.new(.recoveryKey)
        let key = HeldSecret(SecretBytes(random: 32))
        try keychain.file.add(
            record, key: SealingKey(key.bytes.copy()), grant(.add, keychain),
            from: .password(secret(TestKeychain.password), keychain.deviceSecret))
        let added = try keychain.file.protectors().first { $0.identifier == record.identifier }
        return (try #require(added), key)
    }

    private func opensPasscodeClass(_ keychain: TestKeychain) throws -> Bool {
        let unlocked = try keychain.file.unlock(
            password: secret(TestKeychain.password), deviceSecret: keychain.deviceSecret)
        return unlocked.whileUnlocked.key(2) != nil
    }

    @Test func `without its password it opens with the rest, and nothing else of it is left`()
        throws
    {
        let keychain = try TestKeychain()
        let (paper, key) = try addPaper(keychain)
        try keychain.file.removePassword(grant(.remove, keychain), leaving: [paper])
        #expect(try keychain.file.protectors() == [paper])
        #expect(try !keychain.file.isPasswordProtected())
        let unlocked = try keychain.file.unlock(
            with: paper, key: SealingKey(key.bytes.copy()))
        let hasPasscodeKey = unlocked.whileUnlocked.key(2) != nil
        #expect(!hasPasscodeKey)
    }

    @Test func `the last that opens it is not removed, nor anything without a grant for it`()
        throws
    {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.lastProtector) {
            try keychain.file.removePassword(grant(.remove, keychain), leaving: [])
        }
        let (paper, _) = try addPaper(keychain)
        #expect(throws: KeychainStoreError.grantMismatch) {
            try keychain.file.removePassword(grant(.add, keychain), leaving: [paper])
        }
        #expect(throws: KeychainStoreError.grantMismatch) {
            let other = try TestKeychain()
            try keychain.file.removePassword(grant(.remove, other), leaving: [paper])
        }
        #expect(try opensPasscodeClass(keychain))
    }

    private func loginWithoutDeviceSecret(
        _ password: String, to keychain: TestKeychain
    ) throws -> (effect: LoginEffect, hasPasscodeKey: Bool)? {
        let outcome = try keychain.file.loginWithoutDeviceSecret(
            password: secret(password), deviceKey: keychain.deviceKey)
        switch consume outcome {
        case .opened(let keys, let effect):
            let hasPasscodeKey = keys.whileUnlocked.key(2) != nil
            return (effect, hasPasscodeKey)
        case .differs: return nil
        }
    }

    @Test func `while the device secret can't be read a login proves and ends nothing`() throws {
        let keychain = try TestKeychain()
        try keychain.file.changePassword(
            old: secret(TestKeychain.password), new: secret("new"),
            deviceSecret: keychain.deviceSecret, cost: TestKeychain.cost)
        let before = try keychain.file.protectors()
        let opened = try #require(try loginWithoutDeviceSecret("new", to: keychain))
        #expect(opened.effect == .withoutDeviceSecret && !opened.hasPasscodeKey)
        #expect(try loginWithoutDeviceSecret("other", to: keychain) == nil)
        #expect(try keychain.file.protectors() == before)
        #expect(try opensPasscodeClass(keychain))
    }

    @Test func `nor does a provisional keychain take another password then`() throws {
        let keychain = try TestKeychain(provisional: true)
        let before = try keychain.file.protectors()
        // The device's key opens all of it.
        let opened = try #require(try loginWithoutDeviceSecret("other", to: keychain))
        #expect(opened.effect == .withoutDeviceSecret && opened.hasPasscodeKey)
        #expect(try keychain.file.protectors() == before)
    }

    @Test func `a thousand of its items go in steps, and no other item`() throws {
        let keychain = try TestKeychain()
        try keychain.add(generic(accessible: .whenPasscodeSetThisDeviceOnly))
        try keychain.tamper(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500)
            INSERT INTO item
            (identifier, class, accessible, generation, keyIndex, tokens, attributes, secret)
            SELECT randomblob(16), class, accessible, generation, randomblob(32), tokens,
            attributes, secret FROM item, n
            """)
        try keychain.add(generic("mail", "other"))
        try keychain.file.endPasscodeClass()
        #expect(try keychain.rows("SELECT * FROM item").count == 1)
        #expect(try keychain.find(query()).map(\.account) == ["other"])
    }

    @Test func `a password outlives the class, and does not open it again`() throws {
        let keychain = try TestKeychain()
        #expect(try opensPasscodeClass(keychain))
        try keychain.file.endPasscodeClass()
        #expect(try !opensPasscodeClass(keychain))
        try keychain.file.endPasscodeClass()
        #expect(try keychain.file.isPasswordProtected())
    }
}
