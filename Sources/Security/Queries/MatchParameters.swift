// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// The parameters that narrow a search (`kSecMatch…`).
struct MatchParameters {
    private(set) var folding: ItemQuery.Folding = []
    private(set) var hostOrSubdomain: String?
    /// nil means no limit.
    private(set) var limit: Int? = 1
    private(set) var items: [ItemReference]?
    /// Certificates, keys and identities of an item list.
    private(set) var listed: [ValueReference] = []
    private(set) var certificateFilter = CertificateFilter()
    private var itemKeychains: [String?] = []
    private(set) var searchList: [String?]?

    static let limitAll = "m_LimitAll"

    init(
        _ given: [(key: QueryParameters.MatchKey, value: QueryValue)], of queryClass: QueryClass
    ) throws(RequestError) {
        for (key, value) in given { try add(key, value, queryClass) }
        certificateFilter.folding = folding
        // These parameters match every item of other classes, which have no such properties.
        if !queryClass.hasCertificates { certificateFilter = CertificateFilter() }
    }

    /// The keychains to search, where the dictionary names them; nil means those of the user's
    /// search list.
    var keychains: [String?]? {
        if let searchList { return searchList }
        guard items != nil else { return nil }
        return itemKeychains.contains(nil) ? [nil] : itemKeychains
    }

    private mutating func add(
        _ key: QueryParameters.MatchKey, _ value: QueryValue, _ queryClass: QueryClass
    ) throws(RequestError) {
        switch (key, value) {
        case (.limit, _): limit = try Self.limit(value)
        case (.caseInsensitive, .boolean(let folds)): fold(.caseInsensitive, folds)
        case (.diacriticInsensitive, .boolean(let folds)): fold(.diacriticInsensitive, folds)
        case (.widthInsensitive, .boolean(let folds)): fold(.widthInsensitive, folds)
        case (.hostOrSubdomain, .string(let host)):
            guard queryClass == .items(.internetPassword) else { throw .invalid(.notImplemented) }
            hostOrSubdomain = host
        case (.itemList, .array(let items)): try add(items, queryClass)
        case (.searchList, .array(let keychains)): searchList = try Self.names(keychains)
        default: try addFilter(key, value, queryClass)
        }
    }

    private mutating func addFilter(
        _ key: QueryParameters.MatchKey, _ value: QueryValue, _ queryClass: QueryClass
    ) throws(RequestError) {
        switch (key, value) {
        case (.issuers, .array(let names)):
            guard queryClass.hasCertificates else { throw .invalid(.notImplemented) }
            certificateFilter.issuers = names.compactMap { name in
                guard case .data(let data) = QueryValue(name) else { return nil }
                return DistinguishedName.comparedContent(of: data.copiedBytes)
            }
        case (.emailAddress, .string(let text)): certificateFilter.emailAddress = text
        case (.subjectContains, .string(let text)): certificateFilter.subjects[.contains] = text
        case (.subjectStartsWith, .string(let text)): certificateFilter.subjects[.starts] = text
        case (.subjectEndsWith, .string(let text)): certificateFilter.subjects[.ends] = text
        case (.subjectWholeString, .string(let text)): certificateFilter.subjects[.whole] = text
        case (.validOnDate, .date(let seconds)):
            certificateFilter.validOn = Date(timeIntervalSinceReferenceDate: seconds)
        case (.validOnDate, .null): certificateFilter.validOn = Date()
        case (.trustedOnly, .boolean(let isTrusted)):
            certificateFilter.isTrustedOnly = isTrusted
        case (.policy, .policy(let policy)):
            guard queryClass.hasCertificates else { throw .invalid(.notImplemented) }
            certificateFilter.purpose = policy.purpose
        default: throw .invalid(.badRequest)
        }
    }

    private mutating func fold(_ folding: ItemQuery.Folding, _ folds: Bool) {
        if folds { self.folding.insert(folding) }
    }

    private static func limit(_ value: QueryValue) throws(RequestError) -> Int? {
        switch value {
        case .string("m_LimitOne"): 1
        case .string(limitAll), .number(-1): nil
        case .number(let count) where count >= 0: Int(clamping: count)
        default: throw .invalid(.badRequest)
        }
    }

    /// References to items of other classes, or that can't be here, match nothing.
    private mutating func add(_ list: [AnyObject], _ queryClass: QueryClass) throws(RequestError) {
        var references: [ItemReference] = []
        for item in list {
            switch QueryValue(item) {
            case .reference(.password(let item)):
                references.append(item.reference)
                search(item.keychain)
            case .reference(let reference):
                search(nil)
                if reference.queryClass == queryClass { listed.append(reference) }
            case .data(let data):
                search(nil)
                let reference = try PersistentReference(data)
                if reference.queryClass == queryClass { references.append(reference.reference) }
            default: throw .invalid(.badRequest)
            }
        }
        items = references
    }

    private mutating func search(_ keychain: String?) {
        if !itemKeychains.contains(keychain) { itemKeychains.append(keychain) }
    }

    private static func names(_ keychains: [AnyObject]) throws(RequestError) -> [String?] {
        var names: [String?] = []
        for keychain in keychains {
            guard case .keychain(let keychain) = QueryValue(keychain) else {
                throw .invalid(.badRequest)
            }
            if !names.contains(keychain.name) { names.append(keychain.name) }
        }
        return names
    }
}
