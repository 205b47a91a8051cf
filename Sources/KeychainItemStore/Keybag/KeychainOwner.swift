// SPDX-License-Identifier: Apache-2.0

/// The owner of a keychain, by number and account name. Both must match before a file is used,
/// since a user number may be given to another account.
package struct KeychainOwner: Sendable, Equatable {
    package let user: UInt32
    package let account: String

    package init(user: UInt32, account: String) {
        self.user = user
        self.account = account
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.user == b.user && a.account.utf8.elementsEqual(b.account.utf8)
    }

    private static let userBytes = 4
    private static let longestAccount = 1024

    /// Four bytes of user number, little end first, then the account's name.
    var bytes: [UInt8] { user.littleEndianBytes + Array(account.utf8) }

    init?(bytes: [UInt8]) {
        guard (Self.userBytes...Self.longestAccount).contains(bytes.count),
            let account = String(validating: bytes.dropFirst(Self.userBytes), as: UTF8.self)
        else { return nil }
        self.init(
            user: UInt32(littleEndianBytes: bytes.prefix(Self.userBytes)), account: account)
    }
}
