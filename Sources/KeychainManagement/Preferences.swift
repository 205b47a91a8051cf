// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
package import KeychainModel
package import KeychainUserPresence
package import KeychainVaults

/// Users' preferences for calls that name no keychain, and the keychains that a call may name.
extension KeychainManagement {
    /// Only root's programs and the machine's may learn what the machine's keychain contains, and
    /// only root's may change it.
    package func check(
        _ id: KeychainID, toChange: Bool, for caller: Caller
    ) throws(RequestError) {
        guard id.name == .system else { return }
        guard caller.via == nil else { throw .state(.noSuchKeychain) }
        if toChange {
            guard caller.user == 0 else { throw .state(.readOnly) }
        } else {
            guard caller.isOfMachine else { throw .state(.notFound) }
        }
    }

    package func preferences(
        _ change: KeychainPreferencesChange?, for client: any Client
    ) throws(RequestError) -> KeychainPreferences {
        if let change {
            let prompts = prompts(client)
            if client.caller.via != nil, case .defaultKeychain(let name) = change {
                _ = try name.map { name throws(RequestError) in
                    try existing(name, for: client.caller)
                }
                try confirmDefault(name, prompts)
            }
            try prompts.checkClient()
            try folder.changePreferences(of: client.caller) { changed throws(RequestError) in
                try apply(change, to: &changed, for: client.caller)
            }
        }
        return shown(folder.preferences(of: client.caller))
    }

    private func apply(
        _ change: KeychainPreferencesChange, to preferences: inout KeychainPreferences,
        for caller: Caller
    ) throws(RequestError) {
        switch change {
        case .defaultKeychain(let name):
            preferences.defaultKeychain = try name.map { name throws(RequestError) in
                try existing(name, for: caller)
            }
        case .searchList(let names): preferences.searchList = try list(names)
        case .alias(let alias, let name):
            guard KeychainPreferences.isAlias(alias) else { throw .invalid(.badRequest) }
            preferences.aliases[alias] = try name.map { name throws(RequestError) in
                try existing(name, for: caller)
            }
            guard preferences.aliases.count <= KeychainPreferences.mostAliases else {
                throw .invalid(.dataTooLarge)
            }
        }
    }

    private func existing(_ name: String, for caller: Caller) throws(RequestError) -> KeychainName {
        let name = try KeychainFolder.verified(name)
        let id = try folder.id(name, of: caller.user)
        // First, since the machine's keychain may be where it can't be looked for from here.
        try check(id, toChange: true, for: caller)
        guard folder.exists(name, of: id.user) else { throw .state(.noSuchKeychain) }
        return name
    }

    /// The keychains need not exist: lists may be set before, and outlive them.
    private func list(_ names: [String]) throws(RequestError) -> [KeychainName] {
        guard names.count <= KeychainPreferences.mostSearched else { throw .invalid(.badRequest) }
        var list: [KeychainName] = []
        for text in names {
            let name = try KeychainFolder.verified(text)
            if !list.contains(name) { list.append(name) }
        }
        return list
    }

    private func shown(_ preferences: KeychainPreferences) -> KeychainPreferences {
        var shown = preferences
        if !folder.hasSystemKeychain { shown.searchList.removeAll { $0 == .system } }
        return shown
    }
}
