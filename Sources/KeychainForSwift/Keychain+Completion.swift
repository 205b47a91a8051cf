// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The same calls for code that is not asynchronous. Handlers are called on a thread of the
/// keychain's, and should not block it.
extension Keychain {
    /// Whether the call succeeded, the found data, and Apple's status.
    public typealias Completion =
        @Sendable (
            _ success: Bool, _ data: Data?, _ status: OSStatus
        ) -> Void

    /// Adds data. Reports `errSecDuplicateItem` where the account has some.
    public func insert(
        _ data: Data, for account: String, completion: @escaping Completion
    ) {
        report(to: completion) { () throws(KeychainError) in
            try add(data.keychainSecret(), for: account)
            return nil
        }
    }

    /// Adds data, or replaces the present data and its protection.
    public func set(_ data: Data, for account: String, completion: @escaping Completion) {
        report(to: completion) { () throws(KeychainError) in
            try upsert(data.keychainSecret(), for: account)
            return nil
        }
    }

    /// Reports the account's data, or `errSecItemNotFound`.
    public func find(_ account: String, completion: @escaping Completion) {
        report(to: completion) { () throws(KeychainError) in
            try copyMatching(account).map(Data.init(keychainSecret:))
        }
    }

    /// Replaces data and keeps its protection. Reports `errSecItemNotFound` where there is none.
    public func update(
        _ data: Data, for account: String, completion: @escaping Completion
    ) {
        report(to: completion) { () throws(KeychainError) in
            try change(data.keychainSecret(), for: account)
            return nil
        }
    }

    /// Removes the data. Reports `errSecItemNotFound` where there is none.
    public func remove(_ account: String, completion: @escaping Completion) {
        report(to: completion) { () throws(KeychainError) in
            _ = try delete(account)
            return nil
        }
    }

    private func report(
        to completion: @escaping Completion,
        _ call: @escaping @Sendable () throws(KeychainError) -> Data?
    ) {
        Waiting.begin {
            do throws(KeychainError) {
                completion(true, try call(), errSecSuccess)
            } catch {
                completion(false, nil, error.status)
            }
        }
    }
}
