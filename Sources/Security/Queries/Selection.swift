// SPDX-License-Identifier: Apache-2.0
internal import KeychainCertificates
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel

/// The items that a dictionary means, which CopyMatching, Update and Delete read in the same way.
///
/// A class, since it is large, never changes and is passed on.
final class Selection {
    enum Call { case copyMatching, update, delete }

    /// The query to send.
    enum Target {
        case items(ItemQuery)
        case identities(IdentityQuery)
    }

    let queryClass: QueryClass
    let target: Target
    /// The keychains to search; nil means those of the user's search list.
    let keychains: [String?]
    let returnFields: ReturnFields
    let context: CallContext?
    /// nil means no limit.
    let limit: Int?
    let certificateFilter: CertificateFilter
    /// Objects of an item list to which the search is restricted, beside the references in its
    /// query.
    let listed: [ValueReference]
    /// The object that the dictionary refers to.
    let reference: ValueReference?
    let isPersistentReference: Bool

    /// The program's, or one for all requests of the call, so that its user is asked once; nil
    /// where the call is one request for each keychain.
    var contextOfCall: CallContext? {
        if case .items = target, listed.isEmpty { return context }
        return context ?? CallContext()
    }

    init(_ dictionary: CFDictionary, for call: Call) throws(RequestError) {
        let parameters = try QueryParameters(dictionary)
        guard call.takes(parameters.match) else { throw .invalid(.badRequest) }
        let queryClass = try parameters.queryClass()
        self.queryClass = queryClass
        let attributes = try AttributeParameters(parameters.attributes, of: queryClass)
        returnFields = parameters.returns
        context = try parameters.use.context()
        let match = try MatchParameters(parameters.match, of: queryClass)
        try Self.refuse(parameters, attributes, match, queryClass, for: call)
        // A keychain to use is treated as a search list with that keychain alone.
        guard parameters.use.keychain == nil || match.searchList == nil else {
            throw .invalid(.badRequest)
        }
        keychains =
            parameters.use.keychain.map { [$0] } ?? match.keychains
            ?? [parameters.values.reference?.keychain]
        limit = call == .copyMatching ? match.limit : nil
        certificateFilter = match.certificateFilter
        listed = match.listed
        reference = parameters.values.reference
        isPersistentReference = parameters.values.persistentReference != nil
        func query(_ itemClass: ItemClass) -> ItemQuery {
            var query = ItemQuery(itemClass)
            query.attributes = attributes.attributes
            if itemClass == .certificate || queryClass == .identities {
                query.attributes.normalizeIssuer()
            }
            query.accessible = attributes.accessible
            query.accessGroup = attributes.accessGroup
            query.synchronizable = attributes.synchronizable ?? .no
            query.authenticationUI = parameters.use.authenticationUI
            query.reason = parameters.use.reason
            query.folding = match.folding
            query.hostOrSubdomain = match.hostOrSubdomain
            query.references = Self.references(parameters.values, match)
            if query.references != nil, attributes.synchronizable == nil {
                query.synchronizable = .any
            }
            if attributes.wantsTombstones { query.references = [] }
            return query
        }
        func describe(_ query: inout ItemQuery) {
            // The dictionary's own attributes override those of the object that it refers to.
            if let own = parameters.values.reference?.attributes(for: query.itemClass) {
                query.attributes = own.merging(query.attributes)
            }
        }
        switch queryClass {
        case .items(let itemClass):
            var query = query(itemClass)
            describe(&query)
            target = .items(query)
        case .identities:
            if call != .copyMatching { try attributes.attributes.refuseUnlessShared() }
            var pair = IdentityQuery(query(.certificate), query(.key))
            if call == .copyMatching { pair.split() }
            describe(&pair.certificates)
            describe(&pair.keys)
            target = .identities(pair)
        }
    }

    /// The references of single items that the dictionary names; nil where there are none.
    private static func references(_ values: ValueParameters, _ match: MatchParameters)
        -> [ItemReference]?
    {
        var named: [ItemReference] = []
        if let reference = values.persistentReference?.reference { named.append(reference) }
        if case .password(let item)? = values.reference { named.append(item.reference) }
        return named.reduce(match.items) { references, reference in
            references?.filter { $0 == reference } ?? [reference]
        }
    }

    private static func refuse(
        _ parameters: QueryParameters, _ attributes: AttributeParameters,
        _ match: MatchParameters, _ queryClass: QueryClass, for call: Call
    ) throws(RequestError) {
        if call != .copyMatching, parameters.use.authenticationUI == .skip {
            throw .invalid(.badRequest)
        }
        if call != .delete, parameters.use.hasItemList { throw .invalid(.badRequest) }
        if call == .update, !parameters.returns.isEmpty { throw .invalid(.badRequest) }
        guard call == .copyMatching else { return }
        // A persistent reference identifies the item completely.
        if parameters.values.persistentReference != nil,
            parameters.attributes.contains(where: { $0.name != .noLegacy })
        {
            throw .invalid(.badRequest)
        }
        // For other keychains the service refuses it where it would have to ask; file-based
        // keychains always refuse.
        if queryClass.isPassword, parameters.returns.contains(.data), match.limit == nil,
            attributes.wantsFileBased
        {
            throw .invalid(.badRequest)
        }
    }
}

extension Selection.Call {
    /// Update and Delete apply to every item that they find. A limit that says so is accepted for
    /// Delete, as programs written for macOS pass it; any narrower limit is refused.
    fileprivate func takes(_ match: [(key: QueryParameters.MatchKey, value: QueryValue)]) -> Bool {
        switch self {
        case .copyMatching: true
        case .update: match.isEmpty
        case .delete:
            match.allSatisfy { key, value in
                guard key == .limit, case .string(MatchParameters.limitAll) = value else {
                    return false
                }
                return true
            }
        }
    }
}

extension ValueReference {
    /// The item's keychain, where the reference knows it.
    fileprivate var keychain: String? {
        guard case .password(let item) = self else { return nil }
        return item.keychain
    }
}

extension Attributes {
    /// Converts a whole issuer name, as certificates contain it, to the form that items store.
    fileprivate mutating func normalizeIssuer() {
        guard case .data(let name)? = self[.issuer] else { return }
        self[.issuer] = .data(DistinguishedName.comparedContent(of: name))
    }
}
