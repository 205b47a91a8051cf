// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// Makes the index entries of one family of items: hashes that say nothing without the index key,
/// and that can't be made to check a guess.
///
/// Every token is bound to class, synchronizable and a place: an access group or, for items with a
/// list, a program in it. So a look-up sees no one else's items.
enum BlindIndex {
    private static let keyIndexBytes = 16
    /// Bytes of most messages: one allocation holds them.
    private static let usualMessage = 256
    private static let wholePurpose: UInt8 = 0x10

    /// The entry for all items of a class and an accessibility, readable as the columns of both are:
    /// tells whether there is any. No key makes a token so small but by chance, and none opens by it.
    static func entry(_ itemClass: ItemClass, _ accessible: Accessibility) -> Int64 {
        Int64(itemClass.rawValue) << 8 | Int64(accessible.rawValue)
    }

    /// Where a token finds items.
    struct Scope {
        let itemClass: ItemClass
        let place: Place
        let isSynchronizable: Bool
    }

    enum Place {
        case group(String)
        /// Items whose list names the program.
        case listing(String)
        /// Items that have a list.
        case anyList
    }

    /// The entry for all the items that have these values, or for every item of the scope.
    static func token(_ term: IndexTerm, _ scope: Scope, _ key: RawSpan) -> Int64 {
        token(message(term, scope), key)
    }

    static func token(_ message: [UInt8], _ key: RawSpan) -> Int64 {
        Int64(bitPattern: KeyedHash.number(key: key, message))
    }

    /// What is hashed for it.
    static func message(_ term: IndexTerm, _ scope: Scope) -> [UInt8] {
        let purpose: UInt8 =
            switch scope.place {
            case .group: 1
            case .listing: 3
            case .anyList: 4
            }
        var message = beginning(term.isWhole ? purpose | wholePurpose : purpose, scope)
        for (name, value) in term.values {
            message.append(block: name.rawValue.utf8)
            if let rule = scope.itemClass.rule(for: name) {
                message.append(value, comparedBy: rule)
            }
        }
        return message
    }

    /// The uniqueness key: the same for two items that must not both exist. In a class whose items may
    /// be the same, each has its own.
    static func keyIndex(
        _ record: AttributeRecord, _ reference: ItemReference, _ key: RawSpan
    ) -> [UInt8] {
        let itemClass = reference.itemClass
        let scope = Scope(
            itemClass: itemClass, place: .group(record.group),
            isSynchronizable: record.isSynchronizable)
        var message = beginning(2, scope)
        if itemClass.keyAttributes.isEmpty { reference.append(identifierTo: &message) }
        for rule in itemClass.keyAttributes
        where rule.name != .accessGroup && rule.name != .synchronizable {
            let value = record.attributes[rule.name] ?? rule.defaultValue
            message.append(block: value.map { rule.comparedKey($0) } ?? [])
        }
        return KeyedHash.hash(key: key, message, count: Self.keyIndexBytes)
    }

    private static func beginning(_ purpose: UInt8, _ scope: Scope) -> [UInt8] {
        var message: [UInt8] = []
        message.reserveCapacity(usualMessage)
        message += [purpose, scope.itemClass.rawValue, scope.isSynchronizable ? 1 : 0]
        switch scope.place {
        case .group(let name), .listing(let name): message.append(block: name.utf8)
        case .anyList: break
        }
        return message
    }
}

extension [UInt8] {
    /// A block of what `compared` gives, which is made nowhere else for what most values are.
    fileprivate mutating func append(_ value: AttributeValue, comparedBy rule: AttributeRule) {
        switch value {
        case .string(let text) where rule.isHashed: append(block: text.utf8)
        case .data(let bytes) where rule.isHashed: append(block: bytes)
        default: append(block: rule.compared(value))
        }
    }
}

extension AttributeRule {
    /// The bytes by which a value is found: its type counts, except where only bytes are compared.
    func compared(_ value: AttributeValue) -> [UInt8] {
        isHashed ? value.comparedBytes : [value.typeByte] + value.comparedBytes
    }

    /// The same for the uniqueness key, where an empty value is as good as none.
    fileprivate func comparedKey(_ value: AttributeValue) -> [UInt8] {
        value.comparedBytes.isEmpty ? [] : compared(value)
    }

    /// Whether a stored value is the one that a query asks for.
    func matches(_ stored: AttributeValue, _ wanted: AttributeValue) -> Bool {
        isHashed ? stored.isSameCompared(wanted) : stored == wanted
    }
}

