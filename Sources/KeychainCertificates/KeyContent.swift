// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import CryptoExtras
internal import FoundationEssentials
package import KeychainSecrets

/// A key in its exported form: PKCS #1 for RSA; for curves over prime fields a point, followed by
/// the private number; 32 bytes for the others.
package struct KeyContent: Sendable {
    package let kind: KeyKind
    package let publicBytes: [UInt8]
    /// nil for a public key.
    package let privateBytes: HeldSecret?

    package var isPrivate: Bool { privateBytes != nil }

    /// nil where the bytes are no public key of the type.
    package init?(publicKey bytes: [UInt8], _ type: KeyKind.KeyType) {
        do {
            switch type {
            case .rsa:
                let key = try _RSA.Signing.PublicKey(unsafeDERRepresentation: bytes)
                self.init(.rsa(bits: key.keySizeInBits), Array(key.pkcs1DERRepresentation), nil)
            case .ellipticCurve:
                let curves = EllipticCurve.allCases
                guard let curve = curves.first(where: { $0.pointBytes == bytes.count })
                else { return nil }
                try curve.verify(point: bytes)
                self.init(.curve(curve), bytes, nil)
            case .ed25519:
                _ = try Curve25519.Signing.PublicKey(rawRepresentation: bytes)
                self.init(.ed25519, bytes, nil)
            case .x25519:
                _ = try Curve25519.KeyAgreement.PublicKey(rawRepresentation: bytes)
                self.init(.x25519, bytes, nil)
            }
        } catch { return nil }
    }

    /// nil where the bytes are no private key of the type.
    package init?(privateKey secret: HeldSecret, _ type: KeyKind.KeyType) {
        do {
            let found = try secret.bytes.withBytes { bytes in
                // Safe: the bytes are lent for as long as the key is looked at.
                try unsafe bytes.withUnsafeBytes { try unsafe Self.read($0, type) }
            }
            guard let found else { return nil }
            self.init(found.kind, found.publicBytes, found.rewritten ?? secret)
        } catch { return nil }
    }

    package init(generating kind: KeyKind) throws {
        switch kind {
        case .rsa(let bits):
            let key = try _RSA.Signing.PrivateKey(keySize: .init(bitCount: bits))
            self.init(
                kind, Array(key.publicKey.pkcs1DERRepresentation),
                HeldSecret(key.derRepresentation.movedToLockedMemory()))
        case .curve(let curve):
            let key = curve.newKey()
            let point = Array(key.prefix(curve.pointBytes))
            self.init(kind, point, HeldSecret((consume key).movedToLockedMemory()))
        case .ed25519:
            let key = Curve25519.Signing.PrivateKey()
            self.init(
                kind, Array(key.publicKey.rawRepresentation),
                HeldSecret(key.rawRepresentation.movedToLockedMemory()))
        case .x25519:
            let key = Curve25519.KeyAgreement.PrivateKey()
            self.init(
                kind, Array(key.publicKey.rawRepresentation),
                HeldSecret(key.rawRepresentation.movedToLockedMemory()))
        }
    }

    package var publicKey: KeyContent { KeyContent(kind, publicBytes, nil) }

    private init(_ kind: KeyKind, _ publicBytes: [UInt8], _ privateBytes: HeldSecret?) {
        self.kind = kind
        self.publicBytes = publicBytes
        self.privateBytes = privateBytes
    }

    private struct Read {
        let kind: KeyKind
        let publicBytes: [UInt8]
        /// The key in the stored form, where it was written in another one.
        var rewritten: HeldSecret?
    }

    private static func read(
        _ bytes: UnsafeRawBufferPointer, _ type: KeyKind.KeyType
    ) throws -> Read? {
        switch type {
        case .rsa:
            // Safe: the caller lends the bytes for this call; each initialiser checks them and
            // copies.
            let key = try unsafe _RSA.Signing.PrivateKey(unsafeDERRepresentation: bytes)
            return Read(
                kind: .rsa(bits: key.keySizeInBits),
                publicBytes: Array(key.publicKey.pkcs1DERRepresentation),
                rewritten: HeldSecret(key.derRepresentation.movedToLockedMemory()))
        case .ellipticCurve: return try unsafe readCurve(bytes)
        case .ed25519:
            let key = try unsafe Curve25519.Signing.PrivateKey(rawRepresentation: bytes)
            return Read(kind: .ed25519, publicBytes: Array(key.publicKey.rawRepresentation))
        case .x25519:
            let key = try unsafe Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes)
            return Read(kind: .x25519, publicBytes: Array(key.publicKey.rawRepresentation))
        }
    }

    private static func readCurve(_ bytes: UnsafeRawBufferPointer) throws -> Read? {
        let count = bytes.count
        let curves = EllipticCurve.allCases
        guard let curve = curves.first(where: { $0.pointBytes + $0.fieldBytes == count })
        else { return nil }
        // Safe: the curve was chosen by the length of the bytes.
        let point = unsafe Array(bytes[..<curve.pointBytes])
        let number = unsafe UnsafeRawBufferPointer(rebasing: bytes[curve.pointBytes...])
        let derived = try unsafe curve.point(of: number)
        // With the point of another key, the key would be found under that key's name.
        guard Array(derived) == point else { return nil }
        return Read(kind: .curve(curve), publicBytes: point)
    }
}

/// The name that a key and its certificates share: `kSecAttrApplicationLabel`.
package enum KeyLabel {
    package static func of(_ publicKey: [UInt8]) -> [UInt8] {
        Array(Insecure.SHA1.hash(data: publicKey))
    }
}

extension Data {
    /// A copy in memory that is wiped; the library's own memory is overwritten.
    consuming func movedToLockedMemory() -> SecretBytes {
        let secret = SecretBytes(count: count) { (span: inout MutableRawSpan) in
            // Safe: the span is as long as the data.
            unsafe span.withUnsafeMutableBytes { target in
                unsafe withUnsafeBytes { source in unsafe target.copyMemory(from: source) }
            }
        }
        resetBytes(in: startIndex..<endIndex)
        return secret
    }
}
