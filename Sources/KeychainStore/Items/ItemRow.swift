// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainDatabase
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
        id, identifier, class, accessible, generation, attributes, 
        CASE WHEN secret IS NULL THEN NULL ELSE 1 END,
        CASE WHEN length(secret) <= \(largestReadAlong) THEN secret END
        """
    private static let byRow = "SELECT \(columns) FROM item WHERE id = ?"
    static let byIdentifier = "SELECT \(columns) FROM item WHERE identifier = ?"

    private init(_ row: borrowing Row, _ keychain: [UInt8]) throws {
        guard let number = row.integer(0) else { throw DatabaseError.wrongType }
        self.row = number
        attributes = row.blob(5) ?? []
        if row.isNull(6) {
            secret = .none
        } else if let sealed = row.blob(7) {
            secret = .here(sealed)
        } else {
            secret = .inFile
        }
        guard
            let itemClass = row.integer(2).flatMap(UInt8.init(exactly:))
                .flatMap(ItemClass.init(rawValue:)),
            let accessible = row.integer(3).flatMap(UInt8.init(exactly:))
                .flatMap(Accessibility.init(rawValue:)),
            let identifier = row.blob(1), let generation = row.integer(4),
            let reference = ItemReference(itemClass: itemClass, identifier: identifier)
        else {
            place = nil
            return
        }
        place = ItemPlace(
            keychain: keychain, reference: reference, accessible: accessible,
            generation: generation)
    }

    static func fetch(_ row: Int64, _ keychain: [UInt8], _ database: Connection) throws -> ItemRow?
    {
        try database.first(byRow, .integer(row)) { try ItemRow($0, keychain) }
    }

    static func fetch(
        _ reference: ItemReference, _ keychain: [UInt8], _ database: Connection
    ) throws -> ItemRow? {
        try database.first(byIdentifier, .blob(reference.identifier)) {
            try ItemRow($0, keychain)
        }
    }

    /// The one behind the given row.
    static func next(after row: Int64, _ keychain: [UInt8], _ database: Connection) throws
        -> ItemRow?
    {
        try database.first(
            "SELECT \(columns) FROM item WHERE id > ? ORDER BY id LIMIT 1", .integer(row)
        ) { try ItemRow($0, keychain) }
    }

    /// Rows of the references that exist, in the order they were added.
    static func rows(_ references: [ItemReference], _ database: Connection) throws -> [Int64] {
        let rows = try Set(references).compactMap { reference in
            try database.first(
                "SELECT id FROM item WHERE identifier = ?", .blob(reference.identifier)
            ) { $0.integer(0) }
        }
        return rows.sorted()
    }

    /// A secret that was not read along.
    static func secret(_ reference: ItemReference, _ database: Connection) throws -> [UInt8]? {
        try database.first(
            "SELECT secret FROM item WHERE identifier = ?", .blob(reference.identifier)
        ) { $0.blob(0) }
    }

    /// Its length, without reading it; 0 where there is none.
    static func secretSize(_ reference: ItemReference, _ database: Connection) throws -> Int {
        let size = try database.first(
            "SELECT length(secret) FROM item WHERE identifier = ?", .blob(reference.identifier)
        ) { $0.integer(0) }
        return size.map(Int.init(clamping:)) ?? 0
    }

    /// Whether there is any item of these classes, whoever's.
    static func exists(
        _ itemClass: ItemClass, _ accessible: Accessibility, _ database: Connection
    ) throws -> Bool {
        try database.exists(
            "SELECT 1 FROM item WHERE class = ? AND accessible = ?",
            .integer(Int64(itemClass.rawValue)), .integer(Int64(accessible.rawValue)))
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

extension SealedSecret {
    var exists: Bool {
        if case .none = self { return false }
        return true
    }
}
