// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// One keychain by its name, for `kSecMatchSearchList` and `kSecUseKeychain`.
public final class SecKeychain: NSObject, @unchecked Sendable {
    let name: String

    init(_ name: KeychainName) { self.name = name.description }

    public override var hash: Int { name.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        guard let other = other as? SecKeychain else { return false }
        return name == other.name
    }
}

/// One of the user's keychains by its name, or the machine's: `system`, which Apple calls `System`.
/// Only the last part of a path counts, as the service decides where keychains are stored. Whether
/// the keychain exists is only checked when it is used.
@discardableResult
public func SecKeychainOpen(
    _ pathName: UnsafePointer<CChar>, _ keychain: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    // Safe: the caller passes a text that ends with a zero.
    let file = NSString(string: unsafe String(cString: pathName)).lastPathComponent
    let suffixes = [".keychain-db", ".keychain"]
    let suffix = suffixes.first { file.hasSuffix($0) } ?? ""
    guard let name = KeychainName(String(file.dropLast(suffix.count))) else { return errSecParam }
    // Safe: the caller's own variable for the answer.
    unsafe keychain.pointee = SecKeychain(name.description == "System" ? .system : name)
    return errSecSuccess
}

/// The path of the keychain's file, with a zero at the end. `ioPathLength` has the size of the
/// buffer in bytes, and gets the length of the path; returns errSecBufferTooSmall where the buffer
/// is too small.
@discardableResult
public func SecKeychainGetPath(
    _ keychain: SecKeychain?, _ ioPathLength: UnsafeMutablePointer<UInt32>,
    _ pathName: UnsafeMutablePointer<CChar>
) -> OSStatus {
    let path: String
    do throws(RequestError) { path = try UserKeychains.state(of: keychain).path } catch {
        return error.status
    }
    let bytes = path.utf8.map { CChar(bitPattern: $0) } + [0]
    // Safe: the caller's own variable for the answer, with as much room as it says.
    let room = unsafe Int(ioPathLength.pointee)
    unsafe ioPathLength.pointee = UInt32(bytes.count - 1)
    guard bytes.count <= room else { return errSecBufferTooSmall }
    unsafe pathName.update(from: bytes, count: bytes.count)
    return errSecSuccess
}

/// The keychain in which an item was found.
@discardableResult
public func SecKeychainItemCopyKeychain(
    _ itemRef: SecKeychainItem, _ keychain: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    guard let name = KeychainName(itemRef.keychain) else { return errSecInvalidItemRef }
    // Safe: the caller's own variable for the answer.
    unsafe keychain.pointee = SecKeychain(name)
    return errSecSuccess
}
