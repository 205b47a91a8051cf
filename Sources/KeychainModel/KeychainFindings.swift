// SPDX-License-Identifier: Apache-2.0

/// The result of checking every record of a keychain.
public struct KeychainFindings: Sendable, Equatable {
    /// Whether the file's pages, tables and indexes are intact.
    public var isStructureWhole = true
    /// Records that were opened and are intact.
    public var whole = 0
    /// Locked records, of which only the outside was checked.
    public var sealed = 0
    /// Records that are invalid, or don't open although their key is available.
    public var damaged = 0
    /// Intact records that searches would miss, or find under another name.
    public var misindexed = 0
    /// Index entries of records that don't exist.
    public var strayEntries = 0
    /// Damaged records that were set aside within the file, now and earlier.
    public var quarantined = 0
    /// Files of unfinished backups, restores and creations.
    public var leftovers = 0

    public init() {}

    public var isClean: Bool {
        isStructureWhole && damaged == 0 && misindexed == 0 && strayEntries == 0 && leftovers == 0
    }
}
