// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainWire

extension WireClientMessage.Preferences {
    init(_ change: KeychainPreferencesChange?) {
        self.init()
        switch change {
        case .defaultKeychain(let name):
            defaultKeychain = .init()
            if let name { defaultKeychain.name = name }
        case .searchList(let names): searchList.names = names
        case nil: break
        }
    }

    var preferencesChange: KeychainPreferencesChange? {
        switch change {
        case .defaultKeychain(let keychain):
            .defaultKeychain(keychain.hasName ? keychain.name : nil)
        case .searchList(let list): .searchList(list.names)
        case nil: nil
        }
    }
}

extension KeychainPreferences {
    var wire: WireServerMessage.Preferences {
        var wire = WireServerMessage.Preferences()
        if let defaultKeychain { wire.defaultKeychain = defaultKeychain.description }
        wire.searchList = searchList.map(\.description)
        return wire
    }

    init(_ wire: WireServerMessage.Preferences) throws(MessageError) {
        self.init(defaultKeychain: nil, searchList: [])
        if wire.hasDefaultKeychain {
            guard let name = KeychainName(wire.defaultKeychain) else { throw .malformed }
            defaultKeychain = name
        }
        for text in wire.searchList {
            guard let name = KeychainName(text) else { throw .malformed }
            searchList.append(name)
        }
    }
}
