// SPDX-License-Identifier: Apache-2.0

/// For programs that store a single password now and then.
extension Keychain {
    /// Stores the password, and replaces a present one.
    public static func setPassword(
        _ password: String, forService service: String, account: String
    ) async throws(KeychainError) {
        try await Keychain(service: service).set(password, for: account)
    }

    /// The password; nil where there is none.
    public static func password(
        forService service: String, account: String
    ) async throws(KeychainError) -> String? {
        try await Keychain(service: service).find(account)
    }

    /// Returns whether there was a password to delete.
    @discardableResult
    public static func deletePassword(
        forService service: String, account: String
    ) async throws(KeychainError) -> Bool {
        try await Keychain(service: service).remove(account)
    }
}
