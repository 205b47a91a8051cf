// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// The parts of a DER value that may be a private key, read without copying.
struct DERParts {
    enum Tag {
        static let integer: UInt8 = 0x02
        static let bitString: UInt8 = 0x03
        static let octets: UInt8 = 0x04
        static let objectIdentifier: UInt8 = 0x06
        static let sequence: UInt8 = 0x30
    }

    let secret: HeldSecret
    private var rest: Range<Int>

    init(_ secret: HeldSecret) { self.init(secret, 0..<secret.bytes.count) }

    private init(_ secret: HeldSecret, _ range: Range<Int>) {
        self.secret = secret
        rest = range
    }

    var isAtEnd: Bool { rest.isEmpty }
    /// The tag of the next part.
    var next: UInt8? { rest.isEmpty ? nil : byte(rest.lowerBound) }

    /// The content of the next part, which must have the tag.
    mutating func take(_ tag: UInt8) -> DERParts? {
        guard next == tag, let content = content() else { return nil }
        rest = content.upperBound..<rest.upperBound
        return DERParts(secret, content)
    }

    /// The bytes, for parts that are no secret.
    var bytes: [UInt8] { rest.map(byte) }
    var held: HeldSecret { HeldSecret(secret.bytes.part(rest)) }
    var count: Int { rest.count }

    /// Reads definite lengths of up to four bytes.
    private func content() -> Range<Int>? {
        var position = rest.lowerBound + 1
        guard position < rest.upperBound else { return nil }
        var length = Int(byte(position))
        position += 1
        if length >= 0x80 {
            let digits = length - 0x80
            guard (1...4).contains(digits), position + digits <= rest.upperBound else { return nil }
            length = (position..<position + digits).reduce(0) { $0 << 8 | Int(byte($1)) }
            position += digits
        }
        guard length <= rest.upperBound - position else { return nil }
        return position..<position + length
    }

    private func byte(_ offset: Int) -> UInt8 { secret.bytes.withBytes { $0.byte(offset) } }
}
