// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// Keys in files: PKCS #1, SEC 1, PKCS #8 and SubjectPublicKeyInfo, not encrypted.
package enum KeyFile {
    private static let rsaEncryption: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 1, 1]
    private static let ecPublicKey: [UInt8] = [0x2A, 0x86, 0x48, 0xCE, 0x3D, 2, 1]
    private static let ed25519: [UInt8] = [0x2B, 0x65, 0x70]
    private static let x25519: [UInt8] = [0x2B, 0x65, 0x6E]
    /// The tags of a SEC 1 key's curve and public point.
    private static let curveTag: UInt8 = 0xA0
    private static let pointTag: UInt8 = 0xA1

    /// Reads any of these forms; nil for other bytes.
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

    /// Reads SubjectPublicKeyInfo, or PKCS #1.
    package static func publicKey(_ der: HeldSecret) -> KeyContent? {
        var whole = DERParts(der)
        guard var parts = whole.take(DERParts.Tag.sequence), whole.isAtEnd else { return nil }
        guard parts.next == DERParts.Tag.sequence else {
            return KeyContent(publicKey: DERParts(der).bytes, .rsa)
        }
        guard let algorithm = algorithm(&parts),
            let bits = parts.take(DERParts.Tag.bitString)?.bytes, bits.first == 0
        else { return nil }
        return KeyContent(publicKey: Array(bits.dropFirst()), algorithm.type)
    }

    private static func pkcs8(_ parts: inout DERParts) -> KeyContent? {
        guard let algorithm = algorithm(&parts), let key = parts.take(DERParts.Tag.octets)?.held
        else { return nil }
        switch algorithm.type {
        case .rsa: return KeyContent(privateKey: key, .rsa)
        case .ellipticCurve: return sec1(key, on: algorithm.curve)
        case .ed25519, .x25519:
            var inner = DERParts(key)
            return inner.take(DERParts.Tag.octets).flatMap {
                KeyContent(privateKey: $0.held, algorithm.type)
            }
        }
    }

    /// The algorithm, with the curve's name where there is one.
    private static func algorithm(
        _ parts: inout DERParts
    ) -> (type: KeyKind.KeyType, curve: [UInt8]?)? {
        var sequence = parts.take(DERParts.Tag.sequence)
        switch sequence?.take(DERParts.Tag.objectIdentifier)?.bytes {
        case rsaEncryption: return (.rsa, nil)
        case ecPublicKey:
            // A curve given by its parameters has no name, and is not supported.
            guard let curve = sequence?.take(DERParts.Tag.objectIdentifier)?.bytes,
                EllipticCurve.allCases.contains(where: { $0.objectIdentifier == curve })
            else { return nil }
            return (.ellipticCurve, curve)
        case ed25519: return (.ed25519, nil)
        case x25519: return (.x25519, nil)
        default: return nil
        }
    }

    /// The curve follows from the number's length, which is that of the curve's field. Other curves
    /// have fields of that length too, so a given name must be this curve's; and without a name
    /// there must be the public point, which is on no other curve.
    private static func sec1(_ der: HeldSecret, on outer: [UInt8]? = nil) -> KeyContent? {
        var whole = DERParts(der)
        guard var parts = whole.take(DERParts.Tag.sequence),
            parts.take(DERParts.Tag.integer) != nil,
            let number = parts.take(DERParts.Tag.octets)?.held,
            let curve = EllipticCurve.allCases.first(where: { $0.fieldBytes == number.bytes.count })
        else { return nil }
        var inner: [UInt8]?
        if var parameters = parts.take(curveTag) {
            inner = parameters.take(DERParts.Tag.objectIdentifier)?.bytes
            guard inner != nil else { return nil }
        }
        guard [inner, outer].allSatisfy({ $0 == nil || $0 == curve.objectIdentifier }) else {
            return nil
        }
        let point: [UInt8]
        if var wrapped = parts.take(pointTag) {
            guard let bits = wrapped.take(DERParts.Tag.bitString)?.bytes else { return nil }
            point = Array(bits.dropFirst())
        } else {
            guard inner ?? outer != nil, let derived = curve.publicPoint(of: number) else {
                return nil
            }
            point = derived
        }
        let key = SecretBytes(copying: point).appending(number.bytes)
        return KeyContent(privateKey: HeldSecret(key), .ellipticCurve)
    }
}

extension EllipticCurve {
    /// From SEC 2 and RFC 5480.
    fileprivate var objectIdentifier: [UInt8] {
        switch self {
        case .p256: [0x2A, 0x86, 0x48, 0xCE, 0x3D, 3, 1, 7]
        case .p384: [0x2B, 0x81, 4, 0, 0x22]
        case .p521: [0x2B, 0x81, 4, 0, 0x23]
        }
    }

    fileprivate func publicPoint(of number: HeldSecret) -> [UInt8]? {
        number.bytes.withBytes { bytes in
            // Safe: the bytes are lent for this call.
            unsafe bytes.withUnsafeBytes { unsafe (try? point(of: $0)).map(Array.init) }
        }
    }
}
