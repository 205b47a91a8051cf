// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Detects any changed bit of a copy. It has no key, and proves nothing against a program that
/// changes both the copy and the digest; the seals in the copy do.
package struct BackupDigest: Sendable {
    package static let byteCount = 32
    private var pieces: [UInt8] = []
    private var total: UInt64 = 0

    package init() {}

    /// Adds a piece. Pieces come in order, all but the last of the same length.
    package mutating func add(_ piece: [UInt8]) {
        pieces += KeyedHash.fingerprint(piece)
        total += UInt64(clamping: piece.count)
    }

    package var bytes: [UInt8] {
        let length = (0..<8).map { UInt8(truncatingIfNeeded: total >> (8 * UInt64(clamping: $0))) }
        return KeyedHash.fingerprint(length + pieces)
    }
}
