// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Tells a copy from one with a single changed bit. It has no key, and proves nothing against
/// a program that changes both: what is sealed in the copy does.
package struct BackupDigest: Sendable {
    package static let byteCount = 32
    private var pieces: [UInt8] = []
    private var total: UInt64 = 0

    package init() {}

    /// Pieces in their order, all but the last as long as each other.
    package mutating func add(_ piece: [UInt8]) {
        pieces += KeyedHash.fingerprint(piece)
        total += UInt64(clamping: piece.count)
    }

    package var bytes: [UInt8] {
        let length = (0..<8).map { UInt8(truncatingIfNeeded: total >> (8 * UInt64(clamping: $0))) }
        return KeyedHash.fingerprint(length + pieces)
    }
}
