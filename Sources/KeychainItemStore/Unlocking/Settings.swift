// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainModel
internal import KeychainSecrets

/// When a keychain locks by itself. Any program that can read the file may know the settings; only
/// one with the when-unlocked keys can have written them.
extension KeychainFile {
    private static let hashBytes = 32

    /// The verified settings; the default settings where none were ever set. Throws `.damaged`
    /// where another program wrote them.
    package func settings(_ keys: borrowing KeyBundle) throws(KeychainStoreError)
        -> KeychainSettings
    {
        guard let written = try writtenSettings() else { return KeychainSettings() }
        let plain = Array(written.prefix(KeychainSettings.byteCount))
        guard let settings = KeychainSettings(bytes: plain),
            let hash = hash(settings, keys), written == plain + hash
        else { throw .damaged }
        return settings
    }

    package func settings(
        _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> KeychainSettings {
        switch keys.whileUnlocked {
        case .some(let bundle): try settings(bundle)
        case .none: throw .locked
        }
    }

    /// The settings that the file names, for display.
    package func unverifiedSettings() throws(KeychainStoreError) -> KeychainSettings {
        guard let written = try writtenSettings() else { return KeychainSettings() }
        let plain = Array(written.prefix(KeychainSettings.byteCount))
        guard let settings = KeychainSettings(bytes: plain) else { throw .damaged }
        return settings
    }

    package func setSettings(
        _ settings: KeychainSettings, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) {
        let hash: [UInt8]? =
            switch keys.whileUnlocked {
            case .some(let bundle): hash(settings, bundle)
            case .none: nil
            }
        guard let hash else { throw .locked }
        try writing { try Keybag.write(.settings, settings.bytes + hash, $0) }
    }

    /// The keychain's label for people; nil where it has none.
    package func label() throws(KeychainStoreError) -> String? {
        guard let bytes = try keybag()[.label], !bytes.isEmpty else { return nil }
        guard let label = String(validating: bytes, as: UTF8.self) else { throw .damaged }
        return label
    }

    package func setLabel(_ label: String) throws(KeychainStoreError) {
        try writing { try Keybag.write(.label, Array(label.utf8), $0) }
    }

    private func writtenSettings() throws(KeychainStoreError) -> [UInt8]? {
        try keybag()[.settings]
    }

    private func hash(_ settings: KeychainSettings, _ keys: borrowing KeyBundle) -> [UInt8]? {
        guard keys.kind == .whileUnlocked, let key = keys.key(0) else { return nil }
        return KeyedHash.hash(
            key: KeyedHash.secret(key: key, Array("keychain settings 1".utf8)),
            identifier + owner.bytes + settings.bytes, count: Self.hashBytes)
    }
}
