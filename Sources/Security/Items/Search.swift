// SPDX-License-Identifier: Apache-2.0
internal import KeychainCertificates
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// One search, keychain by keychain, with the conditions that only this side of the service can
/// check: the content of a certificate, and the key that belongs to it.
struct Search {
    private let selection: Selection
    private let returnFields: ReturnFields
    private let endpoint: any KeychainEndpoint
    private let context: CallContext?

    init(
        _ selection: Selection, returnFields: ReturnFields, in context: CallContext? = nil,
        at endpoint: any KeychainEndpoint
    ) {
        self.selection = selection
        self.returnFields = returnFields
        self.endpoint = endpoint
        self.context = context ?? selection.contextOfCall
    }

    func results() throws(RequestError) -> [SearchResult] {
        var results: [SearchResult] = []
        for keychain in selection.keychains {
            let left = selection.limit.map { $0 - results.count }
            let found = try self.results(in: keychain, atMost: left)
            if results.isEmpty { results = found } else { results += found }
            if let limit = selection.limit, results.count >= limit { break }
        }
        return results
    }

    private func results(
        in keychain: String?, atMost limit: Int?
    ) throws(RequestError) -> [SearchResult] {
        switch selection.target {
        case .items(var query):
            query.keychain = keychain
            query.limit = limit
            try restrict(&query)
            let found =
                try query.itemClass == .certificate
                ? certificates(query, returnFields) : items(query, returnFields)
            return found.map { .item($0, keychain: keychain) }
        case .identities(var pair):
            pair.certificates.keychain = keychain
            pair.keys.keychain = keychain
            try restrict(&pair.certificates)
            return try identities(pair, atMost: limit)
        }
    }

    /// Restricts the query to the items of the listed objects.
    private func restrict(_ query: inout ItemQuery) throws(RequestError) {
        for object in selection.listed {
            var of = ItemQuery(query.itemClass)
            of.keychain = query.keychain
            of.synchronizable = .any
            of.limit = nil
            of.attributes = object.attributes(for: query.itemClass)
            of.authenticationUI = query.authenticationUI
            of.reason = query.reason
            let found = try items(of, .persistentReference)
            query.references?.append(contentsOf: found.map(\.reference))
        }
    }

    /// The certificates that match the query and the selection's filter, with their attributes.
    func certificates(_ query: ItemQuery) throws(RequestError) -> [Item] {
        var query = query
        query.keychain = selection.keychains.first ?? nil
        query.limit = nil
        return try items(query, .attributes)
    }

    private func certificates(
        _ query: ItemQuery, _ returnFields: ReturnFields
    ) throws(RequestError) -> [Item] {
        let filter = selection.certificateFilter
        guard !filter.isEmpty else { return try items(query, returnFields) }
        var all = query
        all.limit = nil
        var matching: [Item] = []
        for item in try items(all, returnFields.union([.data, .attributes])) {
            if let limit = query.limit, matching.count >= limit { break }
            if try matches(item, filter, query) { matching.append(item) }
        }
        return matching
    }

    private func matches(
        _ item: Item, _ filter: CertificateFilter, _ query: ItemQuery
    ) throws(RequestError) -> Bool {
        guard let bytes = item.secret?.bytes.releasedFromLockedMemory(),
            let certificate = CertificateContent(bytes), filter.matches(certificate),
            case .data(let issuer)? = item.attributes[.issuer]
        else { return false }
        let isIssued = try filter.isIssued(by: issuer) { subject throws(RequestError) in
            try certificates(of: subject, query, .attributes).compactMap { found in
                guard case .data(let issuer)? = found.attributes[.issuer] else { return nil }
                return issuer
            }
        }
        guard isIssued, filter.needsChain else { return isIssued }
        let chain = CertificateChain(anchors: .ofMachine, date: filter.date) {
            subject throws(RequestError) in
            try certificates(of: subject, query, .data).compactMap { found in
                found.secret.flatMap { CertificateContent($0.bytes.releasedFromLockedMemory()) }
            }
        }
        return try chain.isTrusted(certificate)
    }

    /// The certificates of one subject, whatever else the query asks for. The program did not ask
    /// for them, so that the user is not asked for them either.
    private func certificates(
        of subject: [UInt8], _ query: ItemQuery, _ returnFields: ReturnFields
    ) throws(RequestError) -> [Item] {
        var above = ItemQuery(.certificate)
        above.keychain = query.keychain
        above.synchronizable = .any
        above.limit = nil
        above.authenticationUI = .skip
        above.attributes = [.subject: .data(subject)]
        return try items(above, returnFields)
    }

    private func identities(
        _ pair: IdentityQuery, atMost limit: Int?
    ) throws(RequestError) -> [SearchResult] {
        var found: [SearchResult] = []
        if limit == 0 { return [] }
        var all = pair.certificates
        all.limit = nil
        let ofCertificate = returnFields.subtracting(.data).union(.attributes)
        for certificate in try certificates(all, ofCertificate) {
            guard let label = certificate.attributes[.publicKeyHash] else { continue }
            var query = pair.keys
            // The query's own condition on the label must hold too.
            if let wanted = query.attributes[.applicationLabel], wanted != label { continue }
            query.attributes[.applicationLabel] = label
            query.limit = limit.map { $0 - found.count }
            for key in try items(query, returnFields) {
                found.append(.identity(certificate: certificate, key: key))
            }
            if let limit, found.count >= limit { break }
        }
        return found
    }

    /// The matching items of one keychain. An empty result is no refusal, as another keychain may
    /// have some.
    private func items(
        _ query: consuming ItemQuery, _ returnFields: ReturnFields
    ) throws(RequestError) -> [Item] {
        query.returnFields = returnFields.needed(of: query.itemClass)
        do throws(RequestError) {
            return try endpoint.send(CopyMatching(query), in: context)
        } catch {
            guard error == .state(.notFound) else { throw error }
            return []
        }
    }
}

extension ReturnFields {
    /// Adds the parts that the object for an item is made of.
    func needed(of itemClass: ItemClass) -> ReturnFields {
        let isMadeOfData = itemClass == .certificate || itemClass == .key
        return isMadeOfData && contains(.reference) ? union([.data, .attributes]) : self
    }
}
