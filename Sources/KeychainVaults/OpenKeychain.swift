// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainItemStore

/// A keychain whose file is open; its keys may be there or not.
package struct OpenKeychain: Sendable {
    package let user: UInt32
    package let name: KeychainName
    package let path: String
    package let file: KeychainFile
}

/// A keychain's owner, and which of the owner's it is.
package struct KeychainID: Hashable, Sendable {
    package let user: UInt32
    package let name: KeychainName
}

extension OpenKeychain {
    package var id: KeychainID { KeychainID(user: user, name: name) }
    /// The machine's, which no login opens.
    package var isSystem: Bool { name == .system }
    /// In answers to who named none: most items are in the login keychain, and don't say so.
    package var nameToTell: String? { name == .login ? nil : name.description }
}
