// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import KeychainMessages
package import KeychainModel
package import KeychainUserPresence
internal import KeychainVaults

/// The events about keychains that deputies are told of (`ChangeFeed`).
extension KeychainManagement {
    private static let looking = DispatchQueue(label: "locks told")
    /// The most looks at one keychain for one change of its lock.
    private static let mostLooks = 8

    /// Reports each lock and unlock to deputies. The lock of many keychains is reported from
    /// another thread, which opens their files: that must not delay the removal of other users'
    /// keys.
    func tellLocks() {
        vault.locks.observe { [changes, folder, weak vault] change in
            guard let vault else { return }
            @Sendable func tell(_ id: KeychainID) {
                guard changes.isWatched(id.user, besides: nil),
                    let keychain = try? folder.keychain(id, for: id.user)
                else { return }
                func isLocked() -> Bool { vault.lockState(of: keychain) != .unlocked }
                // Another thread may change and report the lock between the look and the note, so
                // it repeats until the last report is the present state.
                var told = isLocked()
                for _ in 0..<Self.mostLooks {
                    let change = KeychainChange(keychain: id.name.description, .locked(told))
                    changes.note([change], of: id.user)
                    let now = isLocked()
                    guard now != told else { return }
                    told = now
                }
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

    /// Reports that a restore has replaced the keychain.
    package func tellReplaced(_ name: String?, by client: any Client) throws(RequestError) {
        let name = try KeychainFolder.verified(name)
        tell(.replaced, of: try folder.id(name, of: client.caller.user), by: client)
    }
}
