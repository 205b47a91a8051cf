// SPDX-License-Identifier: Apache-2.0

/// Counts the memory that large records of a file take while a request holds them.
package protocol RecordMemory: Sendable {
    /// Takes room for the attributes of one item, sealed in so many bytes, and for their copies on
    /// the way into an answer. The room is given back when the last reference to the result ends.
    ///
    /// Waits for other requests to end if `waits`; throws `.noRoom` where there is still no room.
    func takeAttributes(
        _ bytes: Int, waits: Bool
    ) throws(KeychainStoreError) -> (any AnyObject & Sendable)?
    /// Takes room for one secret, without a wait: other users of the file wait for the transaction
    /// that is under way.
    func takeSecret(_ bytes: Int) throws(KeychainStoreError) -> (any AnyObject & Sendable)?
}
