// SPDX-License-Identifier: Apache-2.0
import Foundation
import Security

/// A status that is none of those that `PasswordStore` has an answer for.
public struct PasswordError: Error, Equatable, CustomStringConvertible {
    public let status: OSStatus

    public var description: String {
        SecCopyErrorMessageString(status, nil) as String? ?? "OSStatus \(status)"
    }

    static func check(_ status: OSStatus) throws {
        guard status == errSecSuccess else { throw PasswordError(status: status) }
    }
}
