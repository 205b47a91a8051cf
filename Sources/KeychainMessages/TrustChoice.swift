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
    /// The program joins the item's access group, which is written into the keychain: it has all
    /// of the group's items as its own.
    case everything

    /// Whether it outlasts the login. Then it takes the keychain's password, in a window too.
    package var lasts: Bool {
        switch self {
        case .deny, .once, .session: false
        case .always, .everything: true
        }
    }
}
