// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainModel
import SystemTestSupport
import Testing

@testable import KeychainItemStore
@testable import KeychainVaults

/// A device secret that can't be read for a while: what it protects is still there afterwards.
@Suite struct DeviceSecretTests {
    private let world: ServiceInMemory
    private let keychain: OpenKeychain
    private var path: String { world.home + "/login.device-secret" }
    private let old = ServiceInMemory.secret(ServiceInMemory.password)
    private let new = ServiceInMemory.secret("new")

    init() throws {
        world = try ServiceInMemory()
        keychain = try world.keychain
    }

    private func login() throws -> (effect: LoginEffect, hasPasscodeKey: Bool)? {
        switch try world.protectors.login(keychain, new) {
        case .opened(let keys, let effect):
            let hasPasscodeKey = keys.whileUnlocked.key(2) != nil
            return (effect, hasPasscodeKey)
        case .differs: return nil
        }
    }

    @Test func `a login opens the rest, and the next one opens all`() throws {
        try world.protectors.changePassword(keychain, old: old, new: new)
        let before = try keychain.file.protectors()
        chmodOrFail(path, 0o640)
        let without = try #require(try login())
        #expect(without.effect == .withoutDeviceSecret && !without.hasPasscodeKey)
        #expect(try keychain.file.protectors() == before)
        chmodOrFail(path, 0o600)
        let with = try #require(try login())
        #expect(with.effect == .confirmed && with.hasPasscodeKey)
    }

    @Test func `no password is changed, and the class does not end`() throws {
        let before = try keychain.file.protectors()
        let link = world.home + "/second"
        try FileManager.default.linkItem(atPath: path, toPath: link)
        let failed = RequestError.failed(.inputOutput)
        #expect(throws: failed) {
            try world.protectors.changePassword(keychain, old: old, new: new)
        }
        #expect(throws: failed) {
            try world.protectors.setPassword(keychain, old: old, new: new)
        }
        #expect(throws: failed) { _ = try world.protectors.endPasscodeClass(keychain) }
        #expect(try keychain.file.protectors() == before)
        try FileManager.default.removeItem(atPath: link)
        #expect(try world.protectors.endPasscodeClass(keychain))
        #expect(try !world.protectors.endPasscodeClass(keychain))
    }
}
