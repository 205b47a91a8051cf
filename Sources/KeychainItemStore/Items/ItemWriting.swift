// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel
internal import KeychainSecrets

/// An item ready for the file: sealed before any transaction begins to wait for the disk.
struct WrittenItem {
    let reference: ItemReference
    let record: AttributeRecord
    let generation: Int64
    let attributes: [UInt8]
    let secret: [UInt8]?
    let keyIndex: [UInt8]
    let tokens: Set<Int64>

    var accessible: Accessibility { record.accessControl.protection }

    /// Throws `.locked` where a key that sealing needs is missing.
    init(
        _ reference: ItemReference, _ record: AttributeRecord, generation: Int64,
        secret: HeldSecret?, keychain: [UInt8], _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) {
        let accessible = record.accessControl.protection
        var record = record
        record.hasSecret = secret != nil
        let context = SealContext(
            keychain: keychain, reference: reference, accessible: accessible,
            generation: generation)
        let index = keys.withIndexKey(IndexFamily(accessible)) {
            ItemIndex(record, reference, $0)
        }
        let attributes = try keys.withClassKey(accessible) {
            key throws(KeychainStoreError) in try context.seal(record, key)
        }
        guard let index, let attributes else { throw .locked }
        self.reference = reference
        self.record = record
        self.generation = generation
        tokens = index.tokens
        keyIndex = index.keyIndex
        self.attributes = attributes
        guard let secret else {
            self.secret = nil
            return
        }
        self.secret = try keys.withSecretKey(record.accessControl) {
            key throws(KeychainStoreError) in
            try context.sealSecret(secret.bytes, record.accessControl, key)
        }
    }

    var found: SealedItem {
        SealedItem(
            reference: reference, generation: generation, record: record,
            secret: secret.map(SealedSecret.here) ?? .none, matcher: nil)
    }

    private static let insertion = Query(
        """
        INSERT INTO item
        (identifier, class, accessible, generation, keyIndex, tokens, attributes, secret)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """)

    func insert(_ database: Connection) throws {
        try database.run(
            Self.insertion, .blob(reference.identifier),
            .integer(Int64(reference.itemClass.rawValue)),
            .integer(Int64(accessible.rawValue)), .integer(generation), .blob(keyIndex),
            .blob(TokenList.bytes(tokens)), .blob(attributes),
            secret.map(Value.blob) ?? .null)
        try ItemRow.addTokens(tokens, to: database.lastInsertedRow, database)
    }

    /// Replaces the item's row.
    func replace(_ row: Int64, _ database: Connection) throws {
        let old = try ItemRow.tokens(of: row, database)
        try database.run(
            """
            UPDATE item SET accessible = ?, generation = ?, keyIndex = ?, tokens = ?,
            attributes = ?, secret = ? WHERE id = ?
            """, .integer(Int64(accessible.rawValue)), .integer(generation), .blob(keyIndex),
            .blob(TokenList.bytes(tokens)), .blob(attributes),
            secret.map(Value.blob) ?? .null, .integer(row))
        try ItemRow.removeTokens(old.subtracting(tokens), of: row, database)
        try ItemRow.addTokens(tokens.subtracting(old), to: row, database)
    }
}

extension ItemRow {
    /// The index entries that the row lists.
    static func tokens(of row: Int64, _ database: Connection) throws -> Set<Int64> {
        TokenList.tokens(
            try database.first("SELECT tokens FROM item WHERE id = ?", .integer(row)) {
                $0.blob(0)
            } ?? [])
    }

    static func setTokens(
        _ tokens: Set<Int64>, of row: Int64, _ database: Connection
    ) throws {
        try database.run(
            "UPDATE item SET tokens = ? WHERE id = ?", .blob(TokenList.bytes(tokens)),
            .integer(row))
    }

    static func isFound(
        _ row: Int64, under token: Int64, _ database: Connection
    ) throws -> Bool {
        try database.exists(
            "SELECT 1 FROM token WHERE token = ? AND item = ?", .integer(token), .integer(row))
    }

    static func keyIndex(of row: Int64, _ database: Connection) throws -> [UInt8] {
        try database.first("SELECT keyIndex FROM item WHERE id = ?", .integer(row)) {
            $0.blob(0)
        } ?? []
    }

    static func row(withKeyIndex index: [UInt8], _ database: Connection) throws -> Int64? {
        try database.first(byKeyIndex, .blob(index)) { $0.integer(0) }
    }

    private static let byKeyIndex = Query("SELECT id FROM item WHERE keyIndex = ?")

    static func setKeyIndex(_ index: [UInt8], of row: Int64, _ database: Connection) throws {
        try database.run("UPDATE item SET keyIndex = ? WHERE id = ?", .blob(index), .integer(row))
    }

    static func addTokens(_ tokens: Set<Int64>, to row: Int64, _ database: Connection) throws {
        for token in tokens {
            try database.run(tokenInsertion, .integer(token), .integer(row))
        }
    }

    private static let tokenInsertion = Query(
        "INSERT OR IGNORE INTO token (token, item) VALUES (?, ?)")

    static func removeTokens(_ tokens: Set<Int64>, of row: Int64, _ database: Connection) throws {
        for token in tokens {
            try database.run(
                "DELETE FROM token WHERE token = ? AND item = ?", .integer(token), .integer(row))
        }
    }

    static func delete(_ row: Int64, _ database: Connection) throws {
        try removeTokens(tokens(of: row, database), of: row, database)
        try database.run("DELETE FROM item WHERE id = ?", .integer(row))
    }
}
