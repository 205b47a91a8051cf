// SPDX-License-Identifier: Apache-2.0

extension Keychain {
    /// Adds a value. Throws `errSecDuplicateItem` where the account has one.
    public func insert(
        _ value: some KeychainValue, for account: String
    ) async throws(KeychainError) {
        let secret = try value.checkedSecret()
        try await Waiting.run { () throws(KeychainError) in try add(secret, for: account) }
    }

    /// Adds a value, or replaces the present one and its protection.
    public func set(
        _ value: some KeychainValue, for account: String
    ) async throws(KeychainError) {
        let secret = try value.checkedSecret()
        try await Waiting.run { () throws(KeychainError) in try upsert(secret, for: account) }
    }

    /// The account's value; nil where it has none. Throws `errSecDecode` where it is of another
    /// type.
    public func find<Value: KeychainValue>(
        _ account: String, as type: Value.Type = Value.self
    ) async throws(KeychainError) -> Value? {
        let secret = try await Waiting.run { () throws(KeychainError) in
            try unlessMissing { () throws(KeychainError) in try copyMatching(account) }
        }
        guard let secret = secret ?? nil else { return nil }
        return try Value(checked: secret)
    }

    /// Replaces a value and keeps its protection. Throws `errSecItemNotFound` where there is none.
    public func update(
        _ value: some KeychainValue, for account: String
    ) async throws(KeychainError) {
        let secret = try value.checkedSecret()
        try await Waiting.run { () throws(KeychainError) in try change(secret, for: account) }
    }

    /// Returns whether there was a value to remove.
    @discardableResult
    public func remove(_ account: String) async throws(KeychainError) -> Bool {
        try await Waiting.run { () throws(KeychainError) in
            try unlessMissing { () throws(KeychainError) in try delete(account) } != nil
        }
    }

    /// Removes every item of the service; returns their number.
    @discardableResult
    public func removeAll() async throws(KeychainError) -> Int {
        try await Waiting.run { () throws(KeychainError) in
            try unlessMissing { () throws(KeychainError) in try delete(nil) } ?? 0
        }
    }

    /// Whether the account has a value. The user is never asked.
    public func contains(_ account: String) async throws(KeychainError) -> Bool {
        try await Waiting.run { () throws(KeychainError) in try has(account) }
    }

    /// Every item of the service, without the secrets. The user is asked once, where an item needs
    /// it.
    public func all() async throws(KeychainError) -> [Item] {
        try await Waiting.run { () throws(KeychainError) in
            try unlessMissing { () throws(KeychainError) in try items() } ?? []
        }
    }
}

private func unlessMissing<R>(
    _ call: () throws(KeychainError) -> R
) throws(KeychainError) -> R? {
    do { return try call() } catch {
        guard error.status == errSecItemNotFound else { throw error }
        return nil
    }
}
