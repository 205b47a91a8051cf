// SPDX-License-Identifier: Apache-2.0

/// Divides an editor's bytes into messages: a header with `Content-Length`, an empty line, and that
/// many bytes.
package struct MessageFramer {
    /// The most bytes of a message that is read.
    package static let longestMessage = 16 << 20
    static let longestHeader = 4096

    package enum Piece: Equatable {
        case message([UInt8])
        /// The message was skipped; the next one follows.
        case tooLong(Int)
        /// The beginning of the next message is unknown.
        case noHeader
    }

    private var buffer: [UInt8] = []
    /// The index of the next byte in the buffer.
    private var start = 0
    /// The bytes of a message's content that are still to come, and whether they are kept.
    private var content: (count: Int, isKept: Bool)?
    private var isBroken = false

    package init() {}

    package mutating func add(_ bytes: [UInt8]) {
        if start > 0 {
            buffer.removeSubrange(0..<start)
            start = 0
        }
        buffer += bytes
    }

    /// The next complete message; nil until more bytes are added.
    package mutating func next() -> Piece? {
        guard !isBroken else { return nil }
        if content == nil {
            guard let end = endOfHeader() else {
                guard buffer.count - start > Self.longestHeader else { return nil }
                return breakOff()
            }
            guard let length = Self.length(buffer[start..<end]) else { return breakOff() }
            start = end
            content = (length, length <= Self.longestMessage)
            if length > Self.longestMessage { return .tooLong(length) }
        }
        return body()
    }

    private mutating func breakOff() -> Piece {
        isBroken = true
        buffer = []
        start = 0
        return .noHeader
    }

    private mutating func body() -> Piece? {
        guard let (count, isKept) = content else { return nil }
        let there = buffer.count - start
        if isKept {
            guard there >= count else { return nil }
            let message = Array(buffer[start..<start + count])
            start += count
            content = nil
            return .message(message)
        }
        start += min(there, count)
        content = there >= count ? nil : (count - there, false)
        return there >= count ? next() : nil
    }

    /// The index after the empty line.
    private func endOfHeader() -> Int? {
        let mark: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A]
        let last = min(buffer.count, start + Self.longestHeader) - mark.count
        guard last >= start else { return nil }
        return (start...last).first { buffer[$0..<$0 + mark.count].elementsEqual(mark) }
            .map { $0 + mark.count }
    }

    /// nil where the header has no length, or two.
    private static func length(_ header: ArraySlice<UInt8>) -> Int? {
        guard header.allSatisfy({ $0 < 0x80 && $0 != 0 }) else { return nil }
        let name = "content-length:"
        let lines = String(decoding: header, as: UTF8.self).split(separator: "\r\n")
        let lengths = lines.filter { $0.lowercased().hasPrefix(name) }
        guard lengths.count == 1, let line = lengths.first else { return nil }
        let digits = line.dropFirst(name.utf8.count).filter { $0 != " " && $0 != "\t" }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(digits)
    }
}
