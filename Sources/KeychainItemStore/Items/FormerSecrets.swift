// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
internal import KeychainDatabase
internal import KeychainLinuxSystem
package import KeychainModel
internal import KeychainSecrets

/// Former secrets are stored as they were in their item: sealed, with the attributes of that time,
/// and bound to the item's generation. A sealed note adds the time and the program that replaced
/// the secret; the day is in clear, so that old ones are found without a key.
extension KeychainFile {
    /// Keeps the item's secret, in the transaction that replaces it. A program that writes the same
    /// secret again pushes no former secret out.
    func keepFormer(
        of item: SealedItem, _ row: Int64, replacedBy secret: HeldSecret, of program: String,
        _ keys: borrowing ClassKeys, _ database: Connection
    ) throws {
        guard item.reference.itemClass == .attributed, item.hasSecret,
            !isSecret(secret, of: item, keys)
        else { return }
        // SQLite holds the sealed secret while it copies the row.
        let room = try roomForSecret(of: item, database)
        defer { withExtendedLifetime(room) {} }
        let now = WallClock.secondsSince2001
        let note = FormerNote(replaced: now, program: program)
        let context = context(of: item)
        let sealed = try keys.withClassKey(context.accessible) {
            key throws(KeychainStoreError) in try context.seal(note, key)
        }
        guard let sealed else { throw KeychainStoreError.locked }
        try FormerRow.keep(row, note: sealed, day: FormerRow.day(now), database)
        try FormerRow.removeSurplus(of: item.reference, database)
        try FormerRow.removeOldest(before: FormerRow.firstDay(now), database)
    }

    /// Whether the secret is unchanged. Only compared where it was read with its item: another
    /// would cost a read of its own.
    private func isSecret(
        _ secret: HeldSecret, of item: SealedItem, _ keys: borrowing ClassKeys
    ) -> Bool {
        guard case .here(let sealed) = item.secret, !item.accessControl.needsApplicationPassword,
            let old = try? openSecret(sealed, of: item, keys)
        else { return false }
        return old.matches(secret.bytes)
    }

    /// Items that have former secrets, the latest replacement first.
    package func itemsWithFormerSecrets(
        atMost limit: Int
    ) throws(KeychainStoreError) -> [ItemReference] {
        try reading { database in
            try database.all(
                """
                SELECT item FROM former WHERE day >= ? GROUP BY item ORDER BY MAX(id) DESC LIMIT ?
                """, .integer(FormerRow.firstDay(WallClock.secondsSince2001)),
                .integer(Int64(clamping: limit))
            ) { row in
                row.blob(0).flatMap {
                    ItemReference(itemClass: .attributed, identifier: $0)
                }
            }.compactMap(\.self)
        }
    }

    /// The item's former secrets, the latest first, for one grant to read it: all without the
    /// secrets themselves, or only the one of a generation with its secret. Those that don't open
    /// are left out.
    package func formerSecrets(
        of item: SealedItem, generation: Int64?, _ grant: consuming Grant, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [FormerSecret] {
        try Self.verify(grant, .decrypt, item)
        return try reading { database in
            let rows = try FormerRow.rows(of: item.reference, generation, database)
            return try rows.compactMap { row in
                try former(row, of: item.reference, opens: generation != nil, keys, database)
            }
        }
    }

    private func former(
        _ row: FormerRow, of item: ItemReference, opens: Bool, _ keys: borrowing ClassKeys,
        _ database: Connection
    ) throws -> FormerSecret? {
        let context = SealContext(
            keychain: identifier, reference: item, accessible: row.accessible,
            generation: row.generation)
        let opened = keys.withClassKey(row.accessible) { key in
            row.attributes.withSpan { attributes in
                try? (context.openNote(row.note, key), context.openRecord(attributes, key))
            }
        }
        guard let opened else { throw KeychainStoreError.locked }
        guard let (note, record) = opened else { return nil }
        var secret: HeldSecret?
        if opens {
            let room = try memory?.takeSecret(row.secretBytes)
            defer { withExtendedLifetime(room) {} }
            let sealed = try FormerRow.secret(row.id, database)
            secret = HeldSecret(
                try keys.withSecretKey(record.accessControl) { key throws(KeychainStoreError) in
                    try sealed.withSpan { sealed throws(KeychainStoreError) in
                        try context.openSecret(sealed, record.accessControl, key)
                    }
                })
        }
        return FormerSecret(
            item: item, generation: row.generation, label: record.text(.label),
            contentType: record.text(.contentType), replaced: note.replaced,
            program: note.program, secret: secret)
    }

    /// Removes former secrets whose time is over, and returns how many.
    @discardableResult
    package func removeOldFormerSecrets(
        now: Double = WallClock.secondsSince2001
    ) throws(KeychainStoreError) -> Int {
        let first = FormerRow.firstDay(now)
        let isNone = try reading {
            try !$0.exists("SELECT 1 FROM former WHERE day < ?", .integer(first))
        }
        guard !isNone else { return 0 }
        var last = Int64.min
        var count = 0
        while true {
            let removed = try writing { try FormerRow.removeNext(before: first, after: last, $0) }
            guard let end = removed.last else { return count }
            count += removed.count
            last = end
        }
    }
}

/// A row of the table `former`, without its secret.
struct FormerRow {
    /// The most old rows that one change removes.
    private static let mostRemoved = 64
    /// Rows of one step where all old ones are removed: a restored file may have millions.
    static let removedAtOnce = 1000

