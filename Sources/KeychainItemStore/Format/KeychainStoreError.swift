// SPDX-License-Identifier: Apache-2.0

/// Why the store could not do a request. No case tells anything of an item's content.
package enum KeychainStoreError: Error, Equatable, Sendable {
    // The file.
    /// Not a keychain, not whole, or changed without the keys. Never replaced.
    case damaged
    /// Made by a newer version of this software. Left as it is.
    case newerVersion
    case alreadyExists
    case noSuchFile
    case readOnly
    case diskFull
    /// SQLite's extended error code, or 0.
    case inputOutput(Int32)
    /// Another process has held the file for longer than a request may wait.
    case busy
    case outOfMemory
    /// Other requests of the same user hold all memory that requests may hold.
    case noRoom
    // The keybag.
    /// The keybag names another account.
    case belongsToAnother
    case wrongPassword
    /// The key that the protector's kind found is not the key that it was made with.
    case wrongProtectorKey
    /// Without this protector nothing would open the keychain.
    case lastProtector
    /// A password protector asks for more work than any version of this software does.
    case derivationTooCostly
    /// The file was made with another device key.
    case wrongDeviceKey
    /// No protector of the given kind opens this keychain.
    case notProtected
    // The item.
    /// A class key that the item needs is missing.
    case locked
    /// The item was made with an application password, and none was given.
    case needsApplicationPassword
    /// Or the item's secret is damaged: the two can't be told apart.
    case wrongApplicationPassword
    case notFound
    case duplicate
    /// The item's bytes can't be opened although the key is available.
    case corruptItem
    case tooLarge
    /// The change names an attribute that the class does not have, or that can't be changed.
    case badChange
    /// The judge gave no grant.
    case notGranted
    /// The grant is for another item, another operation or other rights.
    case grantMismatch
}
