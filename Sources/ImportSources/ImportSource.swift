// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// Makes items from a format's bytes, one byte after the other.
protocol ImportSource {
    typealias Put = (ImportEntry) throws(ImportError) -> Void

    /// `line` is the byte's line.
    mutating func take(_ byte: UInt8, line: Int, _ put: Put) throws(ImportError)
    mutating func finish(_ put: Put) throws(ImportError)
}

struct CSVSource: ImportSource {
    private var reader = CSVReader()
    private var columns: CSVColumns?

    mutating func take(_ byte: UInt8, line: Int, _ put: Put) throws(ImportError) {
        var columns = columns
        try reader.take(byte, line: line) { row throws(ImportError) in
            try Self.read(row, &columns, put)
        }
        self.columns = columns
    }

    mutating func finish(_ put: Put) throws(ImportError) {
        var columns = columns
        try reader.finish { row throws(ImportError) in try Self.read(row, &columns, put) }
        guard columns != nil else { throw .unknownColumns }
    }

    private static func read(
        _ row: CSVReader.Row, _ columns: inout CSVColumns?, _ put: Put
    ) throws(ImportError) {
        guard let known = columns else {
            columns = try CSVColumns(row)
            return
        }
        try put(try known.entry(row))
    }
}

/// A format of lines; `\r\n` ends a line, too.
protocol LineSource {
    mutating func take(
        _ line: SecretBuffer, number: Int, _ put: ImportSource.Put
    ) throws(ImportError)
    mutating func finish(_ put: ImportSource.Put) throws(ImportError)
}

struct ImportLines<Source: LineSource>: ImportSource {
    private static var longestLine: Int { 1024 * 1024 }

    private var source: Source
    private let current = SecretBuffer(limit: Self.longestLine)
    private var number = 1

    init(_ source: Source) { self.source = source }

    mutating func take(_ byte: UInt8, line: Int, _ put: Put) throws(ImportError) {
        guard byte == 0x0A else {
            guard current.append(byte) else { throw .tooLong(line: line) }
            return
        }
        try endLine(put)
        number = line + 1
    }

    mutating func finish(_ put: Put) throws(ImportError) {
        try endLine(put)
        try source.finish(put)
    }

    private mutating func endLine(_ put: Put) throws(ImportError) {
        defer { current.removeAll() }
        try source.take(current, number: number, put)
    }
}

/// A format that is read as a whole.
struct ImportWhole: ImportSource {
    private static let longest = 64 * 1024 * 1024

    let read: (SecretBuffer, Put) throws(ImportError) -> Void
    private let contents = SecretBuffer(limit: Self.longest)

    init(_ read: @escaping (SecretBuffer, Put) throws(ImportError) -> Void) { self.read = read }

    mutating func take(_ byte: UInt8, line: Int, _ put: Put) throws(ImportError) {
        guard contents.append(byte) else { throw .tooLarge }
    }

    mutating func finish(_ put: Put) throws(ImportError) { try read(contents, put) }
}

extension SecretBuffer {
    /// The range without spaces, tabs and returns at its ends.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, isSpace(start) { start += 1 }
        while end > start, isSpace(end - 1) { end -= 1 }
        return start..<end
    }

    func isSpace(_ position: Int) -> Bool { [0x20, 0x09, 0x0D].contains(byte(position)) }

    func first(_ byte: UInt8, in range: Range<Int>) -> Int? {
        range.first { self.byte($0) == byte }
    }

    /// Whether the ASCII word is in the range, ignoring case. No String is made, since the range
    /// may be a secret.
    func says(_ word: String, in range: Range<Int>) -> Bool {
        guard range.count == word.utf8.count else { return false }
        return zip(range, word.utf8).allSatisfy { position, letter in
            let byte = byte(position)
            return ((0x41...0x5A).contains(byte) ? byte + 0x20 : byte) == letter
        }
    }

    func number(ofLineAt position: Int) -> Int {
        (0..<position).reduce(1) { $0 + (byte($1) == 0x0A ? 1 : 0) }
    }

    func secret(_ range: Range<Int>) -> HeldSecret { HeldSecret(part(range)) }
}
