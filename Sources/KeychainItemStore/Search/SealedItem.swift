// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainModel
package import KeychainSecrets
internal import KeychainDatabase

/// One item with its attributes read and its secret still sealed. An object, as each step of a request
/// hands it on.
package final class SealedItem: Sendable {
    package let reference: ItemReference
    /// Rises with every change.
    package let generation: Int64
    let record: AttributeRecord
    /// Where the secret is; `.none` where the item has none.
    let secret: SealedSecret
    /// What the item was found by, so that a change made meanwhile is noticed.
    let matcher: ItemMatcher?
    /// Bytes of its sealed attributes, which are little more than what is in them; 0 for one that is
    /// in no file yet.
    package let attributeBytes: Int
    /// Memory that was counted for them, given back when the last copy of the item ends. What is made
    /// of the attributes and outlives the item keeps this too.
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

    /// What a long change keeps of an item that it means.
    package var meant: MeantItem { MeantItem(reference: reference, matcher: matcher) }

    /// Includes access group, synchronizable and dates; neither accessibility nor access control.
    package var attributes: Attributes { record.allAttributes }
    /// The same for a look at what the item is called: without group and dates, and so as they lie in
    /// memory, but for an item that is synchronizable.
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
    /// Programs that it lets in beside its group; nil where it has no list.
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
    /// As much as a search tells of an item that it means and that does not open: its pairs, and of the
    /// rest what most items have. Its group has no name.
    package static func unread(_ query: ItemQuery) -> SealedItem {
        var item = NewItem(query.itemClass)
        item.attributes = query.attributes
        return new(item, in: "", .plain(item.accessible), trusting: TrustList())
    }
}

/// An item that a search found, by its name and by what it was found by: little memory, whatever is
/// in it.
package struct MeantItem: Sendable {
    package let reference: ItemReference
    let matcher: ItemMatcher?
}

/// Where an item's sealed secret is.
enum SealedSecret: Sendable {
    case none
    /// Read together with the attributes.
    case here([UInt8])
    /// Large: read when it is opened.
    case inFile
}

/// An item as it lies in the file, and as far as the keys open it.
struct ItemRow {
    let row: Int64
    /// What its parts are bound to; nil where the columns make no sense: the row is damaged.
    let context: SealContext?
    /// Bytes of its sealed attributes.
    let attributeBytes: Int
    let secret: SealedSecret
    let opened: Opened

    enum Opened {
        case item(SealedItem)
        /// The class key is not there.
        case locked
        /// The class key is there, and what lies here does not open with it.
        case corrupt
    }

    /// Larger secrets are read only when they are opened.
    private static let largestReadAlong = 4096
    /// Larger attributes are read only after room was taken for them.
    static let largestUncounted = 16 * 1024
    /// What is read of an item, behind its number.
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

    /// Of a row that has `columns` behind the item's number. Attributes are opened where they lie.
    ///
    /// A column may hold anything in a file that others have written: a value of another type is a
    /// damaged row, and no trap. `matcher` is what it is looked for by. Throws `.noRoom` where the
    /// memory for its attributes is not there, after a while where `waits`.
    init(
        _ row: borrowing Row, _ file: KeychainFile, _ keys: borrowing ClassKeys,
        _ database: Connection, for matcher: ItemMatcher? = nil, waits: Bool = true
    ) throws {
        guard let number = row.integer(0) else { throw DatabaseError.wrongType }
        self.row = number
        let context = SealContext(row, file.identifier)
        let secret = SealedSecret(row)
        self.context = context
        self.secret = secret
        let small = row.withBlob(5) { sealed in
            (
                sealed.byteCount,
                context?.open(sealed, secret, nil, keys, matcher) ?? .corrupt
            )
        }
        if let (count, opened) = small {
            attributeBytes = count
            self.opened = opened
            return
        }
        let count = try Self.attributesSize(number, database)
        let room = try file.memory?.takeAttributes(count, waits: waits)
        attributeBytes = count
        opened =
            try database.first("SELECT attributes FROM item WHERE id = ?", .integer(number)) {
                $0.withBlob(0) { context?.open($0, secret, room, keys, matcher) ?? .corrupt }
            } ?? .corrupt
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

    /// The one behind the given row.
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
            found = try ItemRow(row, file, keys, database, for: matcher, waits: waits)
            return false
        }
        return found
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

    /// The length of its attributes, without reading them.
    private static func attributesSize(_ row: Int64, _ database: Connection) throws -> Int {
        let size = try database.first(
            "SELECT length(attributes) FROM item WHERE id = ?", .integer(row)
        ) { $0.integer(0) }
        return size.map(Int.init(clamping:)) ?? 0
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
            "SELECT 1 FROM token WHERE token = ?",
            .integer(BlindIndex.entry(itemClass, accessible)))
    }

    var sealedBytes: Int {
        guard case .here(let secret) = secret else { return attributeBytes }
        return attributeBytes + secret.count
    }
}

extension SealContext {
    fileprivate init?(_ row: borrowing Row, _ keychain: [UInt8]) {
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

/// An item and its secret, both of the same moment; nil for an item without a secret.
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

    /// Bytes of an item's sealed secret that are read when it is opened, a little more than it has; 0
    /// where it was read along with the item, or there is none.
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

    /// A large secret as it is now: the item may have changed since it was found. It must still be
    /// one that was meant, under the rights and in the group that were judged.
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
                let isMeant = item.matcher?.matches(current.record, current.reference) ?? true
                guard isMeant, current.accessControl == item.accessControl,
                    current.accessGroup.utf8.elementsEqual(item.accessGroup.utf8)
                else { throw KeychainStoreError.notFound }
                return (current, sealed)
            }
        }
    }
}
