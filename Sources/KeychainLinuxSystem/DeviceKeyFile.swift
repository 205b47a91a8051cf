// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// The key of a device or of a program's own keychains, in a private file.
package enum DeviceKeyFile {
    /// The key, made at first use.
    package static func key(at path: String) throws(SystemError) -> SecretBytes {
        if let kept = try existing(path) { return kept }
        let key = SecretBytes(random: SealingKey.byteCount)
        do { try PrivateFile.create(path, contents: key) } catch {
            // Another process was faster: the device's key is the one it made.
            guard case .system = error, let kept = try existing(path) else { throw error }
            return kept
        }
        return key
    }

    private static func existing(_ path: String) throws(SystemError) -> SecretBytes? {
        let kept: SecretBytes
        do { kept = try PrivateFile.read(path, limit: SealingKey.byteCount) } catch {
            guard error == .system(PrivateFile.notFound) else { throw error }
            return nil
        }
        guard kept.count == SealingKey.byteCount else { throw .malformed }
        return kept
    }
}
