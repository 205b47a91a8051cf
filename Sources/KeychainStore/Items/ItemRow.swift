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
    /// Room that was taken for large attributes; the item that is made of the row holds it too.
    let room: (any AnyObject & Sendable)?

    /// Larger secrets are read only when they are opened.
    private static let largestReadAlong = 4096
    /// Larger attributes are read only after room was taken for them.
    static let largestUncounted = 16 * 1024
    private static let columns = """
        id, identifier, class, accessible, generation, length(attributes),
        CASE WHEN length(attributes) <= \(largestUncounted) THEN attributes END, secret IS NULL,
        CASE WHEN length(secret) <= \(largestReadAlong) THEN secret END
        """
    private static let byRow = "SELECT \(columns) FROM item WHERE id = ?"
    static let byIdentifier = "SELECT \(columns) FROM item WHERE identifier = ?"

    private init(
        _ row: Row, _ file: KeychainFile, _ database: Database, waits: Bool
    ) throws {
        self.row = row[0]
        let identifier: Data = row[1]
        if let attributes = row[6] as Data? {
            self.attributes = [UInt8](attributes)
            room = nil
        } else {
            room = try file.memory?.takeAttributes(row[5], waits: waits)
            attributes = try Self.largeAttributes(row[0], database)
        }
        if row[7] as Bool {
            secret = .none
        } else if let sealed = row[8] as Data? {
            secret = .here([UInt8](sealed))
        } else {
            secret = .inFile
        }
        guard let itemClass = UInt8(exactly: row[2] as Int64).flatMap(ItemClass.init(rawValue:)),
            let accessible = UInt8(exactly: row[3] as Int64).flatMap(Accessibility.init(rawValue:)),
            let reference = ItemReference(itemClass: itemClass, identifier: [UInt8](identifier))
        else {
            place = nil
            return
        }
        place = ItemPlace(
            keychain: file.identifier, reference: reference, accessible: accessible,
            generation: row[4])
    }

    private static func largeAttributes(_ row: Int64, _ database: Database) throws -> [UInt8] {
        let statement = try database.cachedStatement(
            sql: "SELECT attributes FROM item WHERE id = ?")
        return try Data.fetchOne(statement, arguments: [row]).map { [UInt8]($0) } ?? []
    }

    /// Throws `.noRoom` where the memory for its attributes is not there, after a while where `waits`.
    static func fetch(
        _ row: Int64, _ file: KeychainFile, _ database: Database, waits: Bool = true
    ) throws -> ItemRow? {
        let statement = try database.cachedStatement(sql: byRow)
        // Read where SQLite has it: a row of a result of its own would be copied.
        let rows = try Row.fetchCursor(statement, arguments: [row])
        return try rows.next().map { try ItemRow($0, file, database, waits: waits) }
    }

    static func fetch(
        _ reference: ItemReference, _ file: KeychainFile, _ database: Database
    ) throws -> ItemRow? {
        let statement = try database.cachedStatement(sql: byIdentifier)
        return try Row.fetchOne(statement, arguments: [Data(reference.identifier)])
            .map { try ItemRow($0, file, database, waits: true) }
    }

    /// The one behind the given row.
    static func next(after row: Int64, _ file: KeychainFile, _ database: Database) throws
        -> ItemRow?
    {
        let statement = try database.cachedStatement(
            sql: "SELECT \(columns) FROM item WHERE id > ? ORDER BY id LIMIT 1")
        return try Row.fetchOne(statement, arguments: [row])
            .map { try ItemRow($0, file, database, waits: true) }
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
                secret: secret, matcher: nil, attributeBytes: attributes.count, room: room))
    }
}

extension SealedSecret {
    var exists: Bool {
        if case .none = self { return false }
        return true
    }
}