/// A combination of attribute values that has an index entry of its own.
struct IndexTerm {
    /// None is every item of a scope.
    let values: [(AttributeName, AttributeValue)]
    /// Items that have these values and no others that tell them apart.
    var isWhole = false

    static let all = IndexTerm(values: [])

    /// That of the items of the class `attributed` with the same pairs.
    static func whole(_ attributes: Attributes) -> IndexTerm {
        IndexTerm(
            values: attributes.tellingPairs.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
            isWhole: true)
    }
}

/// Terms that one item must all have. Most searches have one, for which no list is made.
struct FewestTerms {
    /// nil: every item of the scope.
    private var found: IndexTerm?
    private(set) var others: [IndexTerm]
    private(set) var covered: [AttributeName]

    init(first: IndexTerm?, others: [IndexTerm], covered: [AttributeName]) {
        found = first
        self.others = others
        self.covered = covered
    }

    var first: IndexTerm { found ?? .all }

    mutating func add(_ term: IndexTerm, covering names: [AttributeName]) {
        guard found != nil else {
            found = term
            covered = names
            return
        }
        others.append(term)
        covered += names
    }
}

extension ItemClass {
    /// Attributes by which items are found alone, those that tell items apart best first.
    private var searchable: [AttributeName] {
        switch self {
        case .genericPassword: Self.searchableGeneric
        case .internetPassword: Self.searchableInternet
        case .certificate: Self.searchableCertificate
        case .key: Self.searchableKey
        case .attributed: []
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
        case .key, .attributed: []
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
        if self == .attributed { return [.all, .whole(attributes)] + pairTerms(of: attributes) }
        let combined = combinations.compactMap { term($0, attributes) }
        return [.all] + combined + searchable.compactMap { single($0, attributes) }
    }

    /// The fewest entries that an item with these values must be found under, the most telling
    /// first; and what they cover.
    func fewestTerms(of wanted: Attributes) -> FewestTerms {
        if self == .attributed {
            let terms = pairTerms(of: wanted)
            return FewestTerms(
                first: terms.first, others: Array(terms.dropFirst()),
                covered: terms.flatMap { $0.values.map(\.0) })
        }
        var found = FewestTerms(first: nil, others: [], covered: [])
        for names in combinations {
            guard let term = term(names, wanted) else { continue }
            found.add(term, covering: names)
            break
        }
        for name in searchable where !found.covered.contains(name) {
            guard let term = single(name, wanted) else { continue }
            found.add(term, covering: [name])
        }
        return found
    }

    /// Each pair has an entry, an empty one too.
    private func pairTerms(of attributes: Attributes) -> [IndexTerm] {
        attributes.pairs.map { IndexTerm(values: [($0.key, $0.value)]) }
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

/// What the file's indexes hold of an item: the entries that it is found under, and the key that no
/// two items may share.
struct ItemIndex: Equatable {
    let tokens: Set<Int64>
    let keyIndex: [UInt8]

    init(tokens: Set<Int64>, keyIndex: [UInt8]) {
        self.tokens = tokens
        self.keyIndex = keyIndex
    }

    init(_ record: AttributeRecord, _ reference: ItemReference, _ key: RawSpan) {
        let itemClass = reference.itemClass
        let terms = itemClass.terms(of: record.attributes)
        var tokens: Set = [BlindIndex.entry(itemClass, record.accessControl.protection)]
        for place in record.places {
            let scope = BlindIndex.Scope(
                itemClass: itemClass, place: place, isSynchronizable: record.isSynchronizable)
            for term in terms { tokens.insert(BlindIndex.token(term, scope, key)) }
        }
        self.tokens = tokens
        keyIndex = BlindIndex.keyIndex(record, reference, key)
    }
}

/// An item's entries as its row keeps them, the smallest first, eight bytes each: with them the row
/// says where it is to be taken out of the index, whether it opens or not.
enum TokenList {
    static func bytes(_ tokens: Set<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tokens.count * 8)
        for token in tokens.sorted() { bytes.append(littleEndian: UInt64(bitPattern: token)) }
        return bytes
    }

    /// What is behind the last whole one, in a file that others have written, is none.
    static func tokens(_ bytes: [UInt8]) -> Set<Int64> {
        var reader = ByteReader(bytes)
        var tokens: Set<Int64> = []
        while let number = try? reader.number(UInt64.self) {
            tokens.insert(Int64(bitPattern: number))
        }
        return tokens
    }
}
