// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// A copy of a keychain during its transfer.
package struct BackupTransfer: Sendable, Equatable {
    package typealias Identifier = [UInt8]
    package static let identifierBytes = 16

    package var identifier: Identifier
    package var bytes: UInt64

    package init(identifier: Identifier, bytes: UInt64) {
        self.identifier = identifier
        self.bytes = bytes
    }
}

extension BackupTransfer: VerbAnswer {
    package func encode(into message: inout MessageWriter) {
        message.bytes.append(raw: identifier)
        message.bytes.append(number: bytes)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        identifier = try message.identifier(Self.identifierBytes)
        bytes = try message.bytes.number(UInt64.self)
    }
}

/// A piece of a copy.
package struct BackupPiece: VerbAnswer, Equatable {
    /// The length of every piece but the last.
    package static let mostBytes = 256 * 1024

    package var bytes: [UInt8]

    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    package func encode(into message: inout MessageWriter) { message.bytes.append(block: bytes) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        bytes = Array(try message.bytes.block())
    }
}

/// An earlier state of a keychain that was kept.
package struct Generation: ListElement, Equatable {
    package static let leastBytes = 20

    package var number: Int
    /// Seconds since 1970.
    package var made: Double
    package var bytes: UInt64

    package init(number: Int, made: Double, bytes: UInt64) {
        self.number = number
        self.made = made
        self.bytes = bytes
    }

    package func encode(into message: inout MessageWriter) {
        message.bytes.append(number: UInt32(clamping: number))
        message.append(made)
        message.bytes.append(number: bytes)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        number = Int(clamping: try message.bytes.number(UInt32.self))
        made = try message.real()
        bytes = try message.bytes.number(UInt64.self)
    }
}

/// The result of a restore.
package struct RestoredKeychain: VerbAnswer, Equatable {
    /// The generation that the replaced keychain became; 0 where none was replaced.
    package var replaced = 0
    /// The number of records that were set aside.
    package var setAside = 0

    package init() {}

    package func encode(into message: inout MessageWriter) {
        message.append(clamping: replaced)
        message.append(clamping: setAside)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        replaced = try message.clampedNumber()
        setAside = try message.clampedNumber()
    }
}

extension KeychainFindings: VerbAnswer {
    private static var counts: [WritableKeyPath<KeychainFindings, Int>] {
        [\.whole, \.sealed, \.damaged, \.misindexed, \.strayEntries, \.quarantined, \.leftovers]
    }

    package func encode(into message: inout MessageWriter) {
        message.append(isStructureWhole)
        for count in Self.counts { message.append(clamping: self[keyPath: count]) }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init()
        isStructureWhole = try message.flag()
        for count in Self.counts { self[keyPath: count] = try message.clampedNumber() }
    }
}
