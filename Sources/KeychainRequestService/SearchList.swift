// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults

/// Which keychains a call means (docs/design/system-keychain.md).
extension KeychainService {
    /// Where a call looks: into the keychain that it names, or through its user's list. What is to be
    /// changed is not looked for in the machine's, where that is neither named nor the default.
    func keychains(
        _ query: ItemQuery, toChange: Bool, for caller: Caller
    ) throws(RequestError) -> [KeychainID] {
        if let name = query.keychain {
            let id = try folder.id(KeychainFolder.verified(name), of: caller.user)
            try check(id, toChange: toChange, for: caller)
            return [id]
        }
        let preferences = preferences(of: caller)
        var names = preferences.searchList
        // A reference means one item, wherever it is.
        if query.references != nil {
            names += folder.names(of: caller.user).filter { !names.contains($0) }
        }
        let mayBeSystem =
            toChange
            ? caller.user == 0 && preferences.defaultKeychain == .system : caller.isOfMachine
        if !folder.hasSystemKeychain || !mayBeSystem { names.removeAll { $0 == .system } }
        if caller.session == nil, let index = names.firstIndex(of: .system) {
            names.insert(names.remove(at: index), at: 0)
        }
        var keychains: [KeychainID] = []
        for name in names { keychains.append(try folder.id(name, of: caller.user)) }
        return keychains
    }

    /// Where a new item goes.
    func keychainForNew(_ name: String?, for caller: Caller) throws(RequestError) -> KeychainID {
        let verified: KeychainName
        if let name {
            verified = try KeychainFolder.verified(name)
        } else {
            guard let byDefault = preferences(of: caller).defaultKeychain else {
                throw .state(.noDefaultKeychain)
            }
            verified = byDefault
        }
        let id = try folder.id(verified, of: caller.user)
        try check(id, toChange: true, for: caller)
        return id
    }

    /// Others than root's programs and the machine's don't learn what is in its keychain, and none
    /// but root's change it.
    private func check(
        _ id: KeychainID, toChange: Bool, for caller: Caller
    ) throws(RequestError) {
        guard id.name == .system else { return }
        if toChange {
            guard caller.user == 0 else { throw .state(.readOnly) }
        } else {
            guard caller.isOfMachine else { throw .state(.notFound) }
        }
    }

    /// Does the work in one place after the other until it says that it has enough, and says whether
    /// any had something. Keychains of a list may be gone; one that is named must be there.
    func each(
        of keychains: [KeychainID],
        _ work: (OpenKeychain) throws(RequestError) -> Bool
    ) throws(RequestError) {
        var hasFound = false
        var exists = keychains.isEmpty
        for id in keychains {
            do throws(RequestError) {
                let keychain = try folder.keychain(id, for: id.user)
                exists = true
                let isEnough = try work(keychain)
                hasFound = true
                if isEnough { break }
            } catch {
                guard error == .state(.notFound) || error == .state(.noSuchKeychain) else {
                    throw error
                }
            }
        }
        guard exists else { throw .state(.noSuchKeychain) }
        guard hasFound else { throw .state(.notFound) }
    }

    // MARK: Preferences

    func preferences(
        _ change: KeychainPreferencesChange?, for client: any Client
    ) throws(RequestError) -> KeychainPreferences {
        let user = client.caller.user
        if let change {
            var new = preferences(of: client.caller)
            switch change {
            case .defaultKeychain(let name):
                new.defaultKeychain = try name.map { name throws(RequestError) in
                    try existing(name, for: client.caller)
                }
            case .searchList(let names): new.searchList = try list(names)
            }
            try prompts(client).checkClient()
            try folder.makeFolder(of: user)
            do {
                try folder.preferences.save(new, for: user, in: folder.folder(user))
            } catch { throw RequestError(error) }
        }
        return shown(preferences(of: client.caller))
    }

    private func existing(_ name: String, for caller: Caller) throws(RequestError) -> KeychainName {
        let name = try KeychainFolder.verified(name)
        let id = try folder.id(name, of: caller.user)
        guard folder.exists(name, of: id.user) else { throw .state(.noSuchKeychain) }
        try check(id, toChange: true, for: caller)
        return name
    }

    /// They need not exist: lists are made before and outlive what they name.
    private func list(_ names: [String]) throws(RequestError) -> [KeychainName] {
        guard names.count <= KeychainPreferences.mostSearched else { throw .invalid(.badRequest) }
        var list: [KeychainName] = []
        for text in names {
            let name = try KeychainFolder.verified(text)
            if !list.contains(name) { list.append(name) }
        }
        return list
    }

    private func preferences(of caller: Caller) -> KeychainPreferences {
        let user = caller.user
        let said = folder.preferences.load(for: user, from: folder.folder(user))
        guard user == 0, caller.session == nil, said == .standard,
            case .unit = caller.identity
        else { return said }
        // Root's services have no login that could open another.
        var preferences = said
        preferences.defaultKeychain = .system
        return preferences
    }

    private func shown(_ preferences: KeychainPreferences) -> KeychainPreferences {
        var shown = preferences
        if !folder.hasSystemKeychain { shown.searchList.removeAll { $0 == .system } }
        return shown
    }
}
