// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Blurs how long a secret is: four bytes of length, the secret, zeros up to a multiple of 32.
enum SecretPadding {
    static let block = 32
    private static let lengthBytes = 4

    static func pad(_ secret: borrowing SecretBytes) throws(KeychainStoreError) -> SecretBytes {
        guard let length = UInt32(exactly: secret.count) else { throw .tooLarge }
        let used = lengthBytes + secret.count
        let total = (used + block - 1) / block * block
        var writer = SecretWriter(capacity: total)
        writer.append(SecretBytes(copying: length.littleEndianBytes))
        writer.append(secret)
        writer.append(SecretBytes(count: total - used) { (_: inout MutableRawSpan) in })
        return writer.finish()
    }

    /// nil when it is not what `pad` makes.
    static func unpad(_ padded: consuming SecretBytes) -> SecretBytes? {
        guard padded.count >= block, padded.count % block == 0 else { return nil }
        // Out of locked memory for the moment of a comparison: the length, not the secret.
        let length = padded.withBytes { bytes in
            // Safe: a wider number of a byte.
            (0..<lengthBytes).reduce(UInt32(0)) { $0 | UInt32(bytes.byte($1)) << ($1 * 8) }
        }
        let used = lengthBytes + Int(clamping: length)
        guard (used + block - 1) / block * block == padded.count else { return nil }
        return padded.narrowed(to: lengthBytes..<used)
    }
}
