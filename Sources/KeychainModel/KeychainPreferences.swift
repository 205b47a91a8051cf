// SPDX-License-Identifier: Apache-2.0

/// Which keychains a user's calls mean that name none.
public struct KeychainPreferences: Sendable, Equatable {
    /// Keychains of a search list.
    public static let mostSearched = 64

    /// Where new items go; nil is nowhere.
    public var defaultKeychain: KeychainName?
    /// In the order in which they are searched, each once.
    public var searchList: [KeychainName]

    public init(defaultKeychain: KeychainName?, searchList: [KeychainName]) {
        self.defaultKeychain = defaultKeychain
        self.searchList = searchList
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
}
