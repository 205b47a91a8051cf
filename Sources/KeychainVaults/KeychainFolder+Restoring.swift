// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainItemStore
internal import KeychainLinuxSystem

extension KeychainFolder {
    /// Puts the restored keychain in its place. Returns the number of the generation that the
    /// replaced keychain became; 0 where there was none, or none that could be read. An unreadable
    /// file is set aside as it is.
    package func put(
        _ returning: ReturningKeychain, _ id: KeychainID
    ) throws(RequestError) -> Int {
        let path = filePath(id.name, id.user)
        defer { forget(id) }
        let live: OpenKeychain
        do throws(RequestError) {
            live = try keychain(id.name.description, of: id.user)
        } catch {
            switch error {
            case .state(.noSuchKeychain), .failed(.keychainGone):
                try setLogsAside(path)
                try make(id.name, of: id.user) { path, _ throws(KeychainStoreError) in
                    try returning.publish(at: path)
                }
            case .failed(.damaged): try replaceUnreadable(path, with: returning)
            case .failed(.inputOutput) where exists(id.name, of: id.user):
                try replaceUnreadable(path, with: returning)
            default: throw error
            }
            return 0
        }
        do throws(KeychainStoreError) { return try returning.replace(live.file).number } catch {
            guard error.isOfUnreadableFile else { throw RequestError(error) }
            try replaceUnreadable(path, with: returning)
            return 0
        }
    }

    /// The present file is set aside unread.
    private func replaceUnreadable(
        _ path: String, with returning: ReturningKeychain
    ) throws(RequestError) {
        let new = KeychainRemains.incomingPath(path)
        try? PrivateFile.removeDatabase(new)
        do { try returning.publish(at: new) } catch { throw RequestError(error) }
        do {
            try PrivateFile.replaceDatabase(
                path, with: new, settingAside: KeychainRemains.pathAside(path))
        } catch { throw RequestError(error) }
    }

    /// SQLite would otherwise write the log of the replaced file into the new one.
    private func setLogsAside(_ path: String) throws(RequestError) {
        guard try !KeychainRemains(of: path).logs.isEmpty else { return }
        do {
            try PrivateFile.setLogsAside(of: path, as: KeychainRemains.pathAside(path))
        } catch { throw RequestError(error) }
    }
}
