// SPDX-License-Identifier: Apache-2.0
internal import GRDB
internal import KeychainModel
internal import Secrets

extension KeychainFile {
    /// The access groups that have items here which can be read now. Groups are nowhere in clear, so
    /// that this opens every item's attributes: for callers who may see those of any program.
    public func groups(_ keys: borrowing ClassKeys) throws(KeychainStoreError) -> [String] {
        try reading { database in
            var groups: Set<[UInt8]> = []
            var last: Int64 = 0
            while let found = try ItemRow.next(after: last, identifier, database) {
                last = found.row
                guard case .item(let item) = found.open(keys) else { continue }
                // By bytes: two groups that look alike are two.
                groups.insert(Array(item.accessGroup.utf8))
            }
            return groups.sorted { $0.lexicographicallyPrecedes($1) }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
