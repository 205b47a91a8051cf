// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport

/// Checks bytes one by one for UTF-8 without zeros, and counts lines.
struct TextCheck {
    private(set) var line = 1
    private var position = 0
    /// The number of bytes that the character still needs, and the bounds of the next one.
    private var missing = 0
    private var bounds: ClosedRange<UInt8> = 0x80...0xBF

    mutating func take(_ byte: UInt8) throws(ImportError) {
        position += 1
        if missing > 0 {
            guard bounds.contains(byte) else { throw .notUTF8(line: line) }
            missing -= 1
            bounds = 0x80...0xBF
            return
        }
        switch byte {
        case 0x00: throw .zeroByte(line: line)
        case 0x0A: line += 1
        case 0x01...0x7F: break
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, bounds) = (2, 0xA0...0xBF)
        case 0xED: (missing, bounds) = (2, 0x80...0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, bounds) = (3, 0x90...0xBF)
        case 0xF4: (missing, bounds) = (3, 0x80...0x8F)
        case 0xF1...0xF3: missing = 3
        default: throw .notUTF8(line: line)
        }
    }

    func finish() throws(ImportError) {
        guard missing == 0 else { throw .notUTF8(line: line) }
    }
}
