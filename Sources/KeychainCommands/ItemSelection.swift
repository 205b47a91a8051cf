// SPDX-License-Identifier: Apache-2.0
internal import ArgumentParser
internal import KeychainModel

/// Which items a command means: those of a name, or those of a class, with such attributes.
struct ItemSelection {
    /// A name, a class, or a class and a name.
    var words: [String] = []
    /// Its class counts for nothing.
    var wanted = WantedItems()
    var asJSON = false

    /// nil: of all classes.
    var kind: ItemKind? { words.first.flatMap(ItemKind.init(rawValue:)) }

    /// nil where a class alone was said, or nothing.
    var name: ItemName? {
        let names = kind == nil ? words[...] : words.dropFirst()
        return names.first.map(ItemName.init)
    }

    /// For the class that was said, without a name.
    func query(_ kind: ItemKind) throws(ValidationError) -> ItemQuery {
        var wanted = wanted
        wanted.kind = kind
        return try wanted.query()
    }

    /// nil where no name was said.
    var named: NamedItems? {
        name.map {
            NamedItems(name: $0, kind: kind, wanted: wanted)
        }
    }

    /// Refuses a command that would mean every item of the class by omission.
    func checkMeansSome(allowingAll: Bool) throws(ValidationError) {
        try checkWords()
        guard let kind else {
            guard name != nil else {
                throw ValidationError(
                    "Say which item, as NAME or NAME/ACCOUNT, or by its class and attributes.")
            }
            return
        }
        let query = try query(kind)
        guard name == nil, !WantedItems.areSaid(by: query), !allowingAll else { return }
        throw ValidationError("Say which items you mean, by --service, --account or the like.")
    }

    func checkWords() throws(ValidationError) {
        guard words.count <= (kind == nil ? 1 : 2) else {
            throw ValidationError("One name is enough: “\(words[words.count - 1])” is one more.")
        }
        guard !words.contains(where: \.isEmpty) else {
            throw ValidationError("An empty name names no item.")
        }
        if let kind { _ = try query(kind) }
    }

    /// The items that are meant, for a change: all of a class with such attributes, or the one of
    /// the name.
    func changedItems(to task: String) throws -> ItemQuery {
        guard let named else { return try query(kind ?? .genericPassword) }
        return try named.reference(from: asked, to: task)
    }

    var asked: Keychain { Keychain(name: wanted.keychain, asJSON: asJSON) }
}

extension NamedItems {
    /// A query for the one item of the name and for nothing else. Its secret is not read for it, nor
    /// is the user asked.
    func reference(from keychain: Keychain, to task: String) throws(CommandFailure) -> ItemQuery {
        query(for: try one(.persistentReference, from: keychain, to: task))
    }

    func query(for item: Item) -> ItemQuery {
        var query = ItemQuery(item.reference.itemClass)
        query.keychain = wanted.keychain
        query.references = [item.reference]
        query.synchronizable = .any
        query.authenticationUI = wanted.mayAsk ? .allow : .fail
        return query
    }
}
