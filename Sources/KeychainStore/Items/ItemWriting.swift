// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import GRDB
internal import KeychainModel
internal import Secrets

/// An item as it will lie in the file: sealed before any transaction begins to wait for the disk.
struct WrittenItem {
    let reference: ItemReference
    let record: AttributeRecord
    let generation: Int64
    let attributes: [UInt8]
    let secret: [UInt8]?
    let keyIndex: [UInt8]
    let tokens: Set<Int64>

    var accessible: Accessibility { record.accessControl.protection }

    /// Throws `.locked` where a key that it takes is not there.
    init(
        _ reference: ItemReference, _ record: AttributeRecord, generation: Int64,
        secret: HeldSecret?, keychain: [UInt8], _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) {
        let accessible = record.accessControl.protection
        guard let classKey = keys.classKey(accessible),
            let indexKey = keys.indexKey(IndexFamily(accessible))
        else { throw .locked }
        var record = record
        record.hasSecret = secret != nil
        let place = ItemPlace(
            keychain: keychain, reference: reference, accessible: accessible,
            generation: generation)
        let index = ItemIndex(record, reference.itemClass, indexKey)
        self.reference = reference
        self.record = record
        self.generation = generation
        tokens = index.tokens
        keyIndex = index.keyIndex
        attributes = try place.seal(record, classKey)
        if let secret {
            self.secret = try place.sealSecret(
                secret.bytes, record.accessControl, keys.secretKey(record.accessControl))
        } else {
            self.secret = nil
        }
    }

    var found: SealedItem {
        SealedItem(
            reference: reference, generation: generation, record: record,
            secret: secret.map(SealedSecret.here) ?? .none, matcher: nil)
    }

    func insert(_ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO item
                (identifier, class, accessible, generation, keyIndex, attributes, secret)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(
            arguments: [
                Data(reference.identifier), reference.itemClass.rawValue, accessible.rawValue,
                generation, Data(keyIndex), Data(attributes), secret.map { Data($0) },
            ])
        try ItemRow.addTokens(tokens, to: database.lastInsertedRowID, database)
    }

    /// In the place of the row that the item has.
    func replace(_ row: Int64, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                UPDATE item SET accessible = ?, generation = ?, keyIndex = ?, attributes = ?,
                secret = ? WHERE id = ?
                """)
        try statement.execute(
            arguments: [
                accessible.rawValue, generation, Data(keyIndex), Data(attributes),
                secret.map { Data($0) }, row,
            ])
        let old = try ItemRow.tokens(of: row, database)
        try ItemRow.removeTokens(old.subtracting(tokens), of: row, database)
        try ItemRow.addTokens(tokens.subtracting(old), to: row, database)
    }
}

extension ItemRow {
    static func tokens(of row: Int64, _ database: Database) throws -> Set<Int64> {
        let statement = try database.cachedStatement(
            sql: "SELECT token FROM token WHERE item = ?")
        return try Int64.fetchSet(statement, arguments: [row])
    }

    static func keyIndex(of row: Int64, _ database: Database) throws -> [UInt8] {
        let statement = try database.cachedStatement(sql: "SELECT keyIndex FROM item WHERE id = ?")
        return try Data.fetchOne(statement, arguments: [row]).map { [UInt8]($0) } ?? []
    }

    static func row(withKeyIndex index: [UInt8], _ database: Database) throws -> Int64? {
        let statement = try database.cachedStatement(sql: "SELECT id FROM item WHERE keyIndex = ?")
        return try Int64.fetchOne(statement, arguments: [Data(index)])
    }

    static func setKeyIndex(_ index: [UInt8], of row: Int64, _ database: Database) throws {
        try database.cachedStatement(sql: "UPDATE item SET keyIndex = ? WHERE id = ?")
            .execute(arguments: [Data(index), row])
    }

    static func addTokens(_ tokens: Set<Int64>, to row: Int64, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "INSERT INTO token (token, item) VALUES (?, ?)")
        for token in tokens { try statement.execute(arguments: [token, row]) }
    }

    static func removeTokens(_ tokens: Set<Int64>, of row: Int64, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: "DELETE FROM token WHERE token = ? AND item = ?")
        for token in tokens { try statement.execute(arguments: [token, row]) }
    }

    static func delete(_ row: Int64, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM token WHERE item = ?")
            .execute(arguments: [row])
        try database.cachedStatement(sql: "DELETE FROM item WHERE id = ?")
            .execute(arguments: [row])
    }
}
