// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import GRDB
internal import KeychainModel

/// An item as it lies in the file.
struct ItemRow {
    let row: Int64
    /// nil where the columns make no sense: the row is damaged.
    let place: ItemPlace?
    let attributes: [UInt8]
    let secret: SealedSecret

    /// Larger secrets are read only when they are opened.
    private static let largestReadAlong = 4096
    private static let columns = """
        id, identifier, class, accessible, generation, attributes, secret IS NULL,
        CASE WHEN length(secret) <= \(largestReadAlong) THEN secret END
        """
    private static let byRow = "SELECT \(columns) FROM item WHERE id = ?"
    static let byIdentifier = "SELECT \(columns) FROM item WHERE identifier = ?"

    /// A column may hold anything in a file that others have written: what is no such value is a
    /// damaged row, and no trap.
    private init(_ row: Row, _ keychain: [UInt8]) throws {
        self.row = try row.decode(Int64.self, atIndex: 0)
        attributes = row.blob(5) ?? []
        if try row.decode(Bool.self, atIndex: 6) {
            secret = .none
        } else if let sealed = row.blob(7) {
            secret = .here(sealed)
        } else {
            secret = .inFile
        }
        guard let itemClass = row.byte(2).flatMap(ItemClass.init(rawValue:)),
            let accessible = row.byte(3).flatMap(Accessibility.init(rawValue:)),
            let generation = row.integer(4), ItemPlace.generations.contains(generation),
            let reference = row.blob(1).flatMap({
                ItemReference(itemClass: itemClass, identifier: $0)
            })
        else {
            place = nil
            return
        }
        place = ItemPlace(
            keychain: keychain, reference: reference, accessible: accessible,
            generation: generation)
    }

    static func fetch(_ row: Int64, _ keychain: [UInt8], _ database: Database) throws -> ItemRow? {
        let statement = try database.cachedStatement(sql: byRow)
        // Read where SQLite has it: a row of a result of its own would be copied.
        let rows = try Row.fetchCursor(statement, arguments: [row])
        guard let found = try rows.next() else { return nil }
        return try ItemRow(found, keychain)
    }

    static func fetch(
        _ reference: ItemReference, _ keychain: [UInt8], _ database: Database
    ) throws -> ItemRow? {
        let statement = try database.cachedStatement(sql: byIdentifier)
        return try Row.fetchOne(statement, arguments: [Data(reference.identifier)])
            .map { try ItemRow($0, keychain) }
    }

    /// The one behind the given row.
    static func next(after row: Int64, _ keychain: [UInt8], _ database: Database) throws -> ItemRow?
    {
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM item WHERE id > ? ORDER BY id LIMIT 1")
        return try Row.fetchOne(statement, arguments: [row]).map { try ItemRow($0, keychain) }
    }

    /// Rows of the references that exist, in the order they were added.
    static func rows(_ references: [ItemReference], _ database: Database) throws -> [Int64] {
        let statement = try database.cachedStatement(
            sql: "SELECT id FROM item WHERE identifier = ?")
        let rows = try Set(references).compactMap {
            try Int64.fetchOne(statement, arguments: [Data($0.identifier)])
        }
        return rows.sorted()
    }

    /// A secret that was not read along.
    static func secret(_ reference: ItemReference, _ database: Database) throws -> [UInt8]? {
        let statement = try database.cachedStatement(
            sql: "SELECT secret FROM item WHERE identifier = ?")
        return try Data.fetchOne(statement, arguments: [Data(reference.identifier)])
            .map { [UInt8]($0) }
    }

    /// Its length, without reading it; 0 where there is none.
    static func secretSize(_ reference: ItemReference, _ database: Database) throws -> Int {
        let statement = try database.cachedStatement(
            sql: "SELECT length(secret) FROM item WHERE identifier = ?")
        return try Int.fetchOne(statement, arguments: [Data(reference.identifier)]) ?? 0
    }

    /// Whether there is any item of these classes, whoever's.
    static func exists(
        _ itemClass: ItemClass, _ accessible: Accessibility, _ database: Database
    ) throws -> Bool {
        let statement = try database.cachedStatement(
            sql: "SELECT EXISTS (SELECT 1 FROM item WHERE class = ? AND accessible = ?)")
        return try Bool.fetchOne(
            statement, arguments: [itemClass.rawValue, accessible.rawValue]) ?? false
    }

    var sealedBytes: Int {
        guard case .here(let secret) = secret else { return attributes.count }
        return attributes.count + secret.count
    }

    enum Opened {
        case item(SealedItem)
        /// The class key is not there.
        case locked
        /// The class key is there, and what lies here does not open with it.
        case corrupt
    }

    func open(_ keys: borrowing ClassKeys) -> Opened {
        guard let place else { return .corrupt }
        guard let classKey = keys.classKey(place.accessible) else { return .locked }
        guard let record = try? place.openRecord(attributes, classKey),
            record.hasSecret == secret.exists
        else { return .corrupt }
        return .item(
            SealedItem(
                reference: place.reference, generation: place.generation, record: record,
                secret: secret, matcher: nil))
    }
}

extension Row {
    /// nil for NULL and for any other kind of value.
    fileprivate func blob(_ column: Int) -> [UInt8]? {
        (try? decode(Data?.self, atIndex: column)).map { [UInt8]($0) }
    }

    fileprivate func integer(_ column: Int) -> Int64? {
        try? decode(Int64?.self, atIndex: column)
    }

    fileprivate func byte(_ column: Int) -> UInt8? { integer(column).flatMap(UInt8.init(exactly:)) }
}

extension SealedSecret {
    var exists: Bool {
        if case .none = self { return false }
        return true
    }
}
