// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// The typed answer from Assuan's data lines, decoded from locked memory into locked memory.
struct TypedAnswer: ~Copyable {
    private static let percent = UInt8(ascii: "%")

    private var bytes: SecretBytes
    private var length = 0
    private var isTooLong = false

    init(longest: Int) { bytes = SecretBytes(count: longest) { (_: inout MutableRawSpan) in } }

    /// Adds the text of the line from `start` on.
    mutating func append(
        _ line: borrowing SecretBytes, from start: Int
    ) throws(PinentryError) {
        var position = start
        while position < line.count {
            var byte = line.byte(at: position)
            position += 1
            if byte == Self.percent {
                guard position + 2 <= line.count, let high = line.digit(at: position),
                    let low = line.digit(at: position + 1)
                else { throw .notShown }
                byte = high << 4 | low
                position += 2
            }
            // PAM's answers end at a NUL, so an answer with a NUL could be longer than the part
            // that PAM checks.
            guard byte != 0 else { throw .notShown }
            add(byte)
        }
    }

    consuming func finish() throws(PinentryError) -> SecretBytes {
        guard !isTooLong else { throw .tooLong }
        return bytes.part(0..<length)
    }

    private mutating func add(_ byte: UInt8) {
        guard length < bytes.count else {
            isTooLong = true
            return
        }
        let offset = length
        bytes.withMutableBytes { $0.storeBytes(of: byte, toByteOffset: offset, as: UInt8.self) }
        length += 1
    }
}

extension SecretBytes {
    borrowing func byte(at offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < count)
        // Safe: the offset was checked.
        return withBytes { unsafe $0.unsafeLoad(fromByteOffset: offset, as: UInt8.self) }
    }

    fileprivate borrowing func digit(at offset: Int) -> UInt8? {
        switch byte(at: offset) {
        case let byte where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte): byte - 0x30
        case let byte where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): byte - 0x37
        case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): byte - 0x57
        default: nil
        }
    }
}
