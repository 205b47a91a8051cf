// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// Keys as files have them: PKCS #1, SEC 1, PKCS #8 and SubjectPublicKeyInfo, not encrypted.
package enum KeyFile {
    private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]
    private static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    private static let x25519: [UInt8] = [0x2B, 0x65, 0x6E]
    /// The tag of a SEC 1 key's public point.
    private static let pointTag: UInt8 = 0xA1

    /// Of whichever form the bytes have; nil for none of them.
    package static func privateKey(_ der: HeldSecret) -> KeyContent? {
        var whole = DERParts(der)
        guard var parts = whole.take(DERParts.Tag.sequence), whole.isAtEnd,
            parts.take(DERParts.Tag.integer) != nil
        else { return nil }
        switch parts.next {
        case DERParts.Tag.sequence: return pkcs8(&parts)
        case DERParts.Tag.octets: return sec1(der)
        default: return KeyContent(privateKey: der, .rsa)
        }
    }

    /// SubjectPublicKeyInfo, or PKCS #1.
    package static func publicKey(_ der: HeldSecret) -> KeyContent? {
        var whole = DERParts(der)
        guard var parts = whole.take(DERParts.Tag.sequence), whole.isAtEnd else { return nil }
        guard parts.next == DERParts.Tag.sequence else {
            return KeyContent(publicKey: DERParts(der).bytes, .rsa)
        }
        guard let type = algorithm(&parts), let bits = parts.take(DERParts.Tag.bitString)?.bytes,
            bits.first == 0
        else { return nil }
        return KeyContent(publicKey: Array(bits.dropFirst()), type)
    }

    private static func pkcs8(_ parts: inout DERParts) -> KeyContent? {
        guard let type = algorithm(&parts), let key = parts.take(DERParts.Tag.octets)?.held else {
            return nil
        }
        switch type {
        case .rsa: return KeyContent(privateKey: key, .rsa)
        case .ellipticCurve: return sec1(key)
        case .ed25519, .x25519:
            var inner = DERParts(key)
            return inner.take(DERParts.Tag.octets).flatMap {
                KeyContent(privateKey: $0.held, type)
            }
        }
    }

    private static func algorithm(_ parts: inout DERParts) -> KeyKind.KeyType? {
        var sequence = parts.take(DERParts.Tag.sequence)
        switch sequence?.take(DERParts.Tag.objectIdentifier)?.bytes {
        case rsaEncryption: return .rsa
        case ecPublicKey: return .ellipticCurve
        case ed25519: return .ed25519
        case x25519: return .x25519
        default: return nil
        }
    }

    /// The number's length says which curve it is on: it is as long as the curve's field.
    private static func sec1(_ der: HeldSecret) -> KeyContent? {
        var whole = DERParts(der)
        guard var parts = whole.take(DERParts.Tag.sequence),
            parts.take(DERParts.Tag.integer) != nil,
            let number = parts.take(DERParts.Tag.octets)?.held,
            let curve = EllipticCurve.allCases.first(where: { $0.fieldBytes == number.bytes.count })
        else { return nil }
        while let next = parts.next, next != pointTag { parts.skip() }
        let point: [UInt8]
        if var wrapped = parts.take(pointTag) {
            guard let bits = wrapped.take(DERParts.Tag.bitString)?.bytes else { return nil }
            point = Array(bits.dropFirst())
        } else {
            guard let derived = curve.publicPoint(of: number) else { return nil }
            point = derived
        }
        let key = SecretBytes(copying: point).appending(number.bytes)
        return KeyContent(privateKey: HeldSecret(key), .ellipticCurve)
    }
}

extension EllipticCurve {
    fileprivate func publicPoint(of number: HeldSecret) -> [UInt8]? {
        number.bytes.withBytes { bytes in
            // Safe: the bytes are lent for this call.
            unsafe bytes.withUnsafeBytes { unsafe (try? point(of: $0)).map(Array.init) }
        }
    }
}
