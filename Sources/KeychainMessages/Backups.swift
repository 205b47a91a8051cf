// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainSecrets

/// A copy on its way.
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
    /// All pieces of a copy but the last are as long.
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

/// What became of a keychain that was brought back.
package struct RestoredKeychain: VerbAnswer, Equatable {
    /// The generation that the replaced keychain became; 0 where nothing was replaced.
    package var replaced = 0
    /// Records that were set aside.
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
    package func encode(into message: inout MessageWriter) {
        message.append(isStructureWhole)
        message.append(clamping: whole)
        message.append(clamping: sealed)
        message.append(clamping: damaged)
        message.append(clamping: misindexed)
        message.append(clamping: strayEntries)
        message.append(clamping: quarantined)
        message.append(clamping: leftovers)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init()
        isStructureWhole = try message.flag()
        whole = try message.clampedNumber()
        sealed = try message.clampedNumber()
        damaged = try message.clampedNumber()
        misindexed = try message.clampedNumber()
        strayEntries = try message.clampedNumber()
        quarantined = try message.clampedNumber()
        leftovers = try message.clampedNumber()
    }
}

/// Tells a copy from one with a single changed bit. It has no key, and proves nothing against
/// a program that changes both: what is sealed in the copy does.
package struct BackupDigest: Sendable {
    package static let byteCount = 32
    private var pieces: [UInt8] = []
    private var total: UInt64 = 0

    package init() {}

    /// Pieces in their order, each of `BackupPiece.mostBytes` but the last.
    package mutating func add(_ piece: [UInt8]) {
        pieces += KeyedHash.fingerprint(piece)
        total += UInt64(clamping: piece.count)
    }

    package var bytes: [UInt8] {
        let length = (0..<8).map { UInt8(truncatingIfNeeded: total >> (8 * UInt64(clamping: $0))) }
        return KeyedHash.fingerprint(length + pieces)
    }
}
