// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import CryptoExtras
internal import FoundationEssentials

/// Whether one certificate's key signed another. SHA-1 and older prove nothing any more.
extension CertificateContent {
    func isSigned(by issuer: CertificateContent) -> Bool {
        let key = issuer.publicKey
        switch signatureAlgorithm {
        case [1, 2, 840, 10045, 4, 3, 2]: return key.signed(SHA256.hash(data: signed), signature)
        case [1, 2, 840, 10045, 4, 3, 3]: return key.signed(SHA384.hash(data: signed), signature)
        case [1, 2, 840, 10045, 4, 3, 4]: return key.signed(SHA512.hash(data: signed), signature)
        case [1, 2, 840, 113549, 1, 1, 11]:
            return key.signedRSA(SHA256.hash(data: signed), signature)
        case [1, 2, 840, 113549, 1, 1, 12]:
            return key.signedRSA(SHA384.hash(data: signed), signature)
        case [1, 2, 840, 113549, 1, 1, 13]:
            return key.signedRSA(SHA512.hash(data: signed), signature)
        case [1, 3, 101, 112]:
            guard key.algorithm == [1, 3, 101, 112] else { return false }
            let key = try? Curve25519.Signing.PublicKey(rawRepresentation: key.bits)
            return key?.isValidSignature(signature, for: signed) ?? false
        default: return false
        }
    }
}

extension SubjectPublicKey {
    private static let rsaBits = 2048...16_384

    fileprivate func signed(_ digest: some Digest, _ signature: [UInt8]) -> Bool {
        guard algorithm == [1, 2, 840, 10045, 2, 1] else { return false }
        switch bits.count {
        case EllipticCurve.p256.pointBytes:
            guard let key = try? P256.Signing.PublicKey(x963Representation: bits),
                let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: digest)
        case EllipticCurve.p384.pointBytes:
            guard let key = try? P384.Signing.PublicKey(x963Representation: bits),
                let signature = try? P384.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: digest)
        case EllipticCurve.p521.pointBytes:
            guard let key = try? P521.Signing.PublicKey(x963Representation: bits),
                let signature = try? P521.Signing.ECDSASignature(derRepresentation: signature)
            else { return false }
            return key.isValidSignature(signature, for: digest)
        default: return false
        }
    }

    fileprivate func signedRSA(_ digest: some Digest, _ signature: [UInt8]) -> Bool {
        guard algorithm == [1, 2, 840, 113549, 1, 1, 1],
            let key = try? _RSA.Signing.PublicKey(unsafeDERRepresentation: bits),
            Self.rsaBits.contains(key.keySizeInBits)
        else { return false }
        return key.isValidSignature(
            _RSA.Signing.RSASignature(rawRepresentation: signature), for: digest,
            padding: .insecurePKCS1v1_5)
    }
}
