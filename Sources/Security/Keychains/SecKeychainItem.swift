// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// A password that was found, to be named again in `kSecValueRef`. It holds no secret, and says
/// nothing of the item but which one it is.
public final class SecKeychainItem: NSObject, @unchecked Sendable {
    let reference: ItemReference
    /// The name of the keychain that it lies in.
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
