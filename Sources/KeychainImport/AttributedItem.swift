// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// An item of a Secret Service in its source's form: attributes with any names, a label, a type,
/// dates.
package struct AttributedItem: Sendable {
    /// Its number among the source's items, counted from 1.
    package var number: Int
    package var label = ""
    /// Texts under names as `AttributeName.pair` makes them.
    package var pairs: Attributes = [:]
    package var contentType = "text/plain"
    /// Seconds since 1970; 0 where the source has none.
    package var created: UInt64 = 0
    package var modified: UInt64 = 0
    package var secret: HeldSecret

    /// The type that stands for no type, in all sources.
    private static let typeless = "org.freedesktop.Secret.Generic"
    private static let since2001 = 978_307_200.0

    package init(number: Int, secret: HeldSecret) {
        self.number = number
        self.secret = secret
    }

    /// Sets the type where there is none yet.
    package mutating func take(type: String) {
        guard pairs[.schema] == nil, !type.isEmpty, type != Self.typeless else { return }
        pairs[.schema] = .string(type)
    }

    /// The item, or the reason why it is not imported.
    package var message: ImportMessage {
        var item = ImportedItem(
            line: number, itemClass: .attributed, attributes: pairs, secret: secret)
        item.attributes[.label] = .string(label)
        item.attributes[.contentType] = .string(contentType)
        if created > 0 { item.attributes[.creationDate] = Self.date(created) }
        if modified > 0 { item.attributes[.modificationDate] = Self.date(modified) }
        return item.isStorable ? .item(item) : skipped(.tooLarge)
    }

    package func skipped(_ reason: ImportSkip) -> ImportMessage {
        .skipping(label.isEmpty ? "item \(number)" : label, reason)
    }

    private static func date(_ seconds: UInt64) -> AttributeValue {
        .date(Double(seconds) - since2001)
    }
}

/// Why an item of a source, or a collection, is not imported.
package enum ImportSkip: UInt8, Sendable, Equatable {
    /// It has more attributes or bytes than an item may have.
    case tooLarge = 1
    /// A name or a value is not UTF-8, or has a zero byte.
    case notText = 2
    /// The service that keeps it does not give its secret, or the user denied it.
    case notGiven = 3
    /// The service did not unlock the collection: its user did not, or could not be asked.
    case locked = 4
}
