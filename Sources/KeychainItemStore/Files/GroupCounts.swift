// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Synchronization

/// How many items of the class `attributed` the groups of a file have at the most: counted once, and
/// again only where a group has come to its limit, so that adding an item costs the same at any count.
///
/// Other processes' items are not in it until then.
final class GroupCounts: Sendable {
    private let most: Int
    /// By the entry for all of a group's items: what was counted, and all that were added since.
    private let counts = Mutex<[Int64: Int]>([:])

    init(most: Int = AttributedLimits.mostItems) { self.most = most }

    /// Notes one item more; throws `.tooLarge` where the group has as many as it may. `count` counts so
    /// many of its items at the most.
    func add(_ entry: Int64, _ count: (_ most: Int) throws -> Int) throws {
        let known = counts.withLock { $0[entry] }
        let before = try known.flatMap { $0 < most ? $0 : nil } ?? count(most)
        guard before < most else { throw KeychainStoreError.tooLarge }
        counts.withLock { $0[entry] = before + 1 }
    }
}
