// SPDX-License-Identifier: Apache-2.0
internal import Secrets

/// Seals keys for the keybag of one keychain of one owner. Moved to another keychain, to another
/// owner or to another place in the keybag, what it sealed does not open.
struct KeyWrap {
    let identifier: [UInt8]
    let owner: KeychainOwner

    func seal(
        _ keys: borrowing SecretBytes, for entry: Keybag.Entry, under key: borrowing SealingKey
    ) -> [UInt8] {
        key.derived(for: Self.purpose).seal(keys, context: context(entry))
    }

    /// nil when the key is another one.
    func open(
        _ sealed: some Collection<UInt8>, for entry: Keybag.Entry, under key: borrowing SealingKey
    ) -> SecretBytes? {
        try? key.derived(for: Self.purpose).open(Array(sealed), context: context(entry))
    }

    private static let purpose = "keychain keybag 1"

    private func context(_ entry: Keybag.Entry) -> [UInt8] {
        identifier + owner.bytes + [0] + Array(entry.rawValue.utf8)
    }
}
