// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainSecrets

/// The rows that name the keychain's owner and wrap its keys.
///
/// Each value ends with an unkeyed fingerprint, so that damage is told from a wrong password. The
/// fingerprint proves nothing against an attacker; the wraps' own authentication does.
struct Keybag {
    enum Entry: String {
        case identifier
        case owner
        /// dk, dku and their index key, under the device key.
        case always
        /// ck, cku and the index key, under the master key.
        case afterFirstUnlock
        /// ak and aku, under the master key.
        case whileUnlocked
        /// When the keychain locks by itself: in clear, with a hash under ak.
        case settings
        /// The keychain's label for people: in clear.
        case label
        /// The groups that programs joined, under ck.
        case joined
    }

    static let identifierBytes = 16
    static let mostProtectors = 24
    /// The keychain's password, and one that a change or a login left beside it. Each costs a user
    /// who tries a wrong password one derivation.
    static let mostPasswords = 2
    /// All protectors, and one value for each entry.
    private static let mostRows = 32
    private static let fingerprintBytes = 16

    let identifier: [UInt8]
    let owner: KeychainOwner
    /// The oldest first.
    let protectors: [ProtectorRecord]
    private let entries: [String: [UInt8]]

    init(_ database: Connection) throws {
        var entries: [String: [UInt8]] = [:]
        var protectors: [ProtectorRecord] = []
        try database.forEach("SELECT name, value FROM keybag LIMIT \(Self.mostRows + 1)") { row in
            guard let name = row.text(0), let whole = row.blob(1) else {
                throw KeychainStoreError.damaged
            }
            let value = try Self.checked(whole)
            if name.hasPrefix(ProtectorRecord.namePrefix) {
                protectors.append(try ProtectorRecord(name: name, bytes: value))
            } else {
                entries[name] = value
            }
            return true
        }
        guard protectors.count <= Self.mostProtectors,
            protectors.count + entries.count <= Self.mostRows,
            protectors.filter({ $0.kind == .password }).count <= Self.mostPasswords
        else { throw KeychainStoreError.damaged }
        self.entries = entries
        self.protectors = protectors.sorted { ($0.made, $0.name) < ($1.made, $1.name) }
        guard let identifier = entries[Entry.identifier.rawValue],
            identifier.count == Self.identifierBytes,
            let bytes = entries[Entry.owner.rawValue], let owner = KeychainOwner(bytes: bytes)
        else { throw KeychainStoreError.damaged }
        self.identifier = identifier
        self.owner = owner
    }

    subscript(_ entry: Entry) -> [UInt8]? { entries[entry.rawValue] }

    /// Whether any protector opens the passcode-set class.
    func required(_ entry: Entry) throws(KeychainStoreError) -> [UInt8] {
        guard let value = self[entry] else { throw .damaged }
        return value
    }

    func protectors(_ kind: ProtectorRecord.Kind) -> [ProtectorRecord] {
        protectors.filter { $0.kind == kind }
    }

    /// Whether anything opens the passcode-set class.
    var hasPasscodeKey: Bool { protectors.contains { !$0.wrappedPasscode.isEmpty } }

    static func write(_ entry: Entry, _ value: [UInt8], _ database: Connection) throws {
        try write(entry.rawValue, value, database)
    }

    /// Replaces the rows of protectors, in the caller's transaction. Throws `.busy` unless they
    /// still are `before`.
    static func replace(
        _ before: [ProtectorRecord], with after: [ProtectorRecord], _ database: Connection
    ) throws {
        guard try Keybag(database).protectors == before else {
            // Another process has changed them while this one derived keys.
            throw KeychainStoreError.busy
        }
        guard after.count <= mostProtectors else { throw KeychainStoreError.tooLarge }
        for record in before where !after.contains(where: { $0.name == record.name }) {
            try database.run("DELETE FROM keybag WHERE name = ?", .text(record.name))
        }
        for record in after where !before.contains(record) { try write(record, database) }
    }

    static func write(_ protector: ProtectorRecord, _ database: Connection) throws {
        try write(protector.name, protector.bytes, database)
    }

    private static func write(_ name: String, _ value: [UInt8], _ database: Connection) throws {
        let whole = value + KeyedHash.fingerprint(value, count: fingerprintBytes)
        try database.run(
            "INSERT OR REPLACE INTO keybag (name, value) VALUES (?, ?)", .text(name),
            .blob(whole))
    }

    /// Whether there is a protector of that kind. Each request asks, so that only names are read.
    static func has(_ kind: ProtectorRecord.Kind, _ database: Connection) throws -> Bool {
        // A semicolon comes after the colon that ends the prefix.
        let prefix = ProtectorRecord.namePrefix(of: kind)
        return try database.exists(
            "SELECT 1 FROM keybag WHERE name >= ? AND name < ?", .text(prefix),
            .text(prefix.dropLast() + ";"))
    }

    /// The keychain's identifier, read without the other rows.
    static func identifier(_ database: Connection) throws -> [UInt8] {
        let whole = try database.first(valueOfName, .text(Entry.identifier.rawValue)) {
            $0.blob(0)
        }
        guard let whole else { throw KeychainStoreError.damaged }
        return try checked(whole)
    }

    /// One entry's value, read without the other rows.
    static func value(of entry: Entry, _ database: Connection) throws -> [UInt8]? {
        let whole = try database.first(valueOfName, .text(entry.rawValue)) { $0.blob(0) }
        return try whole.map { try checked($0) }
    }

    private static let valueOfName = Query("SELECT value FROM keybag WHERE name = ?")

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
