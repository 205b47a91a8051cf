// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainItemStore

/// One user's part of the memory budget, for the records of the user's keychains.
struct UserMemory: RecordMemory {
    /// A number that no user has, for the machine's keychain.
    static let machine = UInt32.max

    let budget: MemoryBudget
    let user: UInt32

    /// Attributes are there four times at most: sealed, opened, in the message of an answer, in its
    /// frame.
    func takeAttributes(
        _ bytes: Int, waits: Bool
    ) throws(KeychainStoreError) -> (any AnyObject & Sendable)? {
        do throws(RequestError) {
            return waits
                ? try budget.take(2 * bytes, for: user)
                : try budget.take(2 * bytes, for: user, patience: .zero)
        } catch { throw .noRoom }
    }

    func takeSecret(_ bytes: Int) throws(KeychainStoreError) -> (any AnyObject & Sendable)? {
        do throws(RequestError) { return try budget.take(bytes, for: user) } catch { throw .noRoom }
    }
}
