// SPDX-License-Identifier: Apache-2.0
internal import KeychainVaults
internal import KeychainModel
internal import KeychainItemStore

extension OpenKeychain {
    /// Hands the items of a search to `body`, one by one, until it says false or refuses.
    func each(
        _ query: ItemQuery, in scope: SearchScope, _ keys: borrowing ClassKeys,
        _ body: (SealedItem) throws(Refusal) -> Bool
    ) throws(Refusal) {
        var refusal: Refusal?
        do {
            try file.forEach(query, in: scope, keys: keys) { item in
                do throws(Refusal) { return try body(item) } catch {
                    refusal = error
                    return false
                }
            }
        } catch { throw Refusal(error) }
        if let refusal { throw refusal }
    }
}

/// The items that a long change means, by their names alone: there may be very many. The memory of
/// the names is counted.
struct MeantItems {
    /// Items that are counted together.
    private static let atOnce = 1024
    /// Bytes of one in the list, and of its identifier beside it.
    private static let bytesOfOne = 80

    private(set) var items: [MeantItem] = []
    private var shares: [MemoryBudget.Share] = []
    private let memory: MemoryBudget
    private let user: UInt32

    init(_ memory: MemoryBudget, for user: UInt32) {
        self.memory = memory
        self.user = user
    }

    var references: [ItemReference] { items.map(\.reference) }

    mutating func append(_ item: SealedItem) throws(Refusal) {
        if !items.isEmpty, items.count.isMultiple(of: Self.atOnce),
            let share = try memory.take(Self.atOnce * Self.bytesOfOne, for: user)
        {
            shares.append(share)
        }
        items.append(item.meant)
    }
}
