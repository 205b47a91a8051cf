// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel

/// Runs one of the calls and says how it went. What the caller's pointer leads to is changed only
/// where the call succeeds.
func status(
    of call: () throws(Refusal) -> CFTypeRef?, into result: UnsafeMutablePointer<CFTypeRef?>?
) -> OSStatus {
    do {
        let object = try call()
        // Safe: the caller's own place for the answer.
        unsafe result?.pointee = object
        return errSecSuccess
    } catch {
        return error.status
    }
}
