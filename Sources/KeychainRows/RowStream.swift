// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainLinuxSystem

/// A keychain's rows as bytes, from the process that reads a foreign file to the one that keeps
/// keychains. Each record begins with a byte for its kind. A row has each of its values after a
/// byte for its type, texts and BLOBs after their length (4). Numbers are little-endian. Nothing
/// follows the end record, which has the result of the reading (0, or a `ForeignFileError`).
enum RowStream {
    /// Smaller numbers are rows: the table's index in `KeychainTables.names`.
    static let version: UInt8 = 0xFE
    static let end: UInt8 = 0xFF

    enum Kind: UInt8 {
        case null, integer, real, text, blob
    }
}

// MARK: Writing

/// Writes a file's records to a descriptor, and the result of the reading.
package final class RowWriter {
    private static let mostKept = 64 * 1024
    private let output: Descriptor
    private var kept: [UInt8] = []

    package init(to output: Descriptor) { self.output = output }

    package func write(_ file: Descriptor) throws {
        var outcome: UInt8 = 0
        do {
            let keychain = try ForeignKeychain(file)
            kept += [RowStream.version, UInt8(clamping: keychain.version)]
            try keychain.forEach { table, row in try append(row, of: table) }
        } catch let error as SystemError {
            // The reading process has gone.
            throw error
        } catch { outcome = ForeignFileError(error).rawValue }
        kept += [RowStream.end, outcome]
        try flush()
    }

    private func append(_ row: borrowing Row, of table: KeychainTables.Table) throws {
        kept.append(table.place)
        for column in table.columns.indices {
            let column = Int32(clamping: column)
            guard try !isLarge(row, column) else { continue }
            append(row.value(column))
        }
        if kept.count > Self.mostKept { try flush() }
    }

    /// Writes a long BLOB directly from SQLite's memory: the process's memory limit has no room for
    /// a copy of the largest one.
    private func isLarge(_ row: borrowing Row, _ column: Int32) throws -> Bool {
        try row.withBlob(column) { bytes in
            guard bytes.byteCount > Self.mostKept else { return false }
            kept.append(RowStream.Kind.blob.rawValue)
            append(UInt64(clamping: bytes.byteCount), bytes: 4)
            try flush()
            try output.write(bytes)
            return true
        } ?? false
    }

    private func append(_ value: Value) {
        switch value {
        case .null: kept.append(RowStream.Kind.null.rawValue)
        case .integer(let number):
            kept.append(RowStream.Kind.integer.rawValue)
            append(UInt64(bitPattern: number), bytes: 8)
        case .real(let number):
            kept.append(RowStream.Kind.real.rawValue)
            append(number.bitPattern, bytes: 8)
        case .text(let text): append(.text, Array(text.utf8))
        case .blob(let bytes): append(.blob, bytes)
        }
    }

    private func append(_ kind: RowStream.Kind, _ bytes: [UInt8]) {
        kept.append(kind.rawValue)
        append(UInt64(clamping: bytes.count), bytes: 4)
        kept += bytes
    }

    private func append(_ number: UInt64, bytes: UInt64) {
        for place in 0..<bytes { kept.append(UInt8(truncatingIfNeeded: number >> (8 * place))) }
    }

    private func flush() throws {
        try output.write(kept)
        kept.removeAll(keepingCapacity: true)
    }
}

// MARK: Reading

/// Reads the records of a `RowWriter` in another process. A malicious file may have taken over that
/// process, so each value is checked: its type must be its column's, and its length within the
/// limits.
package struct RowReader {
    private let input: DescriptorInput

    package init(from input: DescriptorInput) { self.input = input }

    /// The most bytes of the rows of a file. A value takes at most twice its room in the file;
    /// without this limit, endless rows would fill the disk.
    package static func mostBytes(ofFile size: UInt64) -> UInt64 {
        64 * 1024 + 2 * min(size, UInt64(Int64.max) / 4)
    }

    package func forEach(_ body: (ForeignRecord) throws -> Void) throws {
        var tables: [KeychainTables.Table] = []
        while true {
            switch try input.byte() {
            case RowStream.version:
                let version = Int32(try input.byte())
                guard tables.isEmpty else { throw ForeignFileError.damaged }
                tables = try KeychainTables.tables(ofVersion: version)
                try body(.version(version))
            case RowStream.end:
                let outcome = try input.byte()
                guard outcome == 0 else {
                    throw ForeignFileError(rawValue: outcome) ?? .damaged
                }
                guard !tables.isEmpty else { throw ForeignFileError.damaged }
                return
            case let place:
                guard let table = tables.first(where: { $0.place == place }) else {
                    throw ForeignFileError.damaged
                }
                try body(.row(table, try table.columns.map { try value(of: $0) }))
            }
        }
    }

    private func value(of column: KeychainTables.Column) throws -> Value {
        switch (RowStream.Kind(rawValue: try input.byte()), column.kind) {
        case (.null, .integer), (.null, .real), (.null, .blob): return .null
        case (.integer, .integer): return .integer(Int64(bitPattern: try input.number()))
        case (.real, .real): return .real(Double(bitPattern: try input.number()))
        case (.text, .text):
            let bytes = try input.bytes(atMost: column.most)
            guard let text = String(validating: bytes, as: UTF8.self) else {
                throw ForeignFileError.damaged
            }
            return .text(text)
        case (.blob, .blob): return .blob(try input.bytes(atMost: column.most))
        default: throw ForeignFileError.damaged
        }
    }
}

extension KeychainTables.Table {
    /// The byte that marks a record as a row of this table.
    fileprivate var place: UInt8 {
        UInt8(clamping: KeychainTables.names.firstIndex(of: name) ?? 0)
    }
}
