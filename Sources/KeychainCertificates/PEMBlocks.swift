// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// The blocks between `-----BEGIN …-----` and `-----END …-----` (RFC 7468) of a file that may have a
/// private key in it.
package enum PEMBlocks {
    package struct Block: Sendable {
        package let label: String
        /// A block with headers is an encrypted key.
        package let hasHeaders: Bool
        package let der: HeldSecret
    }

    private static let begin = Array("-----BEGIN ".utf8)
    private static let end = Array("-----END ".utf8)
    private static let dashes = Array("-----".utf8)
    private static let longestLabel = 64
    private static let nothing = HeldSecret(SecretBytes(copying: []))

    /// nil where a block does not end, or has other text than base64 in it.
    package static func of(_ file: borrowing SecretBytes) -> [Block]? {
        var blocks: [Block] = []
        var position = 0
        while let start = find(begin, in: file, from: position) {
            let labelStart = start + begin.count
            guard let labelEnd = find(dashes, in: file, from: labelStart),
                labelEnd - labelStart <= longestLabel,
                let stop = find(end, in: file, from: labelEnd)
            else { return nil }
            let label = file.withBytes { bytes in
                String(decoding: (labelStart..<labelEnd).map { bytes.byte($0) }, as: UTF8.self)
            }
            let content = labelEnd + dashes.count..<stop
            let hasHeaders = file.withBytes { bytes in
                content.contains { bytes.byte($0) == UInt8(ascii: ":") }
            }
            guard let der = hasHeaders ? nothing : decoded(file, content) else { return nil }
            blocks.append(Block(label: label, hasHeaders: hasHeaders, der: der))
            position = stop + end.count
        }
        return blocks
    }

    private static func find(
        _ pattern: [UInt8], in file: borrowing SecretBytes, from start: Int
    ) -> Int? {
        file.withBytes { bytes in
            guard bytes.byteCount >= start + pattern.count else { return nil }
            return (start...bytes.byteCount - pattern.count).first { place in
                pattern.indices.allSatisfy { bytes.byte(place + $0) == pattern[$0] }
            }
        }
    }

    /// Decodes base64 with blanks and line ends in it.
    private static func decoded(
        _ file: borrowing SecretBytes, _ range: Range<Int>
    ) -> HeldSecret? {
        var count = 0
        var isGood = true
        let decoded = file.withBytes { bytes in
            SecretBytes(count: range.count) { (target: inout MutableRawSpan) in
                var bits: UInt32 = 0
                var digits = 0
                var hasEnded = false
                for place in range {
                    let byte = bytes.byte(place)
                    if byte == 0x20 || (0x09...0x0D).contains(byte) { continue }
                    if byte == UInt8(ascii: "=") {
                        hasEnded = true
                        continue
                    }
                    guard !hasEnded, let value = Self.digit(byte) else {
                        isGood = false
                        return
                    }
                    bits = bits << 6 | UInt32(value)
                    digits += 1
                    guard digits % 4 != 1 else { continue }
                    let shift = UInt32(6 - 2 * ((digits - 1) % 4))
                    target.storeBytes(
                        of: UInt8(truncatingIfNeeded: bits >> shift), toByteOffset: count,
                        as: UInt8.self)
                    count += 1
                }
            }
        }
        return isGood ? HeldSecret(decoded.part(0..<count)) : nil
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
