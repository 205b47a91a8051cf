// SPDX-License-Identifier: Apache-2.0

/// The answers of a user about a program that asks for another program's item.
package enum TrustChoice: String, Sendable, Hashable, CaseIterable {
    case deny
    /// For this request.
    case once
    /// Until the login ends or the keychain is locked.
    case session
    /// Written into the item.
    case always
}
