// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// A combination of attribute values that has an index entry of its own.
struct IndexTerm {
    /// None is every item of a scope.
    let values: [(AttributeName, AttributeValue)]

    static let all = IndexTerm(values: [])
}

extension ItemClass {
    /// Attributes by which items are found alone, those that tell items apart best first.
    private var searchable: [AttributeName] {
        switch self {
        case .genericPassword: Self.searchableGeneric
        case .internetPassword: Self.searchableInternet
        case .certificate: Self.searchableCertificate
        case .key: Self.searchableKey
        }
    }
    private static let searchableGeneric: [AttributeName] = [.generic, .account, .label, .service]
    private static let searchableInternet: [AttributeName] = [.account, .label, .server]
    private static let searchableCertificate: [AttributeName] = [.publicKeyHash, .subject, .label]
    private static let searchableKey: [AttributeName] = [
        .applicationTag, .applicationLabel, .label,
    ]

    /// Attributes by which items are found together, the longest first: all that tells items of the
    /// class apart, then the two that programs ask for.
    private var combinations: [[AttributeName]] {
        switch self {
        case .genericPassword: Self.combinedGeneric
        case .internetPassword: Self.combinedInternet
        case .certificate: Self.combinedCertificate
        case .key: []
        }
    }
    private static let combinedGeneric: [[AttributeName]] = [[.service, .account]]
    private static let combinedInternet: [[AttributeName]] = [
        [
            .server, .account, .networkProtocol, .port, .path, .securityDomain,
            .authenticationType,
        ],
        [.server, .account],
    ]
    private static let combinedCertificate: [[AttributeName]] = [[.issuer, .serialNumber]]

    /// Entries under which an item is found.
    func terms(of attributes: Attributes) -> [IndexTerm] {
        let combined = combinations.compactMap { term($0, attributes) }
        return [.all] + combined + searchable.compactMap { single($0, attributes) }
    }

    /// The fewest entries that an item with these values must be found under, the most telling
    /// first; and what they cover.
    func fewestTerms(of wanted: Attributes) -> (terms: [IndexTerm], covered: [AttributeName]) {
        var covered: [AttributeName] = []
        var terms: [IndexTerm] = []
        for names in combinations {
            guard let term = term(names, wanted) else { continue }
            terms.append(term)
            covered = names
            break
        }
        for name in searchable where !covered.contains(name) {
            guard let term = single(name, wanted) else { continue }
            terms.append(term)
            covered.append(name)
        }
        return (terms.isEmpty ? [.all] : terms, covered)
    }

    private func term(_ names: [AttributeName], _ attributes: Attributes) -> IndexTerm? {
        var values: [(AttributeName, AttributeValue)] = []
        values.reserveCapacity(names.count)
        for name in names {
            guard let value = attributes[name], attributeRules[name] != nil else { return nil }
            values.append((name, value))
        }
        return IndexTerm(values: values)
    }

    /// Empty values are those of most items: they get no entry alone.
    private func single(_ name: AttributeName, _ attributes: Attributes) -> IndexTerm? {
        guard attributes[name].map({ !$0.isEmptyCompared }) ?? false else { return nil }
        return term([name], attributes)
    }
}
