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
        var message = beginning(purpose, scope)
        let rules = scope.itemClass.attributeRules
        for (name, value) in term.values {
            message.append(block: name.rawValue.utf8)
            if let rule = rules[name] { message.append(value, comparedBy: rule) }
        }
        return message
    }

    /// The uniqueness key: the same for two items that must not both exist.
    static func keyIndex(
        _ record: AttributeRecord, _ itemClass: ItemClass, _ key: RawSpan
    ) -> [UInt8] {
        let scope = Scope(
            itemClass: itemClass, place: .group(record.group),
            isSynchronizable: record.isSynchronizable)
        var message = beginning(2, scope)
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
