// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainModel
package import KeychainSecrets
internal import KeychainDatabase

/// One item with its attributes read and its secret still sealed. A class, as each step of a
/// request passes it on.
package final class SealedItem: Sendable {
    package let reference: ItemReference
    /// Increases with every change.
    package let generation: Int64
    let record: AttributeRecord
    /// The place of the sealed secret; `.none` where the item has none.
    let secret: SealedSecret
    /// The matcher that found the item, so that a change made meanwhile is noticed.
    let matcher: ItemMatcher?
    /// The length of the sealed attributes, little more than that of the attributes; 0 for an item
    /// that is in no file yet.
    package let attributeBytes: Int
    /// Counted memory of the attributes, given back when the last reference ends. Values that are
    /// made of the attributes and outlive the item must keep this too.
    package let room: (any AnyObject & Sendable)?

    init(
        reference: ItemReference, generation: Int64, record: AttributeRecord,
        secret: SealedSecret, matcher: ItemMatcher?, attributeBytes: Int = 0,
        room: (any AnyObject & Sendable)? = nil
    ) {
        self.reference = reference
        self.generation = generation
        self.record = record
        self.secret = secret
        self.matcher = matcher
        self.attributeBytes = attributeBytes
        self.room = room
    }

    /// The part of the item that a long change keeps.
    package var meant: MeantItem { MeantItem(reference: reference, matcher: matcher) }

    /// Includes access group, synchronizable and dates; excludes accessibility and access control.
    package var attributes: Attributes { record.allAttributes }
    /// The attributes for a look at the item's names, without group and dates. Returned without a
    /// copy, unless the item is synchronizable.
    package var ownAttributes: Attributes {
        guard record.isSynchronizable || record.attributes[.synchronizable] != nil else {
            return record.attributes
        }
        var own = record.attributes
        own[.synchronizable] = record[.synchronizable]
        return own
    }
    package var accessControl: ItemAccessControl { record.accessControl }
    package var protection: Accessibility { record.accessControl.protection }
    package var needsApplicationPassword: Bool { record.accessControl.needsApplicationPassword }
    package var accessGroup: String { record.group }
    package var hasSecret: Bool { record.hasSecret }
    /// Programs that may use the item beside those of its group; nil where the item has no list.
    package var trusted: TrustList? { record.trusted }

    /// The item as answers carry it.
    package var found: Item {
        Item(
            reference: reference, attributes: record.allAttributes,
            accessControl: record.accessControl.bound(to: []), trusted: record.trusted)
    }

    /// An item that is about to be added: named and complete, in no file yet.
    package static func new(
        _ item: NewItem, in group: String, _ accessControl: ItemAccessControl,
        trusting trusted: TrustList? = nil
    ) -> SealedItem {
        let identifier = RandomBytes.make(ItemReference.identifierBytes)
        guard let reference = ItemReference(itemClass: item.itemClass, identifier: identifier)
        else { preconditionFailure("an identifier has its length") }
        return SealedItem(
            reference: reference, generation: 1,
            record: AttributeRecord(new: item, in: group, accessControl, trusting: trusted),
            secret: .none, matcher: nil)
    }
}

extension SealedItem {
    /// A stand-in for a matching item that does not open: it has the query's pairs, no group, and the
    /// rights that most items have.
    package static func unread(_ query: ItemQuery) -> SealedItem {
        var item = NewItem(query.itemClass)
        item.attributes = query.attributes
        return new(item, in: "", .plain(item.accessible), trusting: TrustList())
    }
}

/// A found item's reference and matcher: little memory, whatever the item's size.
package struct MeantItem: Sendable {
    package let reference: ItemReference
    let matcher: ItemMatcher?
}

/// The place of an item's sealed secret.
enum SealedSecret: Sendable {
    case none
    /// Read together with the attributes.
    case here([UInt8])
    /// A large secret, which is read when it is opened.
    case inFile
}

/// An item as stored in the file, opened as far as the keys allow.
struct ItemRow {
    let row: Int64
    /// The context that its parts are bound to; nil where the columns are invalid, and so the row
    /// is damaged.
    let context: SealContext?
    /// The length of the sealed attributes.
    let attributeBytes: Int
    let secret: SealedSecret
    let opened: Opened

    enum Opened {
        case item(SealedItem)
        /// The class key is missing.
        case locked
        /// The class key is available, and the row does not open with it.
        case corrupt
    }

