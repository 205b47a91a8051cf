// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// A key in its file form: PKCS #8 for private keys, SubjectPublicKeyInfo for public ones.
enum KeyText {
    private static let rsa: [UInt8] = [
        0x30, 0x0D, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1, 0x05, 0x00,
    ]
    private static let ed25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x70]
    private static let x25519: [UInt8] = [0x30, 0x05, 0x06, 0x03, 0x2B, 0x65, 0x6E]
    private static let ecPublicKey: [UInt8] = [0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]
    /// The curves' names, by the bits of a key.
    private static let curves: [Int64: [UInt8]] = [
        256: [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7],
        384: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x22],
        521: [0x06, 0x05, 0x2B, 0x81, 0x04, 0x00, 0x23],
    ]

    private enum KeyType {
        static let rsa: Int64 = 42
        static let curve: Int64 = 73
        static let ed25519: Int64 = 105
        static let x25519: Int64 = 106
    }

    private enum Tag {
        static let bitString: UInt8 = 0x03
        static let octets: UInt8 = 0x04
        static let sequence: UInt8 = 0x30
        static let point: UInt8 = 0xA1
    }

    /// nil for an item without a key of a known kind.
    static func pem(_ item: Item) -> SecretBytes? {
        guard let secret = item.secret, case .number(let type)? = item.attributes[.type],
            let algorithm = algorithm(type, item.attributes[.keySize])
        else { return nil }
        if item.attributes[.keyClass] == .number(0) {
            let bits = value(Tag.bitString, [held([0]), secret])
            return PEMText.of(value(Tag.sequence, [held(algorithm), bits]).bytes, "PUBLIC KEY")
        }
        guard let inner = inner(type, secret) else { return nil }
        let whole = value(
            Tag.sequence, [held([0x02, 0x01, 0x00] + algorithm), value(Tag.octets, [inner])])
        return PEMText.of(whole.bytes, "PRIVATE KEY")
    }

    /// The key itself: PKCS #1, SEC 1, or its 32 bytes.
    private static func inner(_ type: Int64, _ secret: HeldSecret) -> HeldSecret? {
        switch type {
        case KeyType.rsa: return secret
        case KeyType.curve:
            // A point of two coordinates, then the private number.
            let field = (secret.bytes.count - 1) / 3
            guard secret.bytes.count == 1 + 3 * field, field > 0 else { return nil }
            let point = HeldSecret(secret.bytes.part(0..<1 + 2 * field))
            let number = HeldSecret(secret.bytes.part(1 + 2 * field..<secret.bytes.count))
            let bits = value(Tag.bitString, [held([0]), point])
            return value(
                Tag.sequence,
                [held([0x02, 0x01, 0x01]), value(Tag.octets, [number]), value(Tag.point, [bits])])
        default: return value(Tag.octets, [secret])
        }
    }

    private static func held(_ bytes: [UInt8]) -> HeldSecret {
        HeldSecret(SecretBytes(copying: bytes))
    }

    /// A DER value of the parts.
    private static func value(_ tag: UInt8, _ parts: [HeldSecret]) -> HeldSecret {
        let count = parts.reduce(0) { $0 + $1.bytes.count }
        var header = [tag]
        if count < 0x80 {
            header.append(UInt8(count))
        } else {
            let digits = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
                .drop { $0 == 0 }
            header += [0x80 | UInt8(digits.count)] + digits
        }
        var writer = SecretWriter(capacity: header.count + count)
        writer.append(SecretBytes(copying: header))
        for part in parts { writer.append(part.bytes) }
        return HeldSecret(writer.finish())
    }

    private static func algorithm(_ type: Int64, _ size: AttributeValue?) -> [UInt8]? {
        switch type {
        case KeyType.rsa: return rsa
        case KeyType.ed25519: return ed25519
        case KeyType.x25519: return x25519
        case KeyType.curve:
            guard case .number(let bits)? = size, let curve = curves[bits] else { return nil }
            let names = ecPublicKey + curve
            return [Tag.sequence, UInt8(names.count)] + names
        default: return nil
        }
    }
}