    let id: Int64
    let accessible: Accessibility
    let generation: Int64
    let note: [UInt8]
    let attributes: [UInt8]
    let secretBytes: Int

    static func day(_ seconds: Double) -> Int64 {
        Int64(exactly: (seconds / 86_400).rounded(.down)) ?? 0
    }

    static func firstDay(_ now: Double) -> Int64 { day(now) - FormerSecret.daysKept }

    static func keep(
        _ row: Int64, note: [UInt8], day: Int64, _ database: Connection
    ) throws {
        try database.run(
            """
            INSERT INTO former (item, accessible, generation, day, note, attributes, secret)
            SELECT identifier, accessible, generation, ?, ?, attributes, secret FROM item WHERE id = ?
            """, .integer(day), .blob(note), .integer(row))
    }

    static func removeSurplus(of item: ItemReference, _ database: Connection) throws {
        try database.run(
            """
            DELETE FROM former WHERE id IN (SELECT id FROM former WHERE item = ?
            ORDER BY generation DESC LIMIT -1 OFFSET \(FormerSecret.mostOfItem))
            """, .blob(item.identifier))
    }

    /// Rows are numbered as they are added, so the oldest are the first and no search is needed.
    static func removeOldest(before day: Int64, _ database: Connection) throws {
        try database.run(
            """
            DELETE FROM former WHERE day < ? AND id IN
            (SELECT id FROM former ORDER BY id LIMIT \(mostRemoved))
            """, .integer(day))
    }

    /// Removes the next old rows after that one, and returns their numbers.
    static func removeNext(
        before day: Int64, after last: Int64, _ database: Connection
    ) throws -> [Int64] {
        let rows = try database.all(
            """
            SELECT id FROM former WHERE id > ? AND day < ? ORDER BY id LIMIT \(removedAtOnce)
            """, .integer(last), .integer(day)
        ) { $0.integer(0) }
        for row in rows { try database.run("DELETE FROM former WHERE id = ?", .integer(row)) }
        return rows
    }

    /// Removes the former secrets of the item in that row, before the row is deleted.
    static func remove(ofRow row: Int64, _ database: Connection) throws {
        try database.run(
            "DELETE FROM former WHERE item = (SELECT identifier FROM item WHERE id = ?)",
            .integer(row))
    }

    /// The latest first; rows with invalid columns are left out.
    static func rows(
        of item: ItemReference, _ generation: Int64?, _ database: Connection
    ) throws -> [FormerRow] {
        try database.all(
            """
            SELECT id, accessible, generation, note, attributes, length(secret) FROM former
            WHERE item = ? AND day >= ? AND (? IS NULL OR generation = ?)
            ORDER BY generation DESC
            """, .blob(item.identifier), .integer(firstDay(WallClock.secondsSince2001)),
            generation.map(Value.integer) ?? .null, generation.map(Value.integer) ?? .null
        ) { FormerRow($0) }.compactMap(\.self)
    }

    static func secret(_ row: Int64, _ database: Connection) throws -> [UInt8] {
        try database.first("SELECT secret FROM former WHERE id = ?", .integer(row)) {
            $0.blob(0)
        } ?? []
    }

    private init?(_ row: borrowing Row) {
        guard let id = row.integer(0),
            let accessible = row.integer(1).flatMap(UInt8.init(exactly:))
                .flatMap(Accessibility.init(rawValue:)),
            let generation = row.integer(2), SealContext.generations.contains(generation),
            let note = row.blob(3), let attributes = row.blob(4)
        else { return nil }
        self.id = id
        self.accessible = accessible
        self.generation = generation
        self.note = note
        self.attributes = attributes
        secretBytes = Int(clamping: row.integer(5) ?? 0)
    }
}

/// The time when a secret was replaced, and the program that did it.
struct FormerNote {
    let replaced: Double
    let program: String

    private static let longestProgram = 4096

    init(replaced: Double, program: String) {
        self.replaced = replaced
        self.program = String(decoding: program.utf8.prefix(Self.longestProgram), as: UTF8.self)
    }

    var bytes: [UInt8] { replaced.bitPattern.littleEndianBytes + Array(program.utf8) }

    init?(bytes: [UInt8]) {
        guard bytes.count >= 8,
            let program = String(validating: bytes.dropFirst(8), as: UTF8.self)
        else { return nil }
        replaced = Double(bitPattern: UInt64(littleEndianBytes: bytes.prefix(8)))
        self.program = program
    }
}

extension SealContext {
    fileprivate func seal(
        _ note: FormerNote, _ classKey: RawSpan
    ) throws(KeychainStoreError) -> [UInt8] {
        let context = try context(.former, nil)
        return SecretBytes(copying: note.bytes).withBytes {
            ItemSealing.seal($0, .former, context: context, under: classKey)
        }
    }

    fileprivate func openNote(
        _ sealed: [UInt8], _ classKey: RawSpan
    ) throws(KeychainStoreError) -> FormerNote {
        let plain = try sealed.withSpan { sealed throws(KeychainStoreError) in
            try open(sealed, .former, nil, classKey)
        }
        guard let note = FormerNote(bytes: plain.releasedFromLockedMemory()) else {
            throw .corruptItem
        }
        return note
    }
}

extension AttributeRecord {
    fileprivate func text(_ name: AttributeName) -> String {
        if case .string(let text)? = attributes[name] { text } else { "" }
    }
}
