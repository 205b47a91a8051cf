// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainVaults

/// The verbs for programs that a deputy brings, in one table (docs/design/identity.md, Relayed
/// programs). Such a program has items of the class `attributed` and its user's keychains, without
/// the machine's. It sends no password: the user types what opens a keychain into a prompter.
enum RelayedVerbs {
    static func check(_ verb: any Verb) throws(RequestError) {
        try checkKeychain(try keychain(of: verb))
    }

    /// The keychain that the verb names. Throws for a verb that such programs may not use.
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
        // A reference means its item, whichever class the query names.
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
