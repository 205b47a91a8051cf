// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import SecretJSON

/// A text with secrets in it, built in locked memory.
struct SecretText {
    private var pieces: [HeldSecret] = []

    init(_ text: String = "") { append(text) }

    mutating func append(_ text: String) {
        if !text.isEmpty { pieces.append(HeldSecret(SecretBytes(copying: Array(text.utf8)))) }
    }

    mutating func append(_ secret: HeldSecret) { pieces.append(secret) }

    mutating func append(_ text: SecretText) { pieces += text.pieces }

    /// The secret as a JSON string, in quotes. It must be text (`HeldSecret.isText`).
    mutating func append(json secret: HeldSecret) {
        // A control character becomes six bytes; two more are for the quotes.
        var writer = SecretWriter(capacity: 6 * secret.bytes.count + 2)
        writer.append(UInt8(ascii: "\""))
        var bytes = SecretCursor(secret)
        while let byte = bytes.next() {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                writer.append(UInt8(ascii: "\\"))
                writer.append(byte)
            case 0..<0x20, 0x7F:
                for digit in Array("\\u00".utf8) + Array([byte].hexadecimal.utf8) {
                    writer.append(digit)
                }
            default: writer.append(byte)
            }
        }
        writer.append(UInt8(ascii: "\""))
        pieces.append(HeldSecret(writer.finish()))
    }

    mutating func append(json text: String) {
        append(json: HeldSecret(SecretBytes(copying: Array(text.utf8))))
    }

    /// Writes a JSON object of names and texts.
    init(object fields: [(name: String, value: HeldSecret)]) {
        self.init("{")
        for (place, field) in fields.enumerated() {
            if place > 0 { append(",") }
            append(json: field.name)
            append(":")
            append(json: field.value)
        }
        append("}")
    }

    func joined() -> HeldSecret {
        var writer = SecretWriter(capacity: pieces.reduce(0) { $0 + $1.bytes.count })
        for piece in pieces { writer.append(piece.bytes) }
        return HeldSecret(writer.finish())
    }
}

extension HeldSecret {
    /// Text for a place that takes secrets.
    convenience init(text: String) { self.init(SecretBytes(copying: Array(text.utf8))) }
}
