// SPDX-License-Identifier: Apache-2.0

/// Counts the memory that large records of a file take while a request holds them.
package protocol RecordMemory: Sendable {
    /// Room for the attributes of one item, sealed in so many bytes, and for what they become on
    /// their way into an answer. The room is given back when the last copy of the result ends.
    ///
    /// Waits for others to end where `waits`; throws `.noRoom` where there is still none.
    func takeAttributes(
        _ bytes: Int, waits: Bool
    ) throws(KeychainStoreError) -> (any AnyObject & Sendable)?
    /// The same for one secret, without a wait: a transaction is under way, for whose end other users
    /// of the file wait.
    func takeSecret(_ bytes: Int) throws(KeychainStoreError) -> (any AnyObject & Sendable)?
}
