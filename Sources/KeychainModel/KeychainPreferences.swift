// SPDX-License-Identifier: Apache-2.0

/// Which keychains a user's calls mean that name none.
public struct KeychainPreferences: Sendable, Equatable {
    /// Keychains of a search list.
    public static let mostSearched = 64

    /// Where new items go; nil is nowhere.
    public var defaultKeychain: KeychainName?
    /// In the order in which they are searched, each once.
    public var searchList: [KeychainName]
    /// Other names that programs know keychains by, as the Secret Service has them.
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

    /// Letters, digits and `_`, and none that means something by itself.
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

    /// Those of a user who said nothing.
    public static let standard = KeychainPreferences(
        defaultKeychain: .login, searchList: [.login, .system])
}

/// One of them, anew.
public enum KeychainPreferencesChange: Sendable, Equatable {
    /// nil: from now on there is none.
    case defaultKeychain(String?)
    case searchList([String])
    /// nil: it is none any more.
    case alias(String, keychain: String?)
}
