// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// Makes the index entries of one family of items: keyed hashes, which tell nothing and can't
/// confirm a guess without the index key.
///
/// Every token is bound to class, synchronizable and a place: an access group or, for items with a
/// list, a program in the list. So a look-up finds no items of other programs.
enum BlindIndex {
    private static let keyIndexBytes = 16
    /// Holds most messages, so that one allocation is enough.
    private static let usualMessage = 256
    private static let wholePurpose: UInt8 = 0x10

    /// The entry for all items of a class and an accessibility, in clear like the columns of both:
    /// tells whether there is any such item. A keyed token equals so small a number only by chance,
    /// and no item opens by it.
    static func entry(_ itemClass: ItemClass, _ accessible: Accessibility) -> Int64 {
        Int64(itemClass.rawValue) << 8 | Int64(accessible.rawValue)
    }

    /// The scope that a token finds items in.
    struct Scope {
        let itemClass: ItemClass
        let place: Place
        let isSynchronizable: Bool
    }

    enum Place {
        case group(String)
        /// Items whose list contains the program.
        case listing(String)
        /// Items with a list.
        case anyList
    }

    /// The entry for all items that have these values; with no values, for every item of the scope.
    static func token(_ term: IndexTerm, _ scope: Scope, _ key: RawSpan) -> Int64 {
        token(message(term, scope), key)
    }

    static func token(_ message: [UInt8], _ key: RawSpan) -> Int64 {
        Int64(bitPattern: KeyedHash.number(key: key, message))
    }

    /// The bytes that the token is a hash of.
    static func message(_ term: IndexTerm, _ scope: Scope) -> [UInt8] {
        let purpose: UInt8 =
            switch scope.place {
            case .group: 1
            case .listing: 3
            case .anyList: 4
            }
        var message = beginning(term.isWhole ? purpose | wholePurpose : purpose, scope)
        for (name, value) in term.values {
            message.append(name: name)
            if let rule = scope.itemClass.rule(for: name) {
                message.append(value, comparedBy: rule)
            }
        }
        return message
    }

    /// The uniqueness key: equal for two items that must not both exist. In a class whose items may
    /// be equal, each item has its own.
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
        message.append(purpose)
        message.append(scope.itemClass.rawValue)
        message.append(scope.isSynchronizable ? 1 : 0)
        switch scope.place {
        case .group(let name), .listing(let name): message.append(block: name.utf8)
        case .anyList: break
        }
        return message
    }
}

extension [UInt8] {
    /// Appends a block of the bytes that `compared` gives, without making those bytes for the most
    /// common values.
    fileprivate mutating func append(_ value: AttributeValue, comparedBy rule: AttributeRule) {
        switch value {
        case .string(let text) where rule.isHashed: append(block: text.utf8)
        case .data(let bytes) where rule.isHashed: append(block: bytes)
        default: append(block: rule.compared(value))
        }
    }
}

extension AttributeRule {
    /// The bytes by which a value is found. They include its type, unless the rule compares bytes
    /// only.
    func compared(_ value: AttributeValue) -> [UInt8] {
        isHashed ? value.comparedBytes : [value.typeByte] + value.comparedBytes
    }

    /// The bytes for the uniqueness key, where an empty value counts as none.
    fileprivate func comparedKey(_ value: AttributeValue) -> [UInt8] {
        value.comparedBytes.isEmpty ? [] : compared(value)
    }

    /// Whether a stored value equals the one that a query asks for.
    func matches(_ stored: AttributeValue, _ wanted: AttributeValue) -> Bool {
        isHashed ? stored.isSameCompared(wanted) : stored == wanted
    }
}

/// A combination of attribute values that has an index entry of its own.
struct IndexTerm {
    /// With no values the term means every item of a scope.
    let values: [(AttributeName, AttributeValue)]
    /// Whether the term means items with these values and no other values that tell items apart.
    var isWhole = false

    static let all = IndexTerm(values: [])

    /// The term for items of the class `attributed` with exactly these pairs, apart from the
    /// schema.
    static func whole(_ attributes: Attributes) -> IndexTerm {
        IndexTerm(
            values: attributes.tellingPairs.map { ($0.key, $0.value) }, isWhole: true)
    }
}

/// Terms that one item must all have. Most searches have one term, and so need no array.
struct FewestTerms {
    /// nil means every item of the scope.
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
    /// Attributes with an index entry of their own, the most selective first. Each has a rule in its
    /// class: without one its value would be in no entry, and all items that have the attribute under
    /// one.
    var searchable: [AttributeName] {
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

    /// Combinations of attributes with an index entry of their own, the longest first: all
    /// attributes that tell items of the class apart, then the two that programs usually ask for. Each
    /// of them has a rule, as above.
    var combinations: [[AttributeName]] {
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

    /// The entries under which an item is found.
    func terms(of attributes: Attributes) -> [IndexTerm] {
        if self == .attributed { return [.all, .whole(attributes)] + pairTerms(of: attributes) }
        let combined = combinations.compactMap { term($0, attributes) }
        return [.all] + combined + searchable.compactMap { single($0, attributes) }
    }

    /// The fewest entries that an item with these values must have, the most selective first, and
    /// the attributes that they cover.
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
        guard found.covered.count < wanted.count else { return found }
        for name in searchable where !found.covered.contains(name) {
            guard let term = single(name, wanted) else { continue }
            found.add(term, covering: [name])
        }
        return found
    }

    /// Each pair has an entry, even one with an empty value.
    private func pairTerms(of attributes: Attributes) -> [IndexTerm] {
        attributes.pairs.map { IndexTerm(values: [($0.key, $0.value)]) }
    }

    private func term(_ names: [AttributeName], _ attributes: Attributes) -> IndexTerm? {
        var values: [(AttributeName, AttributeValue)] = []
        values.reserveCapacity(names.count)
        for name in names {
            guard let value = attributes[name] else { return nil }
            values.append((name, value))
        }
        return IndexTerm(values: values)
    }

    /// Most items have an empty value, so empty values have no entry of their own.
    private func single(_ name: AttributeName, _ attributes: Attributes) -> IndexTerm? {
        guard attributes[name].map({ !$0.isEmptyCompared }) ?? false else { return nil }
        return term([name], attributes)
    }
}

/// The index data of an item: the entries that it is found under, and the key that no two items may
/// share.
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

/// An item's entries as its row stores them: in ascending order, eight bytes each. From the row
/// alone the item can be removed from the index, whether it opens or not.
enum TokenList {
    static func bytes(_ tokens: Set<Int64>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(tokens.count * 8)
        for token in tokens.sorted() { bytes.append(littleEndian: UInt64(bitPattern: token)) }
        return bytes
    }

    /// A foreign file may have a partial entry at the end: it is ignored.
    static func tokens(_ bytes: [UInt8]) -> Set<Int64> {
        var reader = ByteReader(bytes)
        var tokens: Set<Int64> = []
        while let number = try? reader.number(UInt64.self) {
            tokens.insert(Int64(bitPattern: number))
        }
        return tokens
    }
}
