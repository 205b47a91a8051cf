// SPDX-License-Identifier: Apache-2.0

/// The keychains for a user's calls that name none.
public struct KeychainPreferences: Sendable, Equatable {
    /// The most keychains of a search list.
    public static let mostSearched = 64

    /// The keychain for new items; nil where they go nowhere.
    public var defaultKeychain: KeychainName?
    /// The keychains to search, in order, each once.
    public var searchList: [KeychainName]
    /// Other names for keychains, as the Secret Service has them.
    public var aliases: [String: KeychainName]

    public static let mostAliases = 32
    public static let longestAlias = 64

    public init(
        defaultKeychain: KeychainName?, searchList: [KeychainName],
        aliases: [String: KeychainName] = [:]
    ) {
        self.defaultKeychain = defaultKeychain
        self.searchList = searchList
        self.aliases = aliases
    }

    /// Letters, digits and `_`; names with a meaning of their own are no aliases.
    public static func isAlias(_ name: String) -> Bool {
        let known = ["default", "login", "session"]
        return (1...longestAlias).contains(name.utf8.count) && !known.contains(name)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// The preferences of a user who has set none.
    public static let standard = KeychainPreferences(
        defaultKeychain: .login, searchList: [.login, .system])
}

/// A change of one preference.
public enum KeychainPreferencesChange: Sendable, Equatable {
    /// nil removes the default keychain.
    case defaultKeychain(String?)
    case searchList([String])
    /// nil removes the alias.
    case alias(String, keychain: String?)
}
