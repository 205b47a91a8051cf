// SPDX-License-Identifier: Apache-2.0

/// Why the store could not do what it was asked. Says nothing about any item's content.
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
    /// With SQLite's extended code, or 0.
    case inputOutput(Int32)
    /// Another process holds the file for longer than a request may wait.
    case busy
    case outOfMemory
    /// What requests may hold in memory is in use by others of the same user.
    case noRoom
    // The keybag.
    /// The keybag names another account.
    case belongsToAnother
    case wrongPassword
    /// The key that a protector's kind found is not the one that it was made with.
    case wrongProtectorKey
    /// Without it nothing would open the keychain any more.
    case lastProtector
    /// A password protector asks for more work than any version of this software does.
    case derivationTooCostly
    /// The file was made with another device key.
    case wrongDeviceKey
    /// No protector of the asked kind opens this keychain.
    case notProtected
    // The item.
    /// A key that the item needs is not there.
    case locked
    /// The item was made with an application password, and none was given.
    case needsApplicationPassword
    /// Or the item's secret is damaged: the two can't be told apart.
    case wrongApplicationPassword
    case notFound
    case duplicate
    /// Its bytes can't be opened although the key is there.
    case corruptItem
    case tooLarge
    /// The change names an attribute that the class has not, or that can't be changed.
    case badChange
    /// The judge gave no grant.
    case notGranted
    /// The grant is for another item, another operation or other rights.
    case grantMismatch
}
