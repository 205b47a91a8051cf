// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainVaults
internal import KeyringStore
internal import LoginRegistry

/// Room for another key: the kernel limits the keys of this process's number.
extension KernelVault {
    /// Removes keys of a login's until there is room for another one of that kind: first those of
    /// logins that are over, then the oldest login's, and this login's own last.
    func makeRoom(for name: String, _ kind: KeyName.Kind, in session: LoginSession) {
        let names = names(kind, of: session.user)
        let surplus = names.count + 1 - kind.most
        guard surplus > 0, !names.contains(name) else { return }
        let order = sessions.order(of: session.user)
        func place(_ name: String) -> Int {
            guard let login = KeyName.session(of: name) else { return -1 }
            return login == session.id ? order.count : order.firstIndex(of: login) ?? -1
        }
        remove(surplus, of: names, of: session.user, by: place)
    }

    /// Keychains that are gone give way first. A folder that root filled may have more than fit.
    func makeRoomForFirstUnlock(_ name: String, of user: UInt32) {
        let names = names(.firstUnlock, of: user)
        let surplus = names.count + 1 - KeyName.Kind.firstUnlock.most
        guard surplus > 0, !names.contains(name) else { return }
        let known = Set(protectors.keychains(of: user).map(KeyName.firstUnlock))
        remove(surplus, of: names, of: user) { known.contains($0) ? 1 : 0 }
    }

    private func remove(
        _ count: Int, of names: [String], of user: UInt32, by place: (String) -> Int
    ) {
        let inOrder = names.map { (place($0), $0) }.sorted { $0 < $1 }
        for (_, name) in inOrder.prefix(count) { keyring.remove(name, of: user) }
    }
}
