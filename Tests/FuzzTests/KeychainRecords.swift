// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainSecrets

@testable import KeychainItemStore

/// One byte says which record of a keychain's file the rest is. Each has one encoding.
enum KeychainRecords {
    enum Kind: UInt8, CaseIterable {
        case attributes, rights, applications, protector, passwordParameters, owner, settings
        case padding, tokens, passwordKeys, bundle, joined
    }

    private static let indexKey = SecretBytes(copying: [UInt8](repeating: 3, count: 32))

    static func read(_ bytes: [UInt8]) throws -> Bool {
        guard let first = bytes.first, let kind = Kind(rawValue: first) else { return false }
        let bytes = Array(bytes.dropFirst())
        guard let again = try written(kind, bytes) else { return false }
        try require(again == bytes, "\(kind): written as other bytes")
        return true
    }

    /// What was read, as it is written; nil where it was refused.
    private static func written(_ kind: Kind, _ bytes: [UInt8]) throws -> [UInt8]? {
        switch kind {
        case .attributes:
            guard let record = try? AttributeRecord(decoding: bytes) else { return nil }
            for itemClass in ItemClass.allCases {
                let reference = ItemReference(
                    itemClass: itemClass, identifier: [UInt8](repeating: 5, count: 16))
                guard let reference else { return nil }
                _ = indexKey.withBytes { ItemIndex(record, reference, $0) }
            }
            return try record.encoded()
        case .rights: return try (try? ItemAccessControl(decoding: bytes))?.encoded()
        case .applications: return try (try? TrustList(decoding: bytes))?.encoded()
        case .joined: return try (try? JoinedGroups(decoding: bytes))?.encoded()
        case .protector: return protector(bytes)
        case .passwordParameters:
            return (try? PasswordKeys.parameters(bytes)).map { parameters in
                [1] + parameters.passes.littleEndianBytes + parameters.memoryKiB.littleEndianBytes
                    + parameters.salt
            }
        case .owner: return KeychainOwner(bytes: bytes)?.bytes
        case .settings: return KeychainSettings(bytes: bytes)?.bytes
        case .padding: return padding(bytes)
        case .tokens:
            let tokens = TokenList.bytes(TokenList.tokens(bytes))
            return tokens == bytes ? tokens : nil
        case .passwordKeys:
            do {
                let keys = try PasswordKeys(copy: SecretBytes(copying: bytes))
                return keys.copy().releasedFromLockedMemory()
            } catch { return nil }
        case .bundle:
            do {
                let bundle = try KeyBundle(.whileUnlocked, SecretBytes(copying: bytes))
                for position in 0..<3 { _ = bundle.key(position) }
                return bundle.bytes.releasedFromLockedMemory()
            } catch { return nil }
        }
    }

    /// Its name up to the first zero, then its bytes.
    private static func protector(_ bytes: [UInt8]) -> [UInt8]? {
        let name = String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        let rest = Array(bytes.dropFirst(name.utf8.count + 1))
        guard name.hasPrefix(ProtectorRecord.namePrefix),
            let record = try? ProtectorRecord(name: name, bytes: rest)
        else { return nil }
        return Array(record.name.utf8) + [0] + record.bytes
    }

    /// What is behind a secret is not looked at.
    private static func padding(_ bytes: [UInt8]) -> [UInt8]? {
        guard let secret = SecretPadding.unpad(SecretBytes(copying: bytes)),
            let padded = try? SecretPadding.pad(secret)
        else { return nil }
        let used = 4 + secret.count
        return padded.part(0..<used).releasedFromLockedMemory() + bytes.dropFirst(used)
    }
}
