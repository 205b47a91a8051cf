// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// One keychain, for `kSecMatchSearchList`.
public final class SecKeychain: NSObject, @unchecked Sendable {
    /// nil is the login keychain, which is every program's default.
    let name: String?

    init(_ name: KeychainName) { self.name = name == .login ? nil : name.description }

    public override var hash: Int { name.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? SecKeychain else { return false }
        return name == other.name
    }
}

/// The keychain that calls use which name none: that of the login.
@discardableResult
public func SecKeychainCopyDefault(
    _ keychain: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    // Safe: the caller's own place for the answer.
    unsafe keychain.pointee = SecKeychain(.login)
    return errSecSuccess
}

/// A keychain of the user's by its name. Only the last part of a path counts, as keychains lie where
/// the service keeps them; whether it exists shows when it is used.
@discardableResult
public func SecKeychainOpen(
    _ pathName: UnsafePointer<CChar>, _ keychain: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    // Safe: the caller passes a text that ends with a zero.
    let file = NSString(string: unsafe String(cString: pathName)).lastPathComponent
    let suffixes = [".keychain-db", ".keychain"]
    let suffix = suffixes.first { file.hasSuffix($0) } ?? ""
    guard let name = KeychainName(String(file.dropLast(suffix.count))) else { return errSecParam }
    // Safe: the caller's own place for the answer.
    unsafe keychain.pointee = SecKeychain(name)
    return errSecSuccess
}
