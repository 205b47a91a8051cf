// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
package import KeychainModel
internal import KeychainSecrets

extension KeychainFile {
    /// Rows of one snapshot; no reader is in the way of the log for longer.
    private static let checkedAtOnce = 64

    /// Looks at every record: its structure, its authenticity as far as the keys are there, and
    /// whether records and index agree. With `repair`, damaged records are set aside within the
    /// file, and the index is put right; what was found is reported as it was before.
    ///
    /// Secrets are opened and wiped at once, one at a time.
    package func check(
        repair: Bool, keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> KeychainFindings {
        var report = KeychainFindings()
        report.isStructureWhole = try reading(Self.isStructureWhole)
        // Nothing is moved about in a file whose pages can't be trusted: that wants a backup.
        let mends = repair && report.isStructureWhole
        var last: Int64 = 0
        while true {
            var conditions: [(row: Int64, condition: RowCondition)] = []
            try reading { database in
                while conditions.count < Self.checkedAtOnce,
                    let row = try ItemRow.next(after: last, self, database)
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
        report.strayEntries = try strayEntries(removing: mends)
        report.quarantined = try reading(Quarantine.count)
        return report
    }

    static func isStructureWhole(_ database: Connection) throws -> Bool {
        try database.isIntact() && KeychainSchema.isExact(database)
    }

    func condition(
        of row: ItemRow, _ keys: borrowing ClassKeys, _ database: Connection
    ) throws -> RowCondition {
        let item: SealedItem
        switch row.open(keys) {
        case .corrupt: return .damaged
        case .locked: return row.isPlausible ? .sealed : .damaged
        case .item(let opened): item = opened
        }
        let rights = item.accessControl
        if !rights.needsApplicationPassword {
            guard try hasWholeSecret(item, keys, database) else { return .damaged }
        }
        guard let indexKey = keys.indexKey(IndexFamily(rights.protection)) else { return .sealed }
        let index = ItemIndex(item.record, item.reference.itemClass, indexKey)
        guard try index == ItemIndex(of: row.row, database) else { return .misindexed(index) }
        return rights.needsApplicationPassword ? .sealed : .whole
    }

    /// Looked at once more inside the transaction: it may have been changed or deleted meanwhile.
    private func mend(_ row: Int64, _ keys: borrowing ClassKeys) throws(KeychainStoreError) {
        try writing { database in
            guard let found = try ItemRow.fetch(row, self, database) else { return }
            switch try condition(of: found, keys, database) {
            case .whole, .sealed: return
            case .damaged: try Quarantine.move(row, database)
            case .misindexed(let index): try index.write(for: row, database)
            }
            forgetCorrupt(row)
        }
    }

    private func strayEntries(removing: Bool) throws(KeychainStoreError) -> Int {
        let stray = "token WHERE item NOT IN (SELECT id FROM item)"
        let count = try reading { try $0.count(stray) }
        if removing, count > 0 { try writing { try $0.run("DELETE FROM \(stray)") } }
        return count
    }
}

enum RowCondition {
    case whole
    case sealed
    case damaged
    /// With what the index should have.
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
    /// Whether sealed parts could be what they say, as far as can be told without the key.
    fileprivate var isPlausible: Bool {
        guard place != nil, attributes.count >= ItemSealing.least else { return false }
        if case .here(let sealed) = secret { return sealed.count >= ItemSealing.least }
        return true
    }
}

extension ItemIndex {
    /// As the file has it.
    fileprivate init(of row: Int64, _ database: Connection) throws {
        tokens = try ItemRow.tokens(of: row, database)
        keyIndex = try ItemRow.keyIndex(of: row, database)
    }

    /// Another row in its place is one that can't be right either: two items never share a key.
    fileprivate func write(for row: Int64, _ database: Connection) throws {
        if let other = try ItemRow.row(withKeyIndex: keyIndex, database), other != row {
            return try Quarantine.move(row, database)
        }
        try ItemRow.setKeyIndex(keyIndex, of: row, database)
        let found = try ItemRow.tokens(of: row, database)
        try ItemRow.removeTokens(found.subtracting(tokens), of: row, database)
        try ItemRow.addTokens(tokens.subtracting(found), to: row, database)
    }
}
