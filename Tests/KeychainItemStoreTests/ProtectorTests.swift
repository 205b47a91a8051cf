// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel
import KeychainAccessControl
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// Protectors that are added beside the password.
@Suite struct ProtectorTests {
    private let key = HeldSecret(SecretBytes(random: 32))

    private func sealingKey() -> SealingKey { SealingKey(key.bytes.copy()) }

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

    private func password(_ keychain: TestKeychain, _ text: String) -> MasterKeySource {
        .password(secret(text), keychain.deviceSecret)
    }

    @discardableResult
    private func add(
        _ keychain: TestKeychain, _ kind: ProtectorRecord.Kind = .tpm, typing text: String? = nil
    ) throws -> ProtectorRecord {
        let record = try ProtectorRecord.new(kind, parameters: [1, 2, 3])
        let grant = try grant(.add, keychain)
        try keychain.file.add(
            record, key: sealingKey(), grant,
            from: password(keychain, text ?? TestKeychain.password))
        return try #require(
            keychain.file.protectors().first { $0.identifier == record.identifier })
    }

    private func bytes(_ bundle: borrowing KeyBundle) -> [UInt8] {
        bundle.bytes.releasedFromLockedMemory()
    }

    @Test func `what was added opens the same keys, but for the passcode class`() throws {
        let keychain = try TestKeychain()
        let record = try add(keychain)
        #expect(record.parameters == [1, 2, 3])
        let byPassword = try keychain.file.unlock(
            password: secret(TestKeychain.password), deviceSecret: keychain.deviceSecret)
        let unlocked = try keychain.file.unlock(with: record, key: sealingKey())
        let same = bytes(unlocked.afterFirstUnlock) == bytes(byPassword.afterFirstUnlock)
        #expect(same)
        let passcodes = [
            unlocked.whileUnlocked.key(2) == nil, byPassword.whileUnlocked.key(2) == nil,
        ]
        #expect(passcodes == [true, false])
    }

    @Test func `another key opens nothing`() throws {
        let keychain = try TestKeychain()
        let record = try add(keychain)
        #expect(throws: KeychainStoreError.wrongProtectorKey) {
            _ = try keychain.file.unlock(with: record, key: .random())
        }
    }

    @Test func `who does not open the keychain adds nothing`() throws {
        let keychain = try TestKeychain()
        #expect(throws: KeychainStoreError.wrongPassword) {
            try add(keychain, typing: "guess")
        }
        let record = try add(keychain)
        let another = try ProtectorRecord.new(.recoveryKey)
        #expect(throws: KeychainStoreError.wrongProtectorKey) {
            let grant = try grant(.add, keychain)
            try keychain.file.add(
                another, key: .random(), grant, from: .protector(record, .random()))
        }
        #expect(try keychain.file.protectors().count == 2)
    }

    @Test func `a right for another keychain or another change adds and removes nothing`() throws {
        let (keychain, other) = (try TestKeychain(), try TestKeychain())
        let record = try add(keychain)
        for wrong in [keychain, other] {
            #expect(throws: KeychainStoreError.grantMismatch) {
                let grant = try grant(wrong === keychain ? .remove : .add, wrong)
                try keychain.file.add(
                    ProtectorRecord.new(.tpm), key: .random(), grant,
                    from: password(keychain, TestKeychain.password))
            }
            #expect(throws: KeychainStoreError.grantMismatch) {
                let grant = try grant(wrong === keychain ? .add : .remove, wrong)
                try keychain.file.remove(
                    record, grant, leaving: try keychain.file.protectors())
            }
        }
        #expect(try keychain.file.protectors().contains(record))
    }

    @Test func `what was removed opens nothing, and is gone from the file`() throws {
        let keychain = try TestKeychain()
        let record = try add(keychain)
        let removal = try grant(.remove, keychain)
        try keychain.file.remove(record, removal, leaving: try keychain.file.protectors())
        #expect(try !keychain.file.protectors().contains(record))
        for ending in ["", "-wal"] {
            #expect(try !rawBytes(keychain.path + ending).contains(record.wrappedMaster))
        }
    }

    @Test func `the last that works is not removed`() throws {
        let keychain = try TestKeychain()
        let record = try add(keychain)
        for rest in [[], [record], [try ProtectorRecord.new(.recoveryKey)]] {
            #expect(throws: KeychainStoreError.lastProtector) {
                let grant = try grant(.remove, keychain)
                try keychain.file.remove(record, grant, leaving: rest)
            }
        }
        #expect(try keychain.file.protectors().contains(record))
    }

    @Test func `facts that were edited in the file make it useless`() throws {
        let keychain = try TestKeychain()
        let record = try add(keychain)
        var bytes = record.bytes
        let place = try #require(
            bytes.indices.dropLast(2).first { Array(bytes[$0...$0 + 2]) == [1, 2, 3] })
        bytes[place] = 0
        let edited = try ProtectorRecord(name: record.name, bytes: bytes)
        #expect(edited.parameters == [0, 2, 3])
        #expect(throws: KeychainStoreError.wrongProtectorKey) {
            _ = try keychain.file.unlock(with: edited, key: sealingKey())
        }
    }

    @Test func `a keychain takes its recovery key with it when it is made`() throws {
        let folder = try TestKeychain.newFolder()
        let device = SealingKey.random()
        let record = try ProtectorRecord.new(.recoveryKey)
        try KeychainFile.create(
            at: folder + "/x.keychain", owner: TestKeychain.owner, deviceKey: device,
            password: HeldSecret(secret("x")), deviceSecret: nil, adding: (record, key),
            cost: TestKeychain.cost)
        let file = try KeychainFile.open(at: folder + "/x.keychain", owner: TestKeychain.owner)
        let kept = try #require(file.protectors().first { $0.kind == .recoveryKey })
        _ = try file.unlock(with: kept, key: sealingKey())
    }

    @Test func `without its password a keychain gets another, and loses the passcode class`()
        throws
    {
        let keychain = try TestKeychain()
        let record = try add(keychain, .recoveryKey)
        try keychain.file.setPassword(
            from: .protector(record, sealingKey()), new: secret("new"),
            deviceSecret: keychain.deviceSecret, cost: TestKeychain.cost)
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try keychain.file.unlock(
                password: secret(TestKeychain.password), deviceSecret: keychain.deviceSecret)
        }
        let unlocked = try keychain.file.unlock(
            password: secret("new"), deviceSecret: keychain.deviceSecret)
        let passcodes = [
            unlocked.whileUnlocked.key(2)?.releasedFromLockedMemory(),
            keychain.keys().bytes(.whenPasscodeSetThisDeviceOnly),
        ]
        #expect(passcodes[0] != nil && passcodes[0] != passcodes[1])
        _ = try keychain.file.unlock(with: record, key: sealingKey())
    }

    @Test func `what was added puts a keychain in step with a login that has another password`()
        throws
    {
        let keychain = try TestKeychain()
        let record = try add(keychain)
        let outcome = try keychain.file.login(
            password: secret("of the login"), deviceSecret: keychain.deviceSecret,
            deviceKey: keychain.deviceKey)
        guard case .differs(let keys) = consume outcome else {
            Issue.record("it opened")
            return
        }
        _ = try keychain.file.unlock(with: record, key: sealingKey(), goingOnWith: keys)
        func passcodeIsOpen(_ text: String) throws -> Bool {
            let unlocked = try keychain.file.unlock(
                password: secret(text), deviceSecret: keychain.deviceSecret)
            return unlocked.whileUnlocked.key(2) != nil
        }
        // What the older one alone opens is still there, and no other key in its place.
        #expect(try passcodeIsOpen(TestKeychain.password))
        #expect(try !passcodeIsOpen("of the login"))
        _ = try keychain.file.login(
            password: secret("of the login"), deviceSecret: keychain.deviceSecret,
            deviceKey: keychain.deviceKey)
        #expect(throws: KeychainStoreError.wrongPassword) {
            _ = try passcodeIsOpen(TestKeychain.password)
        }
        #expect(try passcodeIsOpen("of the login"))
    }
}
