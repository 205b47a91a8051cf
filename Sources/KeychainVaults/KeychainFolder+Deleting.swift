// SPDX-License-Identifier: Apache-2.0
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainSecrets
package import KeychainModel

/// A deleted keychain is one whose file is gone on purpose: its generations stay for a while, and a mark
/// beside them says since when.
extension KeychainFolder {
    /// How long a deleted keychain can be restored.
    package static let deletedKept: Duration = .seconds(30 * 24 * 60 * 60)
    /// A mark beside a file is of a deletion that was cut off, or goes on now.
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
                    PrivateFile.removeDatabase(path)
                    try PrivateFile.sync(folderOf: path)
                } catch { throw .init(error) }
            }
        } catch { throw RequestError(error) }
    }

    /// Removes what is left of a keychain that was deleted long ago; true where there was such a one.
    package func removeDeleted(
        _ id: KeychainID, after kept: Duration = deletedKept
    ) -> Bool {
        let path = filePath(id.name, id.user)
        let mark = KeychainRemains.deletionMark(path)
        guard let age = FileStatus(mark)?.age else { return false }
        guard !exists(id.name, of: id.user) else {
            // Restored since, or never gone: a loss of the file would look like a deletion.
            if age > Self.longestDeletion { PrivateFile.remove(mark) }
            return false
        }
        guard age > kept else { return false }
        for name in KeychainRemains(of: path).all {
            FolderNames.remove(folder(id.user) + "/" + name)
        }
        PrivateFile.remove(deviceSecretPath(id.name, id.user))
        PrivateFile.remove(mark)
        return true
    }
}
