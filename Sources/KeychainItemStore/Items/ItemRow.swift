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
    /// Room that was taken for large attributes; the item that is made of the row holds it too.
    let room: (any AnyObject & Sendable)?

    /// Larger secrets are read only when they are opened.
    private static let largestReadAlong = 4096
    /// Larger attributes are read only after room was taken for them.
    static let largestUncounted = 16 * 1024
    private static let columns = """
        id, identifier, class, accessible, generation, length(attributes),
        CASE WHEN length(attributes) <= \(largestUncounted) THEN attributes END,
        CASE WHEN secret IS NOT NULL THEN 1 END,
        CASE WHEN length(secret) <= \(largestReadAlong) THEN secret END
        """
    private static let byRow = "SELECT \(columns) FROM item WHERE id = ?"
    static let byIdentifier = "SELECT \(columns) FROM item WHERE identifier = ?"

    /// A column may hold anything in a file that others have written: a value of another type is a
    /// damaged row, and no trap.
    private init(
        _ row: borrowing Row, _ file: KeychainFile, _ database: Connection, waits: Bool
    ) throws {
        guard let number = row.integer(0) else { throw DatabaseError.wrongType }
        self.row = number
        if let attributes = row.blob(6) {
            self.attributes = attributes
            room = nil
        } else {
            let count = Int(clamping: row.integer(5) ?? 0)
            room = try file.memory?.takeAttributes(count, waits: waits)
            attributes = try Self.largeAttributes(number, database)
        }
        if row.isNull(7) {
            secret = .none
        } else if let sealed = row.blob(8) {
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
            ItemPlace.generations.contains(generation),
            let reference = ItemReference(itemClass: itemClass, identifier: identifier)
        else {
            place = nil
            return
        }
        place = ItemPlace(
            keychain: file.identifier, reference: reference, accessible: accessible,
            generation: generation)
    }

    private static func largeAttributes(_ row: Int64, _ database: Connection) throws -> [UInt8] {
        try database.first("SELECT attributes FROM item WHERE id = ?", .integer(row)) {
            $0.blob(0)
        } ?? []
    }

    /// Throws `.noRoom` where the memory for its attributes is not there, after a while where
    /// `waits`.
    static func fetch(
        _ row: Int64, _ file: KeychainFile, _ database: Connection, waits: Bool = true
    ) throws -> ItemRow? {
        try database.first(byRow, .integer(row)) {
            try ItemRow($0, file, database, waits: waits)
        }
    }

    static func fetch(
        _ reference: ItemReference, _ file: KeychainFile, _ database: Connection
    ) throws -> ItemRow? {
        try database.first(byIdentifier, .blob(reference.identifier)) {
            try ItemRow($0, file, database, waits: true)
        }
    }

    /// The one behind the given row.
    static func next(
        after row: Int64, _ file: KeychainFile, _ database: Connection
    ) throws -> ItemRow? {
        try database.first(
            "SELECT \(columns) FROM item WHERE id > ? ORDER BY id LIMIT 1", .integer(row)
        ) { try ItemRow($0, file, database, waits: true) }
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

    /// Whether there is any item of these classes, of any group.
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
                secret: secret, matcher: nil, attributeBytes: attributes.count, room: room))
    }
}

extension SealedSecret {
    var exists: Bool {
        if case .none = self { return false }
        return true
    }
}
