// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Seals keys for the keybag of one keychain of one owner. A sealed key that is moved to another
/// keychain, owner or keybag entry does not open.
struct KeyWrap {
    let identifier: [UInt8]
    let owner: KeychainOwner

    func seal(
        _ keys: borrowing SecretBytes, for entry: Keybag.Entry, under key: borrowing SealingKey
    ) -> [UInt8] {
        seal(keys, for: Array(entry.rawValue.utf8), under: key)
    }

    /// Returns nil where the key is another one.
    func open(
        _ sealed: [UInt8], for entry: Keybag.Entry, under key: borrowing SealingKey
    ) -> SecretBytes? {
        open(sealed, for: Array(entry.rawValue.utf8), under: key)
    }

    /// Seals keys for a protector, whose name and facts (`label`) are authenticated with them.
    func seal(
        _ keys: borrowing SecretBytes, for label: [UInt8], under key: borrowing SealingKey
    ) -> [UInt8] {
        key.derived(for: Self.purpose).seal(keys, context: context(label))
    }

    func open(
        _ sealed: [UInt8], for label: [UInt8], under key: borrowing SealingKey
    ) -> SecretBytes? {
        try? key.derived(for: Self.purpose).open(sealed, context: context(label))
    }

    private static let purpose = "keychain keybag 1"

    private func context(_ label: [UInt8]) -> [UInt8] { identifier + owner.bytes + [0] + label }
}
