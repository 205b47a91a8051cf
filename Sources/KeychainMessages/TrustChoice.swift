// SPDX-License-Identifier: Apache-2.0

/// What a user can say to a program that asks for an item of another one.
package enum TrustChoice: String, Sendable, Hashable, CaseIterable {
    case deny
    /// For this request.
    case once
    /// Until the login ends or the keychain is locked.
    case session
    /// Written into the item.
    case always
}
