// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import GRDB
internal import Secrets

/// The rows that say whose keychain it is and that wrap its keys.
///
/// Each value ends with an unkeyed fingerprint, so that damage is told from a wrong password. It
/// proves nothing against an attacker: the wraps' own authentication does.
struct Keybag {
    enum Entry: String {
        case identifier
        case owner
        /// The master key under the password.
        case passwordProtector
        /// The master key under the device key.
        case deviceProtector
        /// dk, dku and their index key, under the device key.
        case always
        /// ck, cku and the index key, under the master key.
        case afterFirstUnlock
        /// ak and aku, under the master key.
        case whileUnlocked
        /// akpu, under the password and the device secret.
        case passcode
    }

    static let identifierBytes = 16
    private static let fingerprintBytes = 16

    let identifier: [UInt8]
    let owner: KeychainOwner
    private let entries: [String: [UInt8]]

    init(_ database: Database) throws {
        var entries: [String: [UInt8]] = [:]
        let rows = try Row.fetchCursor(
            database, sql: "SELECT name, value FROM keybag LIMIT 32")
        while let row = try rows.next() {
            let name: String = row["name"]
            entries[name] = try Self.checked([UInt8](row["value"] as Data))
        }
        self.entries = entries
        guard let identifier = entries[Entry.identifier.rawValue],
            identifier.count == Self.identifierBytes,
            let bytes = entries[Entry.owner.rawValue], let owner = KeychainOwner(bytes: bytes)
        else { throw KeychainStoreError.damaged }
        self.identifier = identifier
        self.owner = owner
    }

    subscript(_ entry: Entry) -> [UInt8]? { entries[entry.rawValue] }

    /// A value that this kind of keychain can't be without.
    func required(_ entry: Entry) throws(KeychainStoreError) -> [UInt8] {
        guard let value = self[entry] else { throw .damaged }
        return value
    }

    static func write(_ entry: Entry, _ value: [UInt8], _ database: Database) throws {
        let whole = value + KeyedHash.fingerprint(value, count: fingerprintBytes)
        try database.execute(
            sql: "INSERT OR REPLACE INTO keybag (name, value) VALUES (?, ?)",
            arguments: [entry.rawValue, Data(whole)])
    }

    static func remove(_ entry: Entry, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM keybag WHERE name = ?", arguments: [entry.rawValue])
    }

    static func has(_ entry: Entry, _ database: Database) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM keybag WHERE name = ?)")
        return try Bool.fetchOne(statement, arguments: [entry.rawValue]) ?? false
    }

    /// Whose items these are; without looking at the rest.
    static func identifier(_ database: Database) throws -> [UInt8] {
        let statement = try database.cachedStatement(
            sql: "SELECT value FROM keybag WHERE name = ?")
        guard
            let whole = try Data.fetchOne(statement, arguments: [Entry.identifier.rawValue])
        else { throw KeychainStoreError.damaged }
        return try checked([UInt8](whole))
    }

    private static func checked(_ whole: [UInt8]) throws(KeychainStoreError) -> [UInt8] {
        guard whole.count >= fingerprintBytes else { throw .damaged }
        let value = Array(whole.dropLast(fingerprintBytes))
        guard
            KeyedHash.fingerprint(value, count: fingerprintBytes)
                .elementsEqual(whole.suffix(fingerprintBytes))
        else { throw .damaged }
        return value
    }
}
