// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// Which items a dictionary means: what CopyMatching, Update and Delete read in the same way.
struct Selection {
    enum Call { case copyMatching, update, delete }

    /// What is to be looked for.
    enum Target {
        case items(ItemQuery)
        case identities(IdentityQuery)
    }

    let queryClass: QueryClass
    let target: Target
    /// The keychains meant; nil are those of the user's search list.
    let keychains: [String?]
    let parts: ItemQuery.Parts
    let context: AuthenticationContext?
    /// nil is all.
    let limit: Int?
    let certificateFilter: CertificateFilter
    /// Objects of a list that the search is restricted to, besides the references in its query.
    let listed: [ValueReference]
    /// What the dictionary refers to.
    let reference: ValueReference?
    let isPersistentReference: Bool

    init(_ dictionary: CFDictionary, for call: Call) throws(Refusal) {
        let words = try QueryWords(dictionary)
        guard call.takes(words.match) else { throw .badRequest }
        let values = try ValueWords(words.values)
        let queryClass = try QueryClass(words, values)
        self.queryClass = queryClass
        let attributes = try AttributeWords(words.attributes, of: queryClass)
        let use = try UseWords(words.use)
        parts = try ItemQuery.Parts(words.returns)
        context = use.context
        let match = try MatchWords(words.match, of: queryClass)
        try Self.refuse(words, use, parts, match, queryClass, for: call)
        // One that is used is named like the only one of a list.
        guard use.keychain == nil || match.searchList == nil else { throw .badRequest }
        keychains =
            use.keychain.map { [$0] } ?? match.keychains ?? [values.reference?.keychain]
        limit = call == .copyMatching ? match.limit : nil
        certificateFilter = match.certificateFilter
        listed = match.listed
        reference = values.reference
        isPersistentReference = values.persistentReference != nil
        func query(_ itemClass: ItemClass) -> ItemQuery {
            var query = ItemQuery(itemClass)
            query.attributes = attributes.attributes
            if itemClass == .certificate || queryClass == .identities {
                query.attributes.normalizeIssuer()
            }
            query.accessible = attributes.accessible
            query.accessGroup = attributes.accessGroup
            query.synchronizable = attributes.synchronizable ?? .no
            query.authenticationUI = use.authenticationUI
            query.reason = use.reason
            query.folding = match.folding
            query.hostOrSubdomain = match.hostOrSubdomain
            query.references = Self.references(values, match)
            if query.references != nil, attributes.synchronizable == nil {
                query.synchronizable = .any
            }
            if attributes.wantsTombstones { query.references = [] }
            return query
        }
        func described(_ query: ItemQuery) -> ItemQuery {
            var query = query
            // What the dictionary says itself comes before what it refers to.
            if let own = values.reference?.attributes(for: query.itemClass) {
                query.attributes.merge(own) { given, _ in given }
            }
            return query
        }
        switch queryClass {
        case .items(let itemClass): target = .items(described(query(itemClass)))
        case .identities:
            if call != .copyMatching { try attributes.attributes.refuseUnlessShared() }
            var pair = IdentityQuery(query(.certificate), query(.key))
            if call == .copyMatching { pair.split() }
            pair.certificates = described(pair.certificates)
            pair.keys = described(pair.keys)
            target = .identities(pair)
        }
    }

    /// The items that are named one by one; nil where none are.
    private static func references(_ values: ValueWords, _ match: MatchWords) -> [ItemReference]? {
        var named: [ItemReference] = []
        if let reference = values.persistentReference?.reference { named.append(reference) }
        if case .password(let item)? = values.reference { named.append(item.reference) }
        return named.reduce(match.items) { references, reference in
            references?.filter { $0 == reference } ?? [reference]
        }
    }

    private static func refuse(
        _ words: QueryWords, _ use: UseWords, _ parts: ItemQuery.Parts, _ match: MatchWords,
        _ queryClass: QueryClass, for call: Call
    ) throws(Refusal) {
        if call != .copyMatching, use.authenticationUI == .skip { throw .badRequest }
        if call != .delete, use.hasItemList { throw .badRequest }
        if call == .update, !parts.isEmpty { throw .badRequest }
        guard call == .copyMatching else { return }
        // A persistent reference says everything.
        let attributes = words.attributes.keys.filter { $0 != .noLegacy }
        if words.values[.persistentReference] != nil, !attributes.isEmpty { throw .badRequest }
        // Where something must be asked the service refuses it; file-based keychains do always.
        if queryClass.isPassword, parts.contains(.data), match.limit == nil, words.wantsFileBased {
            throw .badRequest
        }
    }
}

extension Selection.Call {
    /// Update and Delete mean everything they find. Saying so is no mistake where it is Delete that
    /// is told to: programs written for macOS do. Any narrower limit would be one.
    fileprivate func takes(_ match: [QueryWords.MatchKey: QueryValue]) -> Bool {
        switch self {
        case .copyMatching: true
        case .update: match.isEmpty
        case .delete:
            match.allSatisfy { key, value in
                guard key == .limit, case .string(MatchWords.limitAll) = value else { return false }
                return true
            }
        }
    }
}

extension ValueReference {
    /// The keychain that it lies in, where it knows.
    fileprivate var keychain: String? {
        guard case .password(let item) = self else { return nil }
        return item.keychain
    }
}

extension Attributes {
    /// A whole name, as certificates carry it, is looked for in the form that items keep.
    fileprivate mutating func normalizeIssuer() {
        guard case .data(let name)? = self[.issuer] else { return }
        self[.issuer] = .data(DistinguishedName.comparedContent(of: name))
    }
}

extension QueryWords {
    /// `kSecUseDataProtectionKeychain` = false: the behaviour of file-based keychains is expected.
    fileprivate var wantsFileBased: Bool {
        switch attributes[.noLegacy] {
        case .boolean(false), .number(0): true
        default: false
        }
    }
}
