// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
package import KeychainModel
package import KeychainUserPresence
internal import KeychainVaults

/// What deputies are told of keychains (`ChangeFeed`).
extension KeychainManagement {
    /// Has what locks and opens keychains told.
    func tellLocks() {
        vault.locks.observe { [changes, folder, vault] change in
            let meant: [KeychainID]
            switch change {
            case .keychain(let id): meant = [id]
            case .all(let users):
                meant = users.filter { changes.isWatched($0, besides: nil) }.flatMap { user in
                    folder.names(of: user).compactMap { try? folder.id($0, of: user) }
                }
            }
            for id in meant where changes.isWatched(id.user, besides: nil) {
                guard let keychain = try? folder.keychain(id, for: id.user) else { continue }
                let isLocked = vault.lockState(of: keychain) != .unlocked
                let told = KeychainChange(keychain: id.name.description, .locked(isLocked))
                changes.note([told], of: id.user)
            }
        }
    }

    func tell(_ event: KeychainChange.Event, of id: KeychainID, by client: any Client) {
        let change = KeychainChange(keychain: id.name.description, event)
        changes.note([change], of: id.user, by: client.deputy)
    }

    /// A restore ends what was known of the keychain.
    package func tellReplaced(_ name: String?, by client: any Client) throws(RequestError) {
        let name = try KeychainFolder.verified(name)
        tell(.replaced, of: try folder.id(name, of: client.caller.user), by: client)
    }
}
