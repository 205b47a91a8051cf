// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainMessages
internal import KeychainModel

/// The keychain for new items of calls that name none; returns errSecNoDefaultKeychain where the
/// user has none.
@discardableResult
public func SecKeychainCopyDefault(
    _ keychain: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    do throws(RequestError) {
        let byDefault = try UserKeychains.byDefault()
        // Safe: the caller's own variable for the answer.
        unsafe keychain.pointee = SecKeychain(byDefault)
        return errSecSuccess
    } catch { return error.status }
}

/// Makes another keychain the user's default; with nil there is none. The keychain must exist.
@discardableResult
public func SecKeychainSetDefault(_ keychain: SecKeychain?) -> OSStatus {
    UserKeychains.ask(Preferences(.defaultKeychain(keychain?.name)))
}

/// The keychains that calls search if they name none, in order. A query names others with
/// `kSecMatchSearchList`.
@discardableResult
public func SecKeychainCopySearchList(
    _ searchList: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    do throws(RequestError) {
        let list = try UserKeychains.preferences().searchList.map { SecKeychain($0) }
        // Safe: the caller's own variable for the answer.
        unsafe searchList.pointee = list as NSArray
        return errSecSuccess
    } catch { return error.status }
}

/// Sets the search list for all programs of the user. Keychains in it need not exist.
@discardableResult
public func SecKeychainSetSearchList(_ searchList: CFArray) -> OSStatus {
    guard let list = searchList as? [SecKeychain] else { return errSecParam }
    return UserKeychains.ask(Preferences(.searchList(list.map(\.name))))
}
