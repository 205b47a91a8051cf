// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainMessages
package import KeychainModel
package import KeychainUserPresence
internal import KeychainVaults

/// What deputies are told of keychains (`ChangeFeed`).
extension KeychainManagement {
    private static let looking = DispatchQueue(label: "locks told")

    /// Has what locks and opens keychains told. The lock of many is told from another thread, which looks
    /// at their files: no other user's keys stay a moment longer for that.
    func tellLocks() {
        vault.locks.observe { [changes, folder, weak vault] change in
            guard let vault else { return }
            @Sendable func tell(_ id: KeychainID) {
                guard changes.isWatched(id.user, besides: nil),
                    let keychain = try? folder.keychain(id, for: id.user)
                else { return }
                let isLocked = vault.lockState(of: keychain) != .unlocked
                let told = KeychainChange(keychain: id.name.description, .locked(isLocked))
                changes.note([told], of: id.user)
            }
            switch change {
            case .keychain(let id): tell(id)
            case .all(let users):
                let watched = users.filter { changes.isWatched($0, besides: nil) }
                guard !watched.isEmpty else { return }
                Self.looking.async {
                    for user in watched {
                        for name in folder.names(of: user) {
                            if let id = try? folder.id(name, of: user) { tell(id) }
                        }
                    }
                }
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
