// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// A reference to a password that was found, for `kSecValueRef`. It holds no secret, and no facts
/// of the item but its identity.
public final class SecKeychainItem: NSObject, @unchecked Sendable {
    let reference: ItemReference
    /// The name of the item's keychain.
    let keychain: String

    init(_ reference: ItemReference, in keychain: String) {
        self.reference = reference
        self.keychain = keychain
    }

    public override var hash: Int { reference.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? SecKeychainItem else { return false }
        return reference == other.reference && keychain == other.keychain
    }
}
