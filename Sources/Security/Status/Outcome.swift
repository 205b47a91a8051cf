// SPDX-License-Identifier: Apache-2.0
internal import Foundation
package import KeychainModel
internal import KeychainStatusCodes

/// Runs one of the calls and returns its status. The caller's variable is changed only where the
/// call succeeds.
func status(
    of call: () throws(RequestError) -> CFTypeRef?, into result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    do {
        let object = try call()
        // Safe: the caller's own variable for the answer.
        unsafe result?.pointee = object
        return errSecSuccess
    } catch {
        return error.statusOfItemCall
    }
}

extension RequestError {
    /// Item calls know keychains as one store, and no file that is not valid.
    package var statusOfItemCall: OSStatus {
        switch self {
        case .failed(.damaged), .failed(.keychainGone): errSecNotAvailable
        default: status
        }
    }
}

/// The object that `make` returns, or nil with the refusal in `error`.
func result<Object>(
    tellingIn error: UnsafeMutablePointer<Unmanaged<CFError>?>?,
    of make: () throws(RequestError) -> Object
) -> Object? {
    do {
        return try make()
    } catch let refusal {
        // Safe: the caller's own variable for an error; the caller releases it.
        unsafe error?.pointee = Unmanaged.passRetained(NSError(status: refusal.status))
        return nil
    }
}

extension NSError {
    /// Made by hand, as Foundation can't bridge an enum to a caught `NSError` here.
    convenience init(status: OSStatus) {
        self.init(
            domain: NSOSStatusErrorDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: StatusMessages.text(for: status)])
    }
}
