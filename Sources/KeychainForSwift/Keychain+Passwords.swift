// SPDX-License-Identifier: Apache-2.0

/// For programs that keep a password here and there.
extension Keychain {
    /// Keeps the password, in place of the one that may be there.
    public static func setPassword(
        _ password: String, forService service: String, account: String
    ) async throws(KeychainError) {
        try await Keychain(service: service).set(password, for: account)
    }

    /// nil where there is none.
    public static func password(
        forService service: String, account: String
    ) async throws(KeychainError) -> String? {
        try await Keychain(service: service).find(account)
    }

    /// Says whether there was one.
    @discardableResult
    public static func deletePassword(
        forService service: String, account: String
    ) async throws(KeychainError) -> Bool {
        try await Keychain(service: service).remove(account)
    }
}
