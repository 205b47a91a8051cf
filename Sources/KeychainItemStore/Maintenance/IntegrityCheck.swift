// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainModel
internal import KeychainRows
internal import KeychainSecrets

extension KeychainFile {
    /// Rows per snapshot, so that no reader delays the emptying of the log for long.
    private static let checkedAtOnce = 64

    /// Checks every record: its structure, its authenticity as far as the keys are available, and
    /// whether records and index agree. With `repair`, damaged records are set aside within the
    /// file, and the index is corrected; the findings tell the state before.
    ///
    /// Secrets are opened one at a time, and wiped at once.
    package func check(
        repair: Bool, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> KeychainFindings {
        var report = KeychainFindings()
        report.isStructureWhole = try reading(Self.isStructureWhole)
        // A file whose pages are damaged is not repaired row by row: it needs a backup.
        let mends = repair && report.isStructureWhole
        var last: Int64 = 0
        while true {
            var conditions: [(row: Int64, condition: RowCondition)] = []
            try reading { database in
                while conditions.count < Self.checkedAtOnce,
                    let row = try ItemRow.next(after: last, self, keys, database)
                {
                    conditions.append((row.row, try condition(of: row, keys, database)))
                    last = row.row
                }
            }
            guard !conditions.isEmpty else { break }
            for (row, condition) in conditions {
                report.count(condition)
                if mends, condition.wantsRepair { try mend(row, keys) }
            }
        }
        if mends { try removeOldFormerSecrets() }
        report.strayEntries = try strayEntries(removing: mends)
        report.quarantined = try reading(Quarantine.count)
        return report
    }

    static func isStructureWhole(_ database: Connection) throws -> Bool {
        try database.isIntact() && KeychainTables.isExact(database, version: KeychainTables.version)
    }

    func condition(
        of row: ItemRow, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws -> RowCondition {
        let item: SealedItem
        switch row.opened {
        case .corrupt: return .damaged
        case .locked: return row.isPlausible ? .sealed : .damaged
        case .item(let opened): item = opened
        }
        let rights = item.accessControl
        if !rights.needsApplicationPassword {
            guard try hasWholeSecret(item, keys, database) else { return .damaged }
        }
        let index = keys.withIndexKey(IndexFamily(rights.protection)) {
            ItemIndex(item.record, item.reference, $0)
        }
        guard let index else { return .sealed }
        guard try index.isInFile(for: row.row, database) else { return .misindexed(index) }
        return rights.needsApplicationPassword ? .sealed : .whole
    }

    /// Checks the row again inside the transaction, as it may have been changed or deleted
    /// meanwhile.
    private func mend(_ row: Int64, _ keys: borrowing ClassKeys) throws(KeychainStoreError) {
        try writing { database in
            guard let found = try ItemRow.fetch(row, self, keys, database) else { return }
            switch try condition(of: found, keys, database) {
            case .whole, .sealed: return
            case .damaged: try Quarantine.move(row, database)
            case .misindexed(let index): try index.write(for: row, database)
            }
            forgetCorrupt(row)
        }
    }

    /// Counts entries of items that don't exist, or whose rows don't list them; removes them if
    /// `removing`.
    private func strayEntries(removing: Bool) throws(KeychainStoreError) -> Int {
        var last = IndexEntry.first
        var count = 0
        while true {
            let (end, stray) = try reading { try IndexEntry.strays(after: last, $0) }
            count += stray.count
            if removing, !stray.isEmpty {
                try writing { database in
                    for entry in stray { try entry.removeIfStray(database) }
                }
            }
            guard let end else { return count }
            last = end
        }
    }
}

/// An entry of the index as stored in the file.
private struct IndexEntry {
    static let first = IndexEntry(token: .min, item: .min)
    private static let readAtOnce = 1024
    private static let columns = """
        SELECT token.token, token.item, item.tokens FROM token \
        LEFT JOIN item ON item.id = token.item
        """

    let token: Int64
    let item: Int64

    /// The stray ones among the next entries, and the last entry read; nil at the index's end.
    static func strays(
        after last: IndexEntry, _ database: Connection
    ) throws -> (end: IndexEntry?, [IndexEntry]) {
        var strays: [IndexEntry] = []
        var end: IndexEntry?
        var count = 0
        try database.forEach(
            """
            \(columns) WHERE (token.token, token.item) > (?, ?) \
            ORDER BY token.token, token.item LIMIT \(readAtOnce)
            """, [.integer(last.token), .integer(last.item)]
        ) { row in
            guard let token = row.integer(0), let item = row.integer(1) else {
                throw DatabaseError.wrongType
            }
            let entry = IndexEntry(token: token, item: item)
            if entry.isStray(row) { strays.append(entry) }
            end = entry
            count += 1
            return true
        }
        return (count < readAtOnce ? nil : end, strays)
    }

    /// Checks the entry again inside the transaction, as its item may have been added meanwhile.
    func removeIfStray(_ database: Connection) throws {
        var isStillStray = false
        try database.forEach(
            "\(Self.columns) WHERE token.token = ? AND token.item = ?",
            [.integer(token), .integer(item)]
        ) { row in
            isStillStray = isStray(row)
            return false
        }
        if isStillStray { try ItemRow.removeTokens([token], of: item, database) }
    }

    /// A row with a damaged list proves nothing about its entries, which stay.
    private func isStray(_ row: borrowing Row) -> Bool {
        guard !row.isNull(2) else { return true }
        guard let list = row.blob(2), !list.isEmpty, list.count % 8 == 0 else { return false }
        return !TokenList.tokens(list).contains(token)
    }
}

enum RowCondition {
    case whole
    case sealed
    case damaged
    /// With the index data that the item should have.
    case misindexed(ItemIndex)

    var wantsRepair: Bool {
        switch self {
        case .whole, .sealed: false
        case .damaged, .misindexed: true
        }
    }
}

extension KeychainFindings {
    fileprivate mutating func count(_ condition: RowCondition) {
        switch condition {
        case .whole: whole += 1
        case .sealed: sealed += 1
        case .damaged: damaged += 1
        case .misindexed: misindexed += 1
        }
    }
}

extension ItemRow {
    /// Whether the sealed parts may be valid, as far as can be told without the key.
    fileprivate var isPlausible: Bool {
        guard context != nil, attributeBytes >= ItemSealing.least else { return false }
        if case .here(let sealed) = secret { return sealed.count >= ItemSealing.least }
        return true
    }
}

extension ItemIndex {
    /// Whether the row lists these entries, and all of them are in the index.
    fileprivate func isInFile(for row: Int64, _ database: Connection) throws -> Bool {
        try ItemRow.keyIndex(of: row, database) == keyIndex
            && ItemRow.tokens(of: row, database) == tokens
            && tokens.allSatisfy { try ItemRow.isFound(row, under: $0, database) }
    }

    /// Another row with the same key must be wrong too, as two items never share a key: this row is
    /// set aside.
    fileprivate func write(for row: Int64, _ database: Connection) throws {
        if let other = try ItemRow.row(withKeyIndex: keyIndex, database), other != row {
            return try Quarantine.move(row, database)
        }
        try ItemRow.setKeyIndex(keyIndex, of: row, database)
        let told = try ItemRow.tokens(of: row, database)
        try ItemRow.removeTokens(told.subtracting(tokens), of: row, database)
        try ItemRow.addTokens(tokens, to: row, database)
        try ItemRow.setTokens(tokens, of: row, database)
    }
}
