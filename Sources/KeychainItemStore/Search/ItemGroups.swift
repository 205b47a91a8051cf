// SPDX-License-Identifier: Apache-2.0
internal import KeychainDatabase
internal import KeychainModel

extension KeychainFile {
    /// Bytes of the names of all groups, with about as many as each takes besides: a restored file
    /// may have a group for each of very many items.
    private static let mostBytesOfGroups = 1024 * 1024
    private static let bytesBesideName = 64

    /// The access groups with items that can be read now. No group is stored in clear, so that
    /// every item's attributes are opened: only for callers who may see those of any program.
    ///
    /// Throws `.tooLarge` where there are more than any keychain of a user has.
    ///
    /// `isOnlyWriter`: no other process writes to the file, so that the groups may be remembered. A
    /// group whose last item was deleted may then still be named.
    package func groups(
        _ keys: borrowing ClassKeys, isOnlyWriter: Bool = false
    ) throws(KeychainStoreError) -> [String] {
        guard isOnlyWriter else { return try readGroups(keys) }
        let open = GroupNames.Open(keys)
        let (known, changes) = groupNames.known(open)
        if let known { return known }
        let found = try readGroups(keys)
        groupNames.keep(found, open, asOf: changes)
        return found
    }

    private func readGroups(
        _ keys: borrowing ClassKeys
    ) throws(KeychainStoreError) -> [String] {
        try reading { database in
            var groups: Set<[UInt8]> = []
            var bytes = 0
            var last: Int64 = 0
            while let found = try ItemRow.next(after: last, self, keys, database) {
                last = found.row
                guard case .item(let item) = found.opened else { continue }
                // Compared by bytes: groups that look alike are different groups.
                let group = Array(item.accessGroup.utf8)
                guard groups.insert(group).inserted else { continue }
                bytes += group.count + Self.bytesBesideName
                guard bytes <= Self.mostBytesOfGroups else { throw KeychainStoreError.tooLarge }
            }
            return groups.sorted { $0.lexicographicallyPrecedes($1) }
                .map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
