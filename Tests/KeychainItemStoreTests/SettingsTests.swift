// SPDX-License-Identifier: Apache-2.0
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

@Suite struct SettingsTests {
    private static let settings = KeychainSettings(
        lockAfterIdle: 900, lockAfter: 28800, locksOnSleep: false)

    @Test func `a keychain without settings has those of every keychain`() throws {
        let keychain = try TestKeychain()
        let found = try keychain.file.settings(keychain.keys())
        #expect(found == KeychainSettings())
        #expect(try keychain.file.unverifiedSettings() == KeychainSettings())
    }

    @Test func `what was set is found again, by another who opens the file too`() throws {
        let keychain = try TestKeychain()
        try keychain.file.setSettings(Self.settings, keys: keychain.keys())
        let again = try KeychainFile.open(at: keychain.path, owner: TestKeychain.owner)
        let found = try again.settings(keychain.keys())
        #expect(found == Self.settings)
        #expect(try again.unverifiedSettings() == Self.settings)
    }

    @Test(arguments: [TestKeychain.State.locked, .beforeFirstUnlock])
    func `a locked keychain takes no settings and vouches for none`(
        state: TestKeychain.State
    ) throws {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.locked) {
            try keychain.file.setSettings(Self.settings, keys: keychain.keys(state))
        }
        #expect(throws: KeychainStoreError.locked) {
            _ = try keychain.file.settings(keychain.keys(state))
        }
    }

    @Test func `settings that were written without the keys are damaged`() throws {
        let keychain = try TestKeychain()
        try keychain.file.setSettings(Self.settings, keys: keychain.keys())
        let hash = try #require(try keychain.file.keybag()[.settings]?.suffix(32))
        try keychain.file.writing {
            try Keybag.write(.settings, KeychainSettings.loosest.bytes + hash, $0)
        }
        #expect(throws: KeychainStoreError.damaged) {
            _ = try keychain.file.settings(keychain.keys())
        }
    }

    @Test func `settings of another keychain are damaged`() throws {
        let (one, other) = (try TestKeychain(), try TestKeychain())
        try one.file.setSettings(Self.settings, keys: one.keys())
        let moved = try #require(try one.file.keybag()[.settings])
        try other.file.writing { try Keybag.write(.settings, moved, $0) }
        #expect(throws: KeychainStoreError.damaged) { _ = try other.file.settings(other.keys()) }
    }
}
