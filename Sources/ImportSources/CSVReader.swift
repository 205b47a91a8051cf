// SPDX-License-Identifier: Apache-2.0
internal import KeychainImport
internal import KeychainSecrets

/// Rows of fields with commas between, by RFC 4180. Holds only one row at a time.
struct CSVReader {
    /// The most bytes of one row.
    private static let longestRow = 4 * 1024 * 1024
    private static let mostColumns = 256

    private enum State { case fieldStart, plain, quoted, quoteInQuoted }

    /// The fields of a row, one after the other, with each field's range.
    struct Row {
        let line: Int
        let bytes: SecretBuffer
        let fields: [Range<Int>]

        func text(_ column: Int) -> String { bytes.text(fields[column]) ?? "" }
        func secret(_ column: Int) -> HeldSecret { HeldSecret(bytes.part(fields[column])) }
    }

    private let bytes = SecretBuffer(limit: Self.longestRow)
    private var fields: [Range<Int>] = []
    private var fieldStart = 0
    private var state = State.fieldStart
    private var rowLine = 1
    private var isEmptyRow = true
    /// A carriage return has come: half of a line's end, or a byte of a field.
    private var hasReturn = false

    /// `body` gets each complete row. An empty row is left out.
    mutating func take(
        _ byte: UInt8, line: Int, _ body: (Row) throws(ImportError) -> Void
    ) throws(ImportError) {
        if hasReturn, byte != 0x0A { try keepReturn() }
        hasReturn = false
        switch (state, byte) {
        case (.fieldStart, 0x22): state = .quoted
        case (.quoted, 0x22): state = .quoteInQuoted
        case (.quoted, _): try append(byte)
        case (.quoteInQuoted, 0x22):
            try append(byte)
            state = .quoted
        case (_, 0x2C): try endField()
        case (_, 0x0A):
            try endRow(body)
            // The next row begins on the line after this byte.
            rowLine = line + 1
            return
        case (_, 0x0D):
            hasReturn = true
            return
        case (.quoteInQuoted, _): throw .openQuote(line: rowLine)
        case (.fieldStart, _), (.plain, _):
            state = .plain
            try append(byte)
        }
        isEmptyRow = false
    }

    /// A carriage return alone ends no line.
    private mutating func keepReturn() throws(ImportError) {
        guard state != .quoteInQuoted else { throw .openQuote(line: rowLine) }
        try append(0x0D)
        state = .plain
        isEmptyRow = false
    }

    mutating func finish(_ body: (Row) throws(ImportError) -> Void) throws(ImportError) {
        guard state != .quoted else { throw .openQuote(line: rowLine) }
        if isEmptyRow { return }
        if hasReturn, state != .quoteInQuoted { try keepReturn() }
        try endRow(body)
    }

    private func append(_ byte: UInt8) throws(ImportError) {
        guard bytes.append(byte) else { throw .tooLong(line: rowLine) }
    }

    private mutating func endField() throws(ImportError) {
        guard fields.count < Self.mostColumns else { throw .tooLong(line: rowLine) }
        fields.append(fieldStart..<bytes.count)
        fieldStart = bytes.count
        state = .fieldStart
    }

    private mutating func endRow(_ body: (Row) throws(ImportError) -> Void) throws(ImportError) {
        defer {
            bytes.removeAll()
            fields = []
            fieldStart = 0
            state = .fieldStart
            isEmptyRow = true
        }
        guard !isEmptyRow else { return }
        try endField()
        try body(Row(line: rowLine, bytes: bytes, fields: fields))
    }
}
