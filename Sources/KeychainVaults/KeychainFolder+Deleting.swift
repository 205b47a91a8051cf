// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainSecrets
package import KeychainModel

/// Deletion of keychains: the file goes, its generations stay for a while, and a mark beside them
/// tells by its age when it was deleted.
extension KeychainFolder {
    /// How long a deleted keychain can be restored.
    package static let deletedKept: Duration = .seconds(30 * 24 * 60 * 60)
    /// A user's deleted keychains that can be restored; with one more, the oldest is removed.
    static let mostDeletedKept = 64
    /// A younger mark beside a file belongs to a deletion that was cut off or is still running.
    private static let longestDeletion: Duration = .seconds(60 * 60)

    package func delete(_ keychain: OpenKeychain) throws(RequestError) {
        let path = keychain.path
        defer { forget(keychain.id) }
        do throws(KeychainStoreError) {
            try keychain.file.delete { () throws(KeychainStoreError) in
                do throws(SystemError) {
                    let mark = KeychainRemains.deletionMark(path)
                    PrivateFile.remove(mark)
                    try PrivateFile.create(mark, contents: SecretBytes(copying: []))
                    try PrivateFile.removeDatabase(path)
                    try PrivateFile.sync(folderOf: path)
                } catch { throw .init(error) }
            }
        } catch { throw RequestError(error) }
        for id in deletedKeychains(of: keychain.id.user).dropFirst(Self.mostDeletedKept) {
            removeRemains(of: id)
        }
    }

    /// The user's deleted keychains that can be restored, the last first.
    private func deletedKeychains(of user: UInt32) -> [KeychainID] {
        let marks = FolderNames.all(in: folder(user)).filter {
            $0.hasSuffix(KeychainRemains.deletionMark(".keychain"))
        }
        let deleted = marks.compactMap { mark -> (id: KeychainID, when: Duration)? in
            guard let name = KeychainRemains.keychain(of: mark), !exists(name, of: user),
                let status = FileStatus(folder(user) + "/" + mark)
            else { return nil }
            return (KeychainID(user: user, name: name), status.changed)
        }
        return deleted.sorted { $0.when > $1.when }.map { $0.id }
    }

    /// Removes the remains of a keychain that was deleted long ago; true where there were any.
    package func removeDeleted(
        _ id: KeychainID, after kept: Duration = deletedKept
    ) -> Bool {
        let path = filePath(id.name, id.user)
        let mark = KeychainRemains.deletionMark(path)
        guard let age = FileStatus(mark)?.age else { return false }
        guard !exists(id.name, of: id.user) else {
            // The keychain was restored, or never deleted. With the mark, a later loss of the file
            // would look like a deletion.
            if age > Self.longestDeletion { PrivateFile.remove(mark) }
            return false
        }
        guard age > kept else { return false }
        return removeRemains(of: id)
    }

    /// Returns false where the folder can't be read.
    @discardableResult
    private func removeRemains(of id: KeychainID) -> Bool {
        let path = filePath(id.name, id.user)
        guard let remains = try? KeychainRemains(of: path) else { return false }
        for name in remains.all {
            FolderNames.remove(folder(id.user) + "/" + name)
        }
        PrivateFile.remove(deviceSecretPath(id.name, id.user))
        PrivateFile.remove(KeychainRemains.deletionMark(path))
        return true
    }
}
