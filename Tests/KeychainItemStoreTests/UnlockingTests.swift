// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

@Suite struct UnlockingTests {
    private func hasPasscodeKey(_ keys: borrowing UnlockedKeys) -> Bool {
        keys.whileUnlocked.key(2) != nil
    }

    private func bytes(_ bundle: borrowing KeyBundle) -> [UInt8] {
        bundle.bytes.releasedFromLockedMemory()
    }

    private func setPassword(
        _ keychain: TestKeychain, _ old: String?, _ new: String, _ deviceSecret: HeldSecret? = nil
    ) throws {
        try keychain.file.setPassword(
            old: old.map { secret($0) }, new: secret(new), deviceKey: keychain.deviceKey,
            deviceSecret: deviceSecret ?? keychain.deviceSecret, cost: TestKeychain.cost)
    }

    private func unlock(
        _ keychain: TestKeychain, _ password: String, _ deviceSecret: HeldSecret? = nil
    ) throws -> UnlockedKeys {
        try keychain.file.unlock(
            password: secret(password), deviceSecret: deviceSecret ?? keychain.deviceSecret)
    }

    @Test(arguments: ["", "correct hors", "correct horse ", "CORRECT HORSE"])
    func `another password opens nothing`(_ password: String) throws {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try unlock(keychain, password)
        }
    }

    @Test func `the device key alone does not open a keychain with a password`() throws {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.notProtected) {
            _ = try keychain.file.unlock(deviceKey: keychain.deviceKey)
        }
        #expect(try keychain.file.isPasswordProtected())
        #expect(try keychain.file.protectors().map(\.kind) == [.password])
    }

    @Test func `another device's key opens nothing`() throws {
        let keychain = try TestKeychain(password: nil)
        let other = SealingKey.random()
        #expect(throws: KeychainStoreError.wrongDeviceKey) {
            _ = try keychain.file.unlock(deviceKey: other)
        }
        #expect(throws: KeychainStoreError.wrongDeviceKey) {
            _ = try keychain.file.alwaysKeys(deviceKey: other)
        }
    }

    @Test func `a keychain without a password has no passcode key`() throws {
        let keychain = try TestKeychain(password: nil)
        #expect(try !keychain.file.isPasswordProtected())
        #expect(try keychain.file.protectors().map(\.kind) == [.device])
        #expect(keychain.keys().bytes(.whenPasscodeSetThisDeviceOnly) == nil)
        #expect(keychain.keys().bytes(.whenUnlocked) != nil)
        #expect(throws: KeychainStoreError.notProtected) {
            _ = try unlock(keychain, "any")
        }
    }

    @Test func `a first password makes the passcode class and ends the device's power`() throws {
        let keychain = try TestKeychain(password: nil)
        try keychain.add(generic())
        try setPassword(keychain, nil, "new")
        #expect(try keychain.file.isPasswordProtected())
        #expect(try keychain.file.protectors().map(\.kind) == [.password])
        #expect(throws: KeychainStoreError.notProtected) {
            _ = try keychain.file.unlock(deviceKey: keychain.deviceKey)
        }
        let unlocked = try unlock(keychain, "new")
        let hasPasscodeKey = hasPasscodeKey(unlocked)
        #expect(hasPasscodeKey)
        // The keys stayed: what was added before opens.
        let keys = ClassKeys(
            always: try keychain.file.alwaysKeys(deviceKey: keychain.deviceKey),
            afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
            whileUnlocked: unlocked.whileUnlocked.copy())
        #expect(
            try keychain.file.find(query(), groups: [TestKeychain.group], keys: keys).count == 1)
    }

    @Test func `who has only the device cannot replace a password`() throws {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.wrongPassword) {
            try setPassword(keychain, nil, "mine now")
        }
        #expect(throws: KeychainStoreError.wrongPassword) {
            try setPassword(keychain, "guess", "mine now")
        }
        let hasPasscodeKey = hasPasscodeKey(try unlock(keychain, TestKeychain.password))
        #expect(hasPasscodeKey)
    }

    @Test func `a changed password opens the same keys and the old one none`() throws {
        let keychain = try TestKeychain()
        let before = try unlock(keychain, TestKeychain.password)
        try setPassword(keychain, TestKeychain.password, "new")
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try unlock(keychain, TestKeychain.password)
        }
        let after = try unlock(keychain, "new")
        let keys = [bytes(before.whileUnlocked), bytes(before.afterFirstUnlock)]
        #expect([bytes(after.whileUnlocked), bytes(after.afterFirstUnlock)] == keys)
    }

    @Test func `a changed password has a salt of its own`() throws {
        let keychain = try TestKeychain()
        let before = try #require(keychain.file.keybag().protectors.first)
        try setPassword(keychain, TestKeychain.password, TestKeychain.password)
        let after = try keychain.file.keybag().protectors
        #expect(after.count == 1)
        let salts = (before.parameters, after[0].parameters)
        #expect(salts.0.suffix(16) != salts.1.suffix(16))
        #expect(before.wrappedMaster != after[0].wrappedMaster)
    }

    @Test func `without its device secret the passcode class stays closed and all else opens`()
        throws
    {
        let keychain = try TestKeychain()
        let other = HeldSecret(SecretBytes(random: 32))
        let unlocked = try unlock(keychain, TestKeychain.password, other)
        let without = try keychain.file.unlock(
            password: secret(TestKeychain.password), deviceSecret: nil)
        let hasPasscodeKeys = [hasPasscodeKey(unlocked), hasPasscodeKey(without)]
        #expect(hasPasscodeKeys == [false, false])
        let length = unlocked.whileUnlocked.bytes.count
        #expect(length == KeyBundle.byteCount(.whileUnlocked))
    }

    @Test func `a bundle of another length is refused`() throws {
        for kind in [KeyBundle.Kind.always, .afterFirstUnlock, .whileUnlocked] {
            for count in [0, KeyBundle.byteCount(kind) - 1, KeyBundle.byteCount(kind) + 1] {
                #expect(throws: KeychainStoreError.damaged) {
                    _ = try KeyBundle(kind, SecretBytes(count: count) { (_: inout _) in })
                }
            }
        }
    }

    @Test func `a new password is derived at a calibrated cost unless told otherwise`() throws {
        let parameters = try PasswordCostChoice.calibrated.parameters()
        #expect(parameters.passes >= 3)
        #expect(parameters.memoryKiB >= 64 * 1024)
    }

    @Test func `what lay under the device key is gone from file and log after a password is set`()
        throws
    {
        let keychain = try TestKeychain(password: nil)
        let wrap = try #require(keychain.file.keybag().protectors.first).wrappedMaster
        try setPassword(keychain, nil, "new")
        for ending in ["", "-wal"] {
            let bytes = try rawBytes(keychain.path + ending)
            #expect(!bytes.contains(wrap))
        }
    }
}
