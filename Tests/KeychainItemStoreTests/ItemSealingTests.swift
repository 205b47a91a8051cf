// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainItemStore

/// Each fact that a sealed part is bound to, one by one.
@Suite struct ItemSealingTests {
    private static let rights = ItemAccessControl.plain(.whenUnlocked)

    private func place(
        keychain: UInt8 = 1, itemClass: ItemClass = .genericPassword, identifier: UInt8 = 3,
        accessible: Accessibility = .whenUnlocked, generation: Int64 = 1
    ) throws -> SealContext {
        let reference = try #require(
            ItemReference(
                itemClass: itemClass, identifier: [UInt8](repeating: identifier, count: 16)))
        return SealContext(
            keychain: [UInt8](repeating: keychain, count: 16), reference: reference,
            accessible: accessible, generation: generation)
    }

    @Test func `the bytes that a part is bound to are those of the format`() throws {
        let keychain = (0..<16).map { UInt8($0) }
        let identifier = (0x20..<0x30).map { UInt8($0) }
        let place = SealContext(
            keychain: keychain,
            reference: try #require(
                ItemReference(itemClass: .internetPassword, identifier: identifier)),
            accessible: .afterFirstUnlock, generation: 0x0102_0304_0506_0708)
        let generation: [UInt8] = [8, 7, 6, 5, 4, 3, 2, 1]
        let beginning =
            keychain + identifier
            + [ItemClass.internetPassword.rawValue, Accessibility.afterFirstUnlock.rawValue]
        #expect(try place.context(.attributes, nil) == beginning + [1] + generation)
        #expect(
            try place.context(.secret, Self.rights)
                == beginning + [2] + generation + Self.rights.fingerprint())
        #expect(try Self.rights.fingerprint().count == 32)
    }

    @Test func `a secret opens in its own place and under its own rights only`() throws {
        let key = SealingKey.random()
        let own = try place()
        let sealed = try own.sealSecret(secret("s3cret"), Self.rights, key)
        let opened = HeldSecret(try own.openSecret(sealed, Self.rights, key))
        #expect(text(of: opened) == "s3cret")
        let others = [
            try place(keychain: 2), try place(itemClass: .internetPassword),
            try place(identifier: 4), try place(accessible: .always), try place(generation: 2),
        ]
        for other in others {
            #expect(throws: KeychainStoreError.corruptItem) {
                _ = try other.openSecret(sealed, Self.rights, key)
            }
        }
        let weaker = ItemAccessControl(
            protection: .whenUnlocked, operations: [.decrypt: .always], defaultOperation: .always)
        #expect(throws: KeychainStoreError.corruptItem) {
            _ = try own.openSecret(sealed, weaker, key)
        }
        #expect(throws: KeychainStoreError.corruptItem) {
            _ = try own.openSecret(sealed, Self.rights, SealingKey.random())
        }
    }

    @Test func `attributes open in their own place only, and never as a secret`() throws {
        let key = SealingKey.random()
        let own = try place()
        let record = AttributeRecord(new: generic(), in: "group", Self.rights)
        let sealed = try own.seal(record, key)
        #expect(try own.openRecord(sealed, key) == record)
        let others = [
            try place(keychain: 2), try place(itemClass: .internetPassword),
            try place(identifier: 4), try place(accessible: .always), try place(generation: 2),
        ]
        for other in others {
            #expect(throws: KeychainStoreError.corruptItem) {
                _ = try other.openRecord(sealed, key)
            }
        }
        #expect(throws: KeychainStoreError.corruptItem) {
            _ = try own.openSecret(sealed, Self.rights, key)
        }
    }

    @Test func `attributes that name another class than their row are none`() throws {
        let key = SealingKey.random()
        let liar = AttributeRecord(new: generic(), in: "group", .plain(.always))
        let sealed = try place().seal(liar, key)
        #expect(throws: KeychainStoreError.corruptItem) { _ = try place().openRecord(sealed, key) }
    }

    @Test func `two sealings of one secret share neither key nor nonce`() throws {
        let key = SealingKey.random()
        let first = try place().sealSecret(secret("s"), Self.rights, key)
        let second = try place().sealSecret(secret("s"), Self.rights, key)
        #expect(first.prefix(24) != second.prefix(24))
        #expect(first[72..<96] != second[72..<96])
    }
}

extension SealContext {
    fileprivate func seal(
        _ record: AttributeRecord, _ key: borrowing SealingKey
    ) throws -> [UInt8] {
        try key.bytes.withBytes { try seal(record, $0) }
    }

    fileprivate func sealSecret(
        _ secret: borrowing SecretBytes, _ rights: ItemAccessControl, _ key: borrowing SealingKey
    ) throws -> [UInt8] {
        try key.bytes.withBytes { try sealSecret(secret, rights, $0) }
    }

    fileprivate func openRecord(
        _ sealed: [UInt8], _ key: borrowing SealingKey
    ) throws -> AttributeRecord {
        try key.bytes.withBytes { key in try sealed.withSpan { try openRecord($0, key) } }
    }

    fileprivate func openSecret(
        _ sealed: [UInt8], _ rights: ItemAccessControl, _ key: borrowing SealingKey
    ) throws -> SecretBytes {
        try key.bytes.withBytes { key in try sealed.withSpan { try openSecret($0, rights, key) } }
    }
}
