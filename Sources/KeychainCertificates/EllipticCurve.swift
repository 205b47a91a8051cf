// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import FoundationEssentials

/// The supported curves over prime fields.
package enum EllipticCurve: CaseIterable, Sendable {
    case p256, p384, p521

    package var bits: Int {
        switch self {
        case .p256: 256
        case .p384: 384
        case .p521: 521
        }
    }

    /// The bytes of one coordinate, and of a private number.
    package var fieldBytes: Int { (bits + 7) / 8 }
    /// The bytes of an uncompressed point.
    package var pointBytes: Int { 1 + 2 * fieldBytes }

    /// Throws where the bytes are no point of the curve.
    func verify(point: [UInt8]) throws {
        switch self {
        case .p256: _ = try P256.Signing.PublicKey(x963Representation: point)
        case .p384: _ = try P384.Signing.PublicKey(x963Representation: point)
        case .p521: _ = try P521.Signing.PublicKey(x963Representation: point)
        }
    }

    /// The public point of a private number.
    func point(of number: UnsafeRawBufferPointer) throws -> Data {
        switch self {
        case .p256:
            // Safe: the caller lends the bytes for this call; each initialiser checks their number
            // and copies them.
            try unsafe P256.Signing.PrivateKey(rawRepresentation: number)
                .publicKey.x963Representation
        case .p384:
            try unsafe P384.Signing.PrivateKey(rawRepresentation: number)
                .publicKey.x963Representation
        case .p521:
            try unsafe P521.Signing.PrivateKey(rawRepresentation: number)
                .publicKey.x963Representation
        }
    }

    /// A new private key: its public point, then the private number.
    func newKey() -> Data {
        switch self {
        case .p256: P256.Signing.PrivateKey().x963Representation
        case .p384: P384.Signing.PrivateKey().x963Representation
        case .p521: P521.Signing.PrivateKey().x963Representation
        }
    }
}
