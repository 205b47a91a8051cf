// SPDX-License-Identifier: Apache-2.0
import GRDB
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// A password that costs more than this machine's own choice is made cheaper once it has opened.
@Suite struct LighteningTests {
    private static let costly = PasswordCostChoice.fixed(passes: 8, memoryKiB: 64)
    private static let always = Lightening(longest: .zero, leastWork: 0, cost: TestKeychain.cost)

    private let keychain: TestKeychain

    /// Its password is from a faster machine.
    init() throws {
        keychain = try TestKeychain()
        try keychain.file.setPassword(
            old: secret(TestKeychain.password), new: secret(TestKeychain.password),
            deviceKey: keychain.deviceKey, deviceSecret: keychain.deviceSecret, cost: Self.costly)
    }

    private func unlock(
        _ password: String = TestKeychain.password, deviceSecret: HeldSecret?,
        _ lightening: Lightening = always
    ) throws {
        _ = try keychain.file.unlock(
            password: secret(password), deviceSecret: deviceSecret, lightening: lightening)
    }

    private func work() throws -> [UInt64] {
        try keychain.file.keybag().protectors(.password).map {
            try PasswordKeys.parameters($0.parameters).work
        }
    }

    @Test func `an unlock makes it cheaper, and everything opens as before`() throws {
        let item = generic("mail", accessible: .whenPasscodeSetThisDeviceOnly)
        try keychain.add(item)
        try unlock(deviceSecret: keychain.deviceSecret)
        #expect(try work() == [8])
        let unlocked = try keychain.file.unlock(
            password: secret(TestKeychain.password), deviceSecret: keychain.deviceSecret)
        let keys = ClassKeys(
            always: try keychain.file.alwaysKeys(deviceKey: keychain.deviceKey),
            afterFirstUnlock: unlocked.afterFirstUnlock.copy(),
            whileUnlocked: unlocked.whileUnlocked.copy())
        let found = try keychain.file.find(query(), groups: [TestKeychain.group], keys: keys)
        #expect(found.count == 1)
        #expect(throws: KeychainStoreError.wrongPassword) {
            try unlock("another", deviceSecret: keychain.deviceSecret)
        }
    }

    @Test func `a login does so too`() throws {
        guard
            case .opened = try keychain.file.login(
                password: secret(TestKeychain.password), deviceSecret: keychain.deviceSecret,
                deviceKey: keychain.deviceKey, lightening: Self.always)
        else {
            Issue.record("it did not open")
            return
        }
        #expect(try work() == [8])
    }

    @Test func `a wrong password changes nothing`() throws {
        #expect(throws: KeychainStoreError.wrongPassword) {
            try unlock("another", deviceSecret: keychain.deviceSecret)
        }
        #expect(try work() == [512])
    }

    @Test func `the key of the passcode-set class is not lost where its secret is not there`()
        throws
    {
        try unlock(deviceSecret: nil)
        #expect(try work() == [512])
        try unlock(deviceSecret: keychain.deviceSecret)
        #expect(try keychain.file.keybag().hasPasscodeKey)
        #expect(try work() == [8])
    }

    @Test func `a copy without that class gets none by it`() throws {
        let portable = try keychain.file.keybag().protectors.map(\.withoutPasscode)
        try keychain.file.replace(keychain.file.protectors(), with: portable)
        try unlock(deviceSecret: keychain.deviceSecret)
        #expect(try work() == [8])
        #expect(try !keychain.file.keybag().hasPasscodeKey)
    }

    @Test func `this machine's own cost stays`() throws {
        try unlock(deviceSecret: keychain.deviceSecret, .ofThisMachine)
        #expect(try work() == [512])
        // Nothing that costs half of it.
        let same = Lightening(longest: .zero, leastWork: 0, cost: .fixed(passes: 5, memoryKiB: 64))
        try unlock(deviceSecret: keychain.deviceSecret, same)
        #expect(try work() == [512])
        let little = Lightening(longest: .zero, leastWork: 512, cost: TestKeychain.cost)
        try unlock(deviceSecret: keychain.deviceSecret, little)
        #expect(try work() == [512])
        let quick = Lightening(longest: .seconds(3600), leastWork: 0, cost: TestKeychain.cost)
        try unlock(deviceSecret: keychain.deviceSecret, quick)
        #expect(try work() == [512])
    }

    @Test func `a state stays what it was`() throws {
        try keychain.file.changePassword(
            old: secret(TestKeychain.password), new: secret("new"),
            deviceSecret: keychain.deviceSecret, cost: Self.costly)
        try unlock("new", deviceSecret: keychain.deviceSecret)
        let protectors = try keychain.file.keybag().protectors(.password)
        #expect(Set(protectors.map(\.state)) == [.current, .pending])
        #expect(try work().sorted() == [8, 512])
        try unlock(deviceSecret: keychain.deviceSecret)
        #expect(try work() == [8, 8])
    }

    @Test func `what costs far more than another is tried last`() throws {
        let password = secret(TestKeychain.password)
        try keychain.file.setPassword(
            old: password.copy(), new: password.copy(), deviceKey: keychain.deviceKey,
            deviceSecret: keychain.deviceSecret, cost: TestKeychain.cost)
        // Until it is the newest, and so what would be tried first: of two of one second chance says.
        repeat {
            try keychain.file.changePassword(
                old: password, new: password, deviceSecret: keychain.deviceSecret,
                cost: Self.costly)
        } while try keychain.file.keybag().protectors(.password).last?.state != .pending
        let keybag = try keychain.file.keybag()
        let attempt = try PasswordAttempt(
            keybag, keychain.file.wrap, password, nil)
        guard case .opened(let opened, _) = consume attempt else {
            Issue.record("it did not open")
            return
        }
        #expect(opened.opener.state == .current)
    }
}
