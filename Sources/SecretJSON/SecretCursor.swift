// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// A walk over the bytes of a secret, one at a time.
package struct SecretCursor: IteratorProtocol {
    private let secret: HeldSecret
    package private(set) var place: Int
    private let end: Int

    package init(_ secret: HeldSecret) { self.init(secret, 0..<secret.bytes.count) }

    package init(_ secret: HeldSecret, _ range: Range<Int>) {
        self.secret = secret
        place = range.lowerBound
        end = min(range.upperBound, secret.bytes.count)
    }

    /// The next byte, without moving on.
    package var peeked: UInt8? {
        guard place < end else { return nil }
        return secret.bytes.withBytes { $0.byte(place) }
    }

    package mutating func next() -> UInt8? {
        let byte = peeked
        if byte != nil { place += 1 }
        return byte
    }

    /// Moves past the next byte if it is this one.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard peeked == byte else { return false }
        place += 1
        return true
    }
}

extension HeldSecret {
    /// Whether the bytes are well-formed UTF-8.
    package var isText: Bool {
        var parser = Unicode.UTF8.ForwardParser()
        var bytes = SecretCursor(self)
        while true {
            switch parser.parseScalar(from: &bytes) {
            case .valid: continue
            case .error: return false
            case .emptyInput: return true
            }
        }
    }

    package func contains(_ byte: UInt8) -> Bool {
        var bytes = SecretCursor(self)
        while let next = bytes.next() { if next == byte { return true } }
        return false
    }

    package func hasPrefix(_ text: String) -> Bool {
        var bytes = SecretCursor(self)
        for byte in text.utf8 where bytes.next() != byte { return false }
        return true
    }

    /// The bytes as text outside of locked memory, for values that are no secret. nil for bytes
    /// that are no text, have a NUL, or are longer than any name, address or number.
    package var plainText: String? {
        let longest = 16 * 1024
        guard bytes.count <= longest, isText, !contains(0) else { return nil }
        var cursor = SecretCursor(self)
        var plain: [UInt8] = []
        while let byte = cursor.next() { plain.append(byte) }
        return String(decoding: plain, as: UTF8.self)
    }
}
