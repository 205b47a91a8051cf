// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// Which items a dictionary means: what CopyMatching, Update and Delete read in the same way.
struct Selection {
    enum Call { case copyMatching, update, delete }

    private(set) var query: ItemQuery
    /// The keychains to search; nil is the default one.
    let keychains: [String?]
    let parts: ItemQuery.Parts
    let context: AuthenticationContext?

    init(_ dictionary: CFDictionary, for call: Call) throws(Refusal) {
        let words = try QueryWords(dictionary)
        if call != .copyMatching, !words.match.isEmpty { throw .badRequest }
        let values = try ValueWords(words.values)
        let itemClass = try ItemClass(words, values)
        let attributes = try AttributeWords(words.attributes, of: itemClass)
        let use = try UseWords(words.use)
        parts = try ItemQuery.Parts(words.returns)
        context = use.context
        let match = try MatchWords(words.match, of: itemClass)
        try Self.refuse(words, use, parts, match, for: call)
        keychains = match.keychains ?? [values.item?.keychain]
        query = ItemQuery(itemClass)
        query.attributes = attributes.attributes
        query.accessible = attributes.accessible
        query.accessGroup = attributes.accessGroup
        query.synchronizable = attributes.synchronizable ?? .no
        query.authenticationUI = use.authenticationUI
        query.reason = use.reason
        query.folding = match.folding
        query.hostOrSubdomain = match.hostOrSubdomain
        query.limit = call == .copyMatching ? match.limit : nil
        query.parts = call == .copyMatching ? parts : []
        query.references = Self.references(values, match)
        if query.references != nil, attributes.synchronizable == nil { query.synchronizable = .any }
        if attributes.wantsTombstones { query.references = [] }
    }

    /// The items that are named one by one; nil where none are.
    private static func references(_ values: ValueWords, _ match: MatchWords) -> [ItemReference]? {
        var named: [ItemReference] = []
        if case .item(let reference)? = values.persistentReference { named.append(reference) }
        if let item = values.item { named.append(item.reference) }
        return named.reduce(match.items) { references, reference in
            references?.filter { $0 == reference } ?? [reference]
        }
    }

    private static func refuse(
        _ words: QueryWords, _ use: UseWords, _ parts: ItemQuery.Parts, _ match: MatchWords,
        for call: Call
    ) throws(Refusal) {
        if call != .copyMatching, use.authenticationUI == .skip { throw .badRequest }
        if call != .delete, use.hasItemList { throw .badRequest }
        if call == .update, !parts.isEmpty { throw .badRequest }
        guard call == .copyMatching else { return }
        // A persistent reference says everything.
        let attributes = words.attributes.keys.filter { $0 != .noLegacy }
        if words.values[.persistentReference] != nil, !attributes.isEmpty { throw .badRequest }
        // Every password could ask for an authentication of its own.
        if parts.contains(.data), match.limit == nil { throw .badRequest }
    }
}