    /// Larger secrets are read only when they are opened.
    private static let largestReadAlong = 4096
    /// Larger attributes are read only after room was taken for them.
    static let largestUncounted = 16 * 1024
    /// The columns that are read of an item, after its row number.
    static let columns = """
        item.identifier, item.class, item.accessible, item.generation, \
        CASE WHEN length(item.attributes) <= \(largestUncounted) THEN item.attributes END, \
        item.secret IS NOT NULL, \
        CASE WHEN length(item.secret) <= \(largestReadAlong) THEN item.secret END
        """
    static let byRow = Query("SELECT id, \(columns) FROM item WHERE id = ?")
    static let byIdentifier = Query("SELECT id, \(columns) FROM item WHERE identifier = ?")
    private static let following = Query(
        "SELECT id, \(columns) FROM item WHERE id > ? ORDER BY id LIMIT 1")

    /// From a row with the item's number and then `columns`. Attributes are opened in place.
    ///
    /// In a file that other programs have written, a column may hold anything: a value of another
    /// type makes a damaged row, and must not trap. `matcher` is the search that looks for the row.
    /// Throws `.noRoom` where there is no memory for the attributes; if `waits`, only after a wait.
    static func read(
        _ row: borrowing Row, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection, for matcher: ItemMatcher? = nil, waits: Bool = true
    ) throws -> ItemRow {
        guard let number = row.integer(0) else { throw DatabaseError.wrongType }
        let context = SealContext(row, file.identifier)
        let secret = SealedSecret(row)
        let small = row.withBlob(5) { sealed in
            (
                sealed.byteCount,
                context?.open(sealed, secret, nil, keys, matcher) ?? .corrupt
            )
        }
        if let (count, opened) = small {
            return ItemRow(
                row: number, context: context, attributeBytes: count, secret: secret,
                opened: opened)
        }
        let count = try attributesSize(number, database)
        let room = try file.memory?.takeAttributes(count, waits: waits)
        let opened =
            try database.first("SELECT attributes FROM item WHERE id = ?", .integer(number)) {
                $0.withBlob(0) { context?.open($0, secret, room, keys, matcher) ?? .corrupt }
            } ?? .corrupt
        return ItemRow(
            row: number, context: context, attributeBytes: count, secret: secret, opened: opened)
    }

    static func fetch(
        _ row: Int64, _ file: KeychainFile, _ keys: borrowing ClassKeys, _ database: Connection,
        for matcher: ItemMatcher? = nil, waits: Bool = true
    ) throws -> ItemRow? {
        try first(byRow, .integer(row), file, keys, database, matcher, waits)
    }

    static func fetch(
        _ reference: ItemReference, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection
    ) throws -> ItemRow? {
        try first(byIdentifier, .blob(reference.identifier), file, keys, database)
    }

    /// The first item after the given row.
    static func next(
        after row: Int64, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection
    ) throws -> ItemRow? {
        try first(following, .integer(row), file, keys, database)
    }

    private static func first(
        _ query: Query, _ value: Value, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection, _ matcher: ItemMatcher? = nil, _ waits: Bool = true
    ) throws -> ItemRow? {
        var found: ItemRow?
        try database.forEach(query, [value]) { row in
            found = try read(row, file, keys, database, for: matcher, waits: waits)
            return false
        }
        return found
    }

    /// Rows of those references that exist, in the order in which they were added.
    static func rows(_ references: [ItemReference], _ database: Connection) throws -> [Int64] {
        let rows = try Set(references).compactMap { reference in
            try database.first(
                "SELECT id FROM item WHERE identifier = ?", .blob(reference.identifier)
            ) { $0.integer(0) }
        }
        return rows.sorted()
    }

    /// The sealed secret of an item that was read without it.
    static func secret(_ reference: ItemReference, _ database: Connection) throws -> [UInt8]? {
        try database.first(
            "SELECT secret FROM item WHERE identifier = ?", .blob(reference.identifier)
        ) { $0.blob(0) }
    }

    /// The length of the row's sealed attributes, without reading them.
    private static func attributesSize(_ row: Int64, _ database: Connection) throws -> Int {
        let size = try database.first(
            "SELECT length(attributes) FROM item WHERE id = ?", .integer(row)
        ) { $0.integer(0) }
        return size.map(Int.init(clamping:)) ?? 0
    }

    /// The length of the sealed secret, without reading it; 0 where there is none.
    static func secretSize(_ reference: ItemReference, _ database: Connection) throws -> Int {
        let size = try database.first(
            "SELECT length(secret) FROM item WHERE identifier = ?", .blob(reference.identifier)
        ) { $0.integer(0) }
        return size.map(Int.init(clamping:)) ?? 0
    }

    /// Whether any item of that class and accessibility exists, in any group.
    static func exists(
        _ itemClass: ItemClass, _ accessible: Accessibility, _ database: Connection
    ) throws -> Bool {
        try database.exists(
            "SELECT 1 FROM token WHERE token = ?",
            .integer(BlindIndex.entry(itemClass, accessible)))
    }

    var sealedBytes: Int {
        guard case .here(let secret) = secret else { return attributeBytes }
        return attributeBytes + secret.count
    }
}

