// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainVaults

/// What a program that a deputy brings may ask for: the one table (docs/design/identity.md, Relayed
/// programs). It has items of the class `attributed`, its user's keychains without the machine's, and
/// no password: what opens a keychain the user types into a prompter.
enum RelayedVerbs {
    static func check(_ verb: any Verb) throws(RequestError) {
        try checkKeychain(try keychain(of: verb))
    }

    /// The keychain that the verb names. Throws for a verb that is not for such programs.
    private static func keychain(of verb: any Verb) throws(RequestError) -> String? {
        switch verb {
        case let verb as FindAttributed: return verb.keychain
        case let verb as CopyMatching: return try keychain(of: verb.query)
        case let verb as Add:
            try require(verb.item.itemClass == .attributed)
            return verb.item.keychain
        case let verb as Update: return try keychain(of: verb.query)
        case let verb as Delete: return try keychain(of: verb.query)
        case is Status, is ReadCapabilities: return nil
        case let verb as EndProofs:
            try require(verb.items.allSatisfy { $0.itemClass == .attributed })
            return nil
        case let verb as WouldAsk:
            switch verb.matter {
            case .items(let items):
                try require(items.allSatisfy { $0.itemClass == .attributed })
                return nil
            case .creatingKeychain: return nil
            case .unlocking(let keychain), .deleting(let keychain): return keychain
            }
        case let verb as CreateKeychain:
            try require(verb.asks)
            return verb.name
        case let verb as Unlock:
            try require(verb.password == nil)
            return verb.keychain
        case let verb as Lock: return verb.keychain
        case let verb as DeleteKeychain: return verb.keychain
        case let verb as ChangeSettings:
            try require(verb.change.isOfLabelAlone)
            return verb.keychain
        case let verb as Preferences: return try keychain(of: verb.change)
        default: throw .refused(.notEntitled)
        }
    }

    private static func keychain(of query: ItemQuery) throws(RequestError) -> String? {
        try require(query.itemClass == .attributed)
        // A reference means its item, whichever class was asked for.
        try require(query.references?.allSatisfy { $0.itemClass == .attributed } ?? true)
        return query.keychain
    }

    private static func keychain(
        of change: KeychainPreferencesChange?
    ) throws(RequestError) -> String? {
        switch change {
        case nil: return nil
        case .defaultKeychain(let name), .alias(_, let name): return name
        case .searchList: throw .refused(.notEntitled)
        }
    }

    private static func checkKeychain(_ name: String?) throws(RequestError) {
        guard let name, try KeychainFolder.verified(name) == .system else { return }
        throw .state(.noSuchKeychain)
    }

    private static func require(_ isAllowed: Bool) throws(RequestError) {
        guard isAllowed else { throw .refused(.notEntitled) }
    }
}
