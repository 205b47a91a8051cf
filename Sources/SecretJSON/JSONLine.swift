// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// JSON built piece by piece, with texts that may be secret: all of it is written in locked memory.
package struct JSONLine {
    private enum Piece {
        case raw([UInt8])
        case text(HeldSecret)
    }

    private var pieces: [Piece] = []
    /// The most bytes of an escape.
    private static let longestEscape = 6

    package init() {}

    /// Appends JSON without changes.
    package mutating func append(raw text: String) { pieces.append(.raw(Array(text.utf8))) }

    /// Appends a text with its quotes; it must be well-formed UTF-8.
    package mutating func append(text: HeldSecret) { pieces.append(.text(text)) }

    package mutating func append(text: String) {
        append(text: HeldSecret(SecretBytes(copying: Array(text.utf8))))
    }

    package var bytes: SecretBytes {
        let room = pieces.reduce(0) { room, piece in
            switch piece {
            case .raw(let bytes): room + bytes.count
            case .text(let text): room + text.bytes.count * Self.longestEscape + 2
            }
        }
        var writer = SecretWriter(capacity: room)
        for piece in pieces {
            switch piece {
            case .raw(let bytes): for byte in bytes { writer.append(byte) }
            case .text(let text): Self.write(text, to: &writer)
            }
        }
        return writer.finish()
    }

    private static func write(_ text: HeldSecret, to writer: inout SecretWriter) {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        let digits = Array("0123456789abcdef".utf8)
        var bytes = SecretCursor(text)
        writer.append(quote)
        while let byte = bytes.next() {
            switch byte {
            case quote, escape:
                writer.append(escape)
                writer.append(byte)
            case 0..<0x20:
                for byte in "\\u00".utf8 { writer.append(byte) }
                writer.append(digits[Int(byte >> 4)])
                writer.append(digits[Int(byte & 15)])
            default: writer.append(byte)
            }
        }
        writer.append(quote)
    }
}
