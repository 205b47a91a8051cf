// SPDX-License-Identifier: Apache-2.0
internal import SwiftASN1

/// A public key with its algorithm's name. The length of a point tells its curve.
package struct SubjectPublicKey {
    package let algorithm: [UInt]
    package let bits: [UInt8]

    init?(_ node: ASN1Node) {
        guard let parts = node.children, parts.count == 2,
            let algorithm = parts[0].children, let name = algorithm.first,
            let type = try? ASN1ObjectIdentifier(derEncoded: name),
            let bits = try? ASN1BitString(derEncoded: parts[1]), bits.paddingBits == 0
        else { return nil }
        self.algorithm = type.oidComponents
        self.bits = Array(bits.bytes)
    }
}

extension KeyKind.KeyType {
    private static let rsaEncryption: [UInt] = [1, 2, 840, 113549, 1, 1, 1]
    private static let ecPublicKey: [UInt] = [1, 2, 840, 10045, 2, 1]
    private static let ed25519Key: [UInt] = [1, 3, 101, 112]
    private static let x25519Key: [UInt] = [1, 3, 101, 110]

    /// The kind of a certificate's key; nil for kinds that are unknown here.
    package init?(_ publicKey: SubjectPublicKey) {
        switch publicKey.algorithm {
        case Self.rsaEncryption: self = .rsa
        case Self.ecPublicKey: self = .ellipticCurve
        case Self.ed25519Key: self = .ed25519
        case Self.x25519Key: self = .x25519
        default: return nil
        }
    }
}
