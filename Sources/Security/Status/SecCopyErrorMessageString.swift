// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainStatusCodes

/// The meaning of a status, as a sentence for people.
public func SecCopyErrorMessageString(
    _ status: OSStatus, _ reserved: UnsafeMutableRawPointer?
) -> CFString? {
    StatusMessages.text(for: status) as NSString
}
