// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
internal import KeychainSecrets

/// What is asked about a keychain's file as a whole, so that nothing in it is ever lost.
package enum Safekeeping: Sendable, Equatable {
    /// Looks at every record; with `repair`, sets damaged ones aside and puts the index right.
    case check(repair: Bool)
    case generations
    /// Makes a copy and says how long it is; it is then read piece by piece, from the beginning.
    case beginBackup
    case readBackup(BackupTransfer.Identifier, offset: UInt64)
    /// Begins to take a copy back, which is then sent piece by piece.
    case beginRestore
    case sendRestore(BackupTransfer.Identifier, bytes: [UInt8])
    /// Puts what was sent in the keychain's place, where it is whole.
    case finishRestore(BackupTransfer.Identifier, digest: [UInt8])
    case restoreGeneration(Int)

    /// Bytes of a piece: all pieces of a copy but the last are as long.
    package static let pieceBytes = 256 * 1024
}

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

/// What comes back.
package struct Safekept: Sendable, Equatable {
    package struct Generation: Sendable, Equatable {
        package var number: Int
        /// Seconds since 1970.
        package var made: Double
        package var bytes: UInt64

        package init(number: Int, made: Double, bytes: UInt64) {
            self.number = number
            self.made = made
            self.bytes = bytes
        }
    }

    package var findings: KeychainFindings?
    /// The newest first.
    package var generations: [Generation] = []
    package var transfer: BackupTransfer?
    package var piece: [UInt8] = []
    /// The generation that the replaced keychain became; 0 where nothing was replaced.
    package var replaced = 0
    /// Records of a restored keychain that were set aside.
    package var setAside = 0

    package init() {}
}

/// Tells a copy from one with a single changed bit. It has no key, and proves nothing against
/// a program that changes both: what is sealed in the copy does.
package struct BackupDigest: Sendable {
    package static let byteCount = 32
    private var pieces: [UInt8] = []
    private var total: UInt64 = 0

    package init() {}

    /// Pieces in their order, each of `Safekeeping.pieceBytes` but the last.
    package mutating func add(_ piece: [UInt8]) {
        pieces += KeyedHash.fingerprint(piece)
        total += UInt64(clamping: piece.count)
    }

    package var bytes: [UInt8] {
        let length = (0..<8).map { UInt8(truncatingIfNeeded: total >> (8 * UInt64(clamping: $0))) }
        return KeyedHash.fingerprint(length + pieces)
    }
}
