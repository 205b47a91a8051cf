// SPDX-License-Identifier: Apache-2.0
package import KeychainItemStore
package import KeychainModel

/// The items of a long change, by their references alone, as there may be very many. Their memory
/// is counted.
package struct MeantItems {
    /// Items that one share of the memory budget counts.
    private static let atOnce = 1024
    /// Bytes of one entry of the list, and of its identifier beside it.
    private static let bytesOfOne = 80

    package private(set) var items: [MeantItem] = []
    private var shares: [MemoryBudget.Share] = []
    private let memory: MemoryBudget
    private let user: UInt32

    package init(_ memory: MemoryBudget, for user: UInt32) {
        self.memory = memory
        self.user = user
    }

    package var references: [ItemReference] { items.map(\.reference) }

    package mutating func append(_ item: SealedItem) throws(RequestError) {
        if !items.isEmpty, items.count.isMultiple(of: Self.atOnce),
            let share = try memory.take(Self.atOnce * Self.bytesOfOne, for: user)
        {
            shares.append(share)
        }
        items.append(item.meant)
    }
}
