// SPDX-License-Identifier: Apache-2.0

/// A file as it was read, from which lines can be shown.
package struct SourceFile: Sendable {
    package let path: String
    package let bytes: [UInt8]
    private let lineStarts: [Int]

    package init(path: String, bytes: [UInt8]) {
        self.path = path
        self.bytes = bytes
        var starts = [0]
        for (offset, byte) in bytes.enumerated() where byte == UInt8(ascii: "\n") {
            starts.append(offset + 1)
        }
        lineStarts = starts
    }

    /// The line without its end; nil where there is no such line.
    package func line(_ number: Int) -> String? {
        range(ofLine: number).map { String(decoding: bytes[$0], as: UTF8.self) }
    }

    package func range(ofLine number: Int) -> Range<Int>? {
        guard lineStarts.indices.contains(number - 1) else { return nil }
        let start = lineStarts[number - 1]
        var end = number < lineStarts.count ? lineStarts[number] - 1 : bytes.count
        if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        return start..<max(start, end)
    }

    /// The place of a byte.
    package func place(ofByte offset: Int) -> SourcePlace {
        // Finds the last line that starts at the offset or before.
        var (low, high) = (0, lineStarts.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if lineStarts[middle] <= offset { low = middle } else { high = middle }
        }
        let start = lineStarts[low]
        let end = min(max(offset, start), bytes.count)
        return SourcePlace(line: low + 1, column: Self.scalarCount(bytes[start..<end]) + 1)
    }

    /// The number of columns of the token at a place: a quoted text with its quotes, a plain one as
    /// it is written, one column for anything else.
    package func length(at place: SourcePlace, plain text: String) -> Int {
        guard let range = range(ofLine: place.line) else { return 1 }
        let line = Array(String(decoding: bytes[range], as: UTF8.self).unicodeScalars)
        guard line.indices.contains(place.column - 1) else { return 1 }
        let rest = line[(place.column - 1)...]
        if rest.starts(with: text.unicodeScalars) { return max(1, text.unicodeScalars.count) }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { return 1 }
        var isEscaped = false
        for (count, scalar) in rest.enumerated().dropFirst() {
            if isEscaped {
                isEscaped = false
            } else if scalar == "\\", quote == "\"" {
                isEscaped = true
            } else if scalar == quote {
                return count + 1
            }
        }
        return 1
    }

    private static func scalarCount(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.count { $0 & 0xC0 != 0x80 }
    }
}
