// SPDX-License-Identifier: Apache-2.0

/// What was found by looking at every record of a keychain.
public struct KeychainFindings: Sendable, Equatable {
    /// The file's pages, tables and indexes are as they should be.
    public var isStructureWhole = true
    /// Records that were opened and are whole.
    public var whole = 0
    /// Records that are locked, and were looked at from outside only.
    public var sealed = 0
    /// Records that don't open although their key is there, or that make no sense.
    public var damaged = 0
    /// Whole records that searches would miss, or find under another name.
    public var misindexed = 0
    /// Index entries of records that don't exist.
    public var strayEntries = 0
    /// Damaged records that were set aside within the file, now and earlier.
    public var quarantined = 0
    /// Files of backups, restorations and creations that did not come to their end.
    public var leftovers = 0

    public init() {}

    public var isClean: Bool {
        isStructureWhole && damaged == 0 && misindexed == 0 && strayEntries == 0 && leftovers == 0
    }
}
