// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel
internal import KeychainStatusCodes

/// Runs one of the calls and says how it went. The caller's variable is changed only where the call
/// succeeds.
func status(
    of call: () throws(RequestError) -> CFTypeRef?, into result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    do {
        let object = try call()
        // Safe: the caller's own variable for the answer.
        unsafe result?.pointee = object
        return errSecSuccess
    } catch {
        return error.status
    }
}

/// What was made, or nil with the refusal told in `error`.
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
    /// Foundation can't bridge an enum to a caught `NSError` here, so that a real one is made.
    convenience init(status: OSStatus) {
        self.init(
            domain: NSOSStatusErrorDomain, code: Int(status),
            userInfo: [NSLocalizedDescriptionKey: StatusMessages.text(for: status)])
    }
}