extension SealContext {
    fileprivate init?(_ row: borrowing Row, _ keychain: consuming [UInt8]) {
        guard
            let itemClass = row.integer(2).flatMap(UInt8.init(exactly:))
                .flatMap(ItemClass.init(rawValue:)),
            let accessible = row.integer(3).flatMap(UInt8.init(exactly:))
                .flatMap(Accessibility.init(rawValue:)),
            let generation = row.integer(4), Self.generations.contains(generation),
            let reference = row.withBlob(1, { ItemReference(itemClass: itemClass, identifier: $0) })
                ?? nil
        else { return nil }
        self.init(
            keychain: keychain, reference: reference, accessible: accessible,
            generation: generation)
    }

    fileprivate func open(
        _ sealed: RawSpan, _ secret: SealedSecret, _ room: (any AnyObject & Sendable)?,
        _ keys: borrowing ClassKeys, _ matcher: ItemMatcher?
    ) -> ItemRow.Opened {
        let opened = keys.withClassKey(accessible) { try? openRecord(sealed, $0) }
        guard let opened else { return .locked }
        guard let record = opened, record.hasSecret == secret.exists else { return .corrupt }
        return .item(
            SealedItem(
                reference: reference, generation: generation, record: record, secret: secret,
                matcher: matcher, attributeBytes: sealed.byteCount, room: room))
    }
}

extension SealedSecret {
    fileprivate init(_ row: borrowing Row) {
        if row.integer(6) == 0 {
            self = .none
        } else if let sealed = row.blob(7) {
            self = .here(sealed)
        } else {
            self = .inFile
        }
    }

    var exists: Bool {
        if case .none = self { return false }
        return true
    }
}

/// An item and its secret, both of the same moment; the secret is nil where the item has none.
package struct OpenedItem: Sendable {
    package let item: SealedItem
    package let secret: HeldSecret?
}

extension KeychainFile {
    /// Opens an item's secret, for one grant to read it.
    package func open(
        _ item: SealedItem, _ grant: consuming Grant, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> OpenedItem {
        try Self.verify(grant, .decrypt, item)
        switch item.secret {
        case .none: return OpenedItem(item: item, secret: nil)
        case .here(let sealed):
            let secret = HeldSecret(try openSecret(sealed, of: item, keys))
            return OpenedItem(item: item, secret: secret)
        case .inFile:
            let (current, sealed) = try current(item, keys)
            let secret = HeldSecret(try openSecret(sealed, of: current, keys))
            return OpenedItem(item: current, secret: secret)
        }
    }

    /// The number of sealed bytes that opening the secret will read, a little more than the secret
    /// has; 0 where the secret was read with the item, or there is none.
    package func unreadSecretSize(_ item: SealedItem) throws(KeychainStoreError) -> Int {
        switch item.secret {
        case .none, .here: 0
        case .inFile: try reading { try ItemRow.secretSize(item.reference, $0) }
        }
    }

    static func verify(
        _ grant: borrowing Grant, _ operation: ItemOperation, _ item: SealedItem
    ) throws(KeychainStoreError) {
        guard grant.operation == operation, grant.reference == item.reference,
            grant.accessControl == item.accessControl
        else { throw .grantMismatch }
    }

    func openSecret(
        _ sealed: [UInt8], of item: SealedItem, _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> SecretBytes {
        let context = context(of: item)
        do {
            return try keys.withSecretKey(item.accessControl) { key throws(KeychainStoreError) in
                try sealed.withSpan { sealed throws(KeychainStoreError) in
                    try context.openSecret(sealed, item.accessControl, key)
                }
            }
        } catch {
            let hasPassword = item.accessControl.needsApplicationPassword
            throw hasPassword && error == .corruptItem ? .wrongApplicationPassword : error
        }
    }

    func context(of item: SealedItem) -> SealContext {
        SealContext(
            keychain: identifier, reference: item.reference,
            accessible: item.accessControl.protection, generation: item.generation)
    }

    /// The item and its large secret as they are now, since the item may have changed after the
    /// search. It must still match, and still have the access control and group that were judged.
    private func current(
        _ item: SealedItem, _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> (SealedItem, [UInt8]) {
        try reading { database in
            guard let row = try ItemRow.fetch(item.reference, self, keys, database),
                let sealed = try ItemRow.secret(item.reference, database)
            else { throw KeychainStoreError.notFound }
            switch row.opened {
            case .locked: throw KeychainStoreError.locked
            case .corrupt: throw KeychainStoreError.corruptItem
            case .item(let current):
                let isMeant = item.matcher?.matches(current) ?? true
                guard isMeant, current.accessControl == item.accessControl,
                    current.accessGroup.utf8.elementsEqual(item.accessGroup.utf8)
                else { throw KeychainStoreError.notFound }
                return (current, sealed)
            }
        }
    }
}
