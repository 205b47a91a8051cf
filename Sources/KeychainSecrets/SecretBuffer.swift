// SPDX-License-Identifier: Apache-2.0

/// A secret of unknown length that grows in locked memory while it is read, up to a limit.
package final class SecretBuffer {
    private var bytes: SecretBytes
    private var capacity: Int
    private let limit: Int
    package private(set) var count = 0

    package init(limit: Int) {
        self.limit = limit
        capacity = min(4096, limit)
        bytes = SecretBytes(count: capacity) { (_: inout MutableRawSpan) in }
    }

    /// Whether that many more bytes are within the limit.
    package func hasRoom(_ more: Int) -> Bool { more <= limit - count }

    /// Returns false beyond the limit; then nothing is appended.
    package func append(_ byte: UInt8) -> Bool {
        guard makeRoom(1) else { return false }
        let position = count
        bytes.withMutableBytes { span in
            span.storeBytes(of: byte, toByteOffset: position, as: UInt8.self)
        }
        count += 1
        return true
    }

    package func append(_ text: String) -> Bool {
        guard makeRoom(text.utf8.count) else { return false }
        for byte in text.utf8 { _ = append(byte) }
        return true
    }

    package func append(_ piece: borrowing SecretBytes) -> Bool {
        guard makeRoom(piece.count) else { return false }
        bytes.replace(at: count, with: piece, from: 0, count: piece.count)
        count += piece.count
        return true
    }

    package func append(_ piece: borrowing SecretBytes, _ range: Range<Int>) -> Bool {
        guard makeRoom(range.count) else { return false }
        bytes.replace(at: count, with: piece, from: range.lowerBound, count: range.count)
        count += range.count
        return true
    }

    package func byte(_ position: Int) -> UInt8 {
        precondition(position < count)
        return bytes.withBytes { $0.byte(position) }
    }

    package func part(_ range: Range<Int>) -> SecretBytes {
        precondition(range.upperBound <= count)
        return bytes.part(range)
    }

    package func withBytes<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R {
        let count = count
        return try bytes.withBytes { span throws(E) in try body(span.extracting(0..<count)) }
    }

    package var contents: SecretBytes { part(0..<count) }

    /// A part of the bytes as text that is not secret; nil where it is not UTF-8.
    package func text(_ range: Range<Int>) -> String? {
        withBytes { span in
            String(validating: range.map { span.byte($0) }, as: UTF8.self)
        }
    }

    /// Removes all bytes and wipes them.
    package func removeAll() {
        let used = count
        bytes.withMutableBytes { span in
            for position in 0..<used {
                span.storeBytes(of: 0, toByteOffset: position, as: UInt8.self)
            }
        }
        count = 0
    }

    /// Removes the first bytes; the others move to the beginning.
    package func removeFirst(_ number: Int) {
        let rest = bytes.part(number..<count)
        count = 0
        _ = append(rest)
    }

    private func makeRoom(_ more: Int) -> Bool {
        guard count + more > capacity else { return true }
        guard count + more <= limit else { return false }
        capacity = min(limit, max(capacity * 2, count + more))
        bytes = bytes.padded(to: capacity)
        return true
    }
}
