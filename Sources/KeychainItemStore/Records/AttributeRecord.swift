// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// Everything about an item but its secret: what is sealed as its attributes.
struct AttributeRecord: Sendable, Equatable {
    /// All but group, synchronizable and dates.
    var attributes: Attributes
    var group: String
    var isSynchronizable: Bool
    /// An item without a secret differs from one whose secret is empty.
    var hasSecret: Bool
    /// Seconds since 2001.
    var created: Double
    var modified: Double
    var accessControl: ItemAccessControl
    /// Programs that are let in beside its group; nil where it has no list.
    var trusted: TrustList?

    /// What the record keeps in fields of their own, wherever it was put.
    private static let ownFields: Set<AttributeName> = [
        .accessGroup, .synchronizable, .creationDate, .modificationDate, .accessible,
        .accessControl, .access,
    ]

    /// Those that an answer has besides `attributes`.
    static let fieldsOfAnswers: [AttributeName] = [
        .accessGroup, .synchronizable, .creationDate, .modificationDate,
    ]

    var allAttributes: Attributes {
        var all = attributes
        for name in Self.fieldsOfAnswers { all[name] = self[name] }
        return all
    }

    subscript(_ name: AttributeName) -> AttributeValue? {
        switch name {
        case .accessGroup: .string(group)
        case .synchronizable: .number(isSynchronizable ? 1 : 0)
        case .creationDate: .date(created)
        case .modificationDate: .date(modified)
        default: attributes[name]
        }
    }
}

extension AttributeRecord {
    /// Absent attributes get the defaults of their rules; dates are set by the store.
    init(
        new item: NewItem, in group: String, _ accessControl: ItemAccessControl,
        trusting trusted: TrustList? = nil
    ) {
        var attributes = item.attributes
        for rule in item.itemClass.attributeRules.values {
            if let value = rule.defaultValue, attributes[rule.name] == nil {
                attributes[rule.name] = value
            }
        }
        for name in Self.ownFields { attributes[name] = nil }
        self.init(
            attributes: attributes, group: group, isSynchronizable: item.isSynchronizable,
            hasSecret: false, created: 0, modified: 0, accessControl: accessControl,
            trusted: trusted)
    }

    /// Puts the change in, by the rules of the item's class.
    mutating func apply(
        _ change: ItemChange, _ itemClass: ItemClass
    ) throws(KeychainStoreError) {
        for (name, value) in change.attributes where name != .accessible && name != .accessControl {
            guard let rule = itemClass.attributeRules[name] else { throw .badChange }
            switch (rule.update, name) {
            case (.refused, _): throw .badChange
            case (.ignored, _), (.overwritten, _): continue
            case (.accepted, .creationDate):
                guard case .date(let date) = value, date.isFinite else { throw .badChange }
                created = date
            // Both travel beside the attributes.
            case (.accepted, .accessGroup), (.accepted, .synchronizable): continue
            case (.accepted, _): attributes[name] = value
            }
        }
        if let group = change.accessGroup { self.group = group }
        if let synchronizable = change.isSynchronizable { isSynchronizable = synchronizable }
        if let rights = change.accessControl ?? change.accessible.map(ItemAccessControl.plain) {
            accessControl = rights
        }
    }

    /// The modification date of a change made now: always later than the one before.
    static func modificationDate(after old: Double, now: Double) -> Double {
        max(now, old + 0.001)
    }
}
