// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Values in the form that the command prints: text in quotes, anything else in hexadecimal,
/// followed by its readable characters.
enum ValueText {
    static func of(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        bytes.withSpan { span in write(span) { text.append($0) } }
        return String(decoding: text, as: UTF8.self)
    }

    /// A secret stays in locked memory, in both forms.
    static func of(_ secret: borrowing SecretBytes) -> SecretBytes {
        formed(secret) { span, put in write(span, put) }
    }

    /// The form of `-w`: text unchanged, anything else in lower-case hexadecimal.
    static func plain(_ secret: borrowing SecretBytes) -> SecretBytes {
        formed(secret) { span, put in
            let isText = (0..<span.byteCount).allSatisfy { isPrintable(span.byte($0)) }
            for place in 0..<span.byteCount {
                let byte = span.byte(place)
                if isText {
                    put(byte)
                } else {
                    put(digit(byte >> 4, lower: true))
                    put(digit(byte & 15, lower: true))
                }
            }
        }
    }

    private static func formed(
        _ secret: borrowing SecretBytes, _ write: (RawSpan, (UInt8) -> Void) -> Void
    ) -> SecretBytes {
        secret.withBytes { bytes in
            var count = 0
            write(bytes) { _ in count += 1 }
            var formed = SecretBytes(count: count) { (_: inout MutableRawSpan) in }
            var place = 0
            write(bytes) { byte in
                formed.withMutableBytes { span in
                    span.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
                }
                place += 1
            }
            return formed
        }
    }

    private static func write(_ bytes: RawSpan, _ put: (UInt8) -> Void) {
        let places = 0..<bytes.byteCount
        guard !places.isEmpty else { return }
        let quote = UInt8(ascii: "\"")
        if places.allSatisfy({ isPlain(bytes.byte($0)) }) {
            put(quote)
            for place in places { put(bytes.byte(place)) }
            put(quote)
            return
        }
        put(UInt8(ascii: "0"))
        put(UInt8(ascii: "x"))
        for place in places {
            put(digit(bytes.byte(place) >> 4))
            put(digit(bytes.byte(place) & 15))
        }
        put(UInt8(ascii: " "))
        guard places.contains(where: { isPrintable(bytes.byte($0)) }) else { return }
        put(UInt8(ascii: " "))
        put(quote)
        for place in places {
            let byte = bytes.byte(place)
            guard !isPlain(byte) else {
                put(byte)
                continue
            }
            put(UInt8(ascii: "\\"))
            for shift in [6, 3, 0] { put(UInt8(ascii: "0") + (byte >> UInt8(shift)) & 7) }
        }
        put(quote)
    }

    private static func isPrintable(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) }
    private static func isPlain(_ byte: UInt8) -> Bool {
        isPrintable(byte) && byte != UInt8(ascii: "\\")
    }

    private static func digit(_ value: UInt8, lower: Bool = false) -> UInt8 {
        value < 10
            ? UInt8(ascii: "0") + value : UInt8(ascii: lower ? "a" : "A") + value - 10
    }
}

extension [UInt8] {
    /// Upper-case hexadecimal, as fingerprints are written.
    var fingerprint: String {
        let digits = Array<Character>("0123456789ABCDEF")
        return String(flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
    }
}
