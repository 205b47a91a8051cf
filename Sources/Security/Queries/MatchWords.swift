// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// How a dictionary narrows a search down (`kSecMatch…`).
struct MatchWords {
    private(set) var folding: ItemQuery.Folding = []
    private(set) var hostOrSubdomain: String?
    /// nil is all.
    private(set) var limit: Int? = 1
    private(set) var items: [ItemReference]?
    private var itemKeychains: [String?] = []
    private var searchList: [String?]?

    init(
        _ words: [QueryWords.MatchKey: QueryValue], of itemClass: ItemClass
    ) throws(Refusal) {
        for (key, value) in words { try add(key, value, itemClass) }
    }

    /// The keychains to search, where the dictionary says so; nil among them is the default one.
    var keychains: [String?]? { searchList ?? (items == nil ? nil : itemKeychains) }

    private mutating func add(
        _ key: QueryWords.MatchKey, _ value: QueryValue, _ itemClass: ItemClass
    ) throws(Refusal) {
        switch (key, value) {
        case (.limit, _): limit = try Self.limit(value)
        case (.caseInsensitive, .boolean(let folds)): fold(.caseInsensitive, folds)
        case (.diacriticInsensitive, .boolean(let folds)): fold(.diacriticInsensitive, folds)
        case (.widthInsensitive, .boolean(let folds)): fold(.widthInsensitive, folds)
        case (.hostOrSubdomain, .string(let host)):
            guard itemClass == .internetPassword else { throw .notImplemented }
            hostOrSubdomain = host
        case (.itemList, .array(let items)): try add(items)
        case (.searchList, .array(let keychains)): searchList = try Self.names(keychains)
        // Passwords have no issuer.
        case (.issuers, .array): throw .notImplemented
        // Filters of certificates, which let every password through.
        case (.emailAddress, .string), (.subjectContains, .string),
            (.subjectStartsWith, .string), (.subjectEndsWith, .string),
            (.subjectWholeString, .string), (.trustedOnly, .boolean), (.validOnDate, .date),
            (.validOnDate, .null):
            break
        default: throw .badRequest
        }
    }

    private mutating func fold(_ folding: ItemQuery.Folding, _ folds: Bool) {
        if folds { self.folding.insert(folding) }
    }

    private static func limit(_ value: QueryValue) throws(Refusal) -> Int? {
        switch value {
        case .string("m_LimitOne"): 1
        case .string("m_LimitAll"), .number(-1): nil
        case .number(let count) where count >= 0: Int(clamping: count)
        default: throw .badRequest
        }
    }

    /// References of items that can't be here, as of other classes, name nothing.
    private mutating func add(_ items: [Any]) throws(Refusal) {
        var references: [ItemReference] = []
        for item in items {
            switch QueryValue(item) {
            case .item(let item):
                references.append(item.reference)
                if !itemKeychains.contains(item.keychain) { itemKeychains.append(item.keychain) }
            case .data(let data):
                guard case .item(let reference) = try PersistentReference(data) else { continue }
                references.append(reference)
                if !itemKeychains.contains(nil) { itemKeychains.append(nil) }
            default: throw .badRequest
            }
        }
        self.items = references
    }

    private static func names(_ keychains: [Any]) throws(Refusal) -> [String?] {
        var names: [String?] = []
        for keychain in keychains {
            guard case .keychain(let keychain) = QueryValue(keychain) else { throw .badRequest }
            names.append(keychain.name)
        }
        return names
    }
}
