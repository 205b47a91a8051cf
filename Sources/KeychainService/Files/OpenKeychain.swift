// SPDX-License-Identifier: Apache-2.0
public import KeychainModel
public import KeychainStore

/// A keychain whose file is open; its keys may be there or not.
public struct OpenKeychain: Sendable {
    public let user: UInt32
    public let name: KeychainName
    public let path: String
    public let file: KeychainFile
}

/// Whose keychain, and which of his.
struct KeychainPlace: Hashable, Sendable {
    let user: UInt32
    let name: KeychainName
}

extension OpenKeychain {
    var place: KeychainPlace { KeychainPlace(user: user, name: name) }
    /// The machine's, which no login opens.
    var isSystem: Bool { name == .system }
    /// In answers to who named none: most items are in the login keychain, and don't say so.
    var nameToTell: String? { name == .login ? nil : name.description }
}
