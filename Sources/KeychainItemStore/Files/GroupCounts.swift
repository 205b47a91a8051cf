// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// An upper bound of the items of the class `attributed` in each group of a file. They are counted
/// once, and again only where a group has come to its limit, so that adding an item costs the same
/// at any count.
///
/// Items that other processes add are not included until the next count.
final class GroupCounts: Sendable {
    private let most: Int
    /// By the index entry for all of a group's items: the last count, plus the items added since.
    private let counts = Mutex<[Int64: Int]>([:])

    init(most: Int = AttributedLimits.mostItems) { self.most = most }

    /// Notes one more item; throws `.tooLarge` where the group has as many as it may. `count`
    /// counts the group's items, up to `most`.
    func add(_ entry: Int64, _ count: (_ most: Int) throws -> Int) throws {
        let known = counts.withLock { $0[entry] }
        let before = try known.flatMap { $0 < most ? $0 : nil } ?? count(most)
        guard before < most else { throw KeychainStoreError.tooLarge }
        counts.withLock { $0[entry] = before + 1 }
    }
}
