// SPDX-License-Identifier: Apache-2.0
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// Bits of `SecKeychainGetStatus`.
public typealias SecKeychainStatus = UInt32
public let kSecUnlockStateStatus: SecKeychainStatus = 1
public let kSecReadPermStatus: SecKeychainStatus = 2
public let kSecWritePermStatus: SecKeychainStatus = 4

/// Makes a new keychain of the user's with a password of its own. The last part of the path is its
/// name.
///
/// The user is never asked: with `promptUser` the call returns errSecUnimplemented. `initialAccess`
/// has no effect, as each item has access control of its own.
@discardableResult
public func SecKeychainCreate(
    _ pathName: UnsafePointer<CChar>, _ passwordLength: UInt32, _ password: UnsafeRawPointer?,
    _ promptUser: Bool, _ initialAccess: SecAccess?,
    _ keychain: UnsafeMutablePointer<SecKeychain?>
) -> OSStatus {
    guard !promptUser else { return errSecUnimplemented }
    var made: SecKeychain?
    // Safe: the caller's text and this function's own variable.
    let opened = unsafe SecKeychainOpen(pathName, &made)
    guard opened == errSecSuccess, let made else { return opened }
    guard let secret = unsafe held(password, passwordLength) else { return errSecParam }
    let status = UserKeychains.ask(
        CreateKeychain(name: made.name, password: secret))
    // Safe: the caller's own variable for the answer.
    if status == errSecSuccess { unsafe keychain.pointee = made }
    return status
}

/// Unlocks a keychain with its password; the default keychain where none is named. Without
/// `usePassword` the call succeeds for an unlocked keychain, and returns
/// errSecInteractionNotAllowed for a locked one.
@discardableResult
public func SecKeychainUnlock(
    _ keychain: SecKeychain?, _ passwordLength: UInt32, _ password: UnsafeRawPointer?,
    _ usePassword: Bool
) -> OSStatus {
    guard usePassword else {
        do throws(RequestError) {
            let isOpen = try UserKeychains.state(of: keychain).lockState == .unlocked
            return isOpen ? errSecSuccess : errSecInteractionNotAllowed
        } catch { return error.status }
    }
    // Safe: the caller says that there are `passwordLength` bytes; they are copied.
    guard let secret = unsafe held(password, passwordLength) else { return errSecParam }
    do throws(RequestError) {
        return UserKeychains.ask(
            Unlock(keychain: try UserKeychains.name(keychain), password: secret))
    } catch { return error.status }
}

/// Locks the keychain's when-unlocked items.
@discardableResult
public func SecKeychainLock(_ keychain: SecKeychain?) -> OSStatus {
    do throws(RequestError) {
        return UserKeychains.ask(Lock(keychain: try UserKeychains.name(keychain)))
    } catch {
        return error.status
    }
}

/// Locks all of the user's keychains that have a password.
@discardableResult
public func SecKeychainLockAll() -> OSStatus {
    let keychains: [KeychainStatus]
    do throws(RequestError) { keychains = try UserKeychains.all() } catch { return error.status }
    let refused = keychains.filter { $0.problem == nil && $0.isPasswordProtected }
        .map { UserKeychains.ask(Lock(keychain: $0.name)) }
        .first { $0 != errSecSuccess }
    return refused ?? errSecSuccess
}

/// Whether the keychain is unlocked; the bits for reading and writing are always set.
@discardableResult
public func SecKeychainGetStatus(
    _ keychain: SecKeychain?, _ keychainStatus: UnsafeMutablePointer<SecKeychainStatus>
) -> OSStatus {
    do throws(RequestError) {
        let isOpen = try UserKeychains.state(of: keychain).lockState == .unlocked
        let usable = kSecReadPermStatus | kSecWritePermStatus
        // Safe: the caller's own variable for the answer.
        unsafe keychainStatus.pointee = isOpen ? usable | kSecUnlockStateStatus : usable
        return errSecSuccess
    } catch { return error.status }
}

/// Copies the password from the caller's memory into locked memory; nil where there is none.
private func held(_ password: UnsafeRawPointer?, _ count: UInt32) -> HeldSecret? {
    guard let password = unsafe password, Int(count) <= RequestLimits.longestPassword else {
        return nil
    }
    return HeldSecret(
        SecretBytes(count: Int(count)) { (span: inout MutableRawSpan) in
            // Safe: the caller says that so many bytes are there; the span has as many.
            unsafe span.withUnsafeMutableBytes {
                unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: password, count: $0.count))
            }
        })
}
