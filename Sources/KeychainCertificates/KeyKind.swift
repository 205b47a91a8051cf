// SPDX-License-Identifier: Apache-2.0

/// The kind and the size of a key.
package enum KeyKind: Hashable, Sendable {
    case rsa(bits: Int)
    case curve(EllipticCurve)
    case ed25519
    case x25519

    /// The values of `kSecAttrKeyType`.
    package enum KeyType: Int64, Sendable {
        case rsa = 42
        case ellipticCurve = 73
        case ed25519 = 105
        case x25519 = 106
    }

    /// Larger ones take minutes to make.
    package static let generatedRSABits = 2048...4096

    /// The kind of a new key; nil where no such key exists.
    package init?(new type: KeyType, bits: Int?) {
        switch type {
        case .rsa:
            guard let bits, Self.generatedRSABits.contains(bits), bits % 8 == 0 else { return nil }
            self = .rsa(bits: bits)
        case .ellipticCurve:
            guard let curve = EllipticCurve.allCases.first(where: { $0.bits == bits })
            else { return nil }
            self = .curve(curve)
        case .ed25519, .x25519:
            guard bits ?? 256 == 256 else { return nil }
            self = type == .ed25519 ? .ed25519 : .x25519
        }
    }

    package var type: KeyType {
        switch self {
        case .rsa: .rsa
        case .curve: .ellipticCurve
        case .ed25519: .ed25519
        case .x25519: .x25519
        }
    }

    package var bits: Int {
        switch self {
        case .rsa(let bits): bits
        case .curve(let curve): curve.bits
        case .ed25519, .x25519: 256
        }
    }

    /// The bytes of a block, which one operation takes or makes.
    package var blockBytes: Int { (bits + 7) / 8 }
}
