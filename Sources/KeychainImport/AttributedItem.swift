// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// An item of a Secret Service as its source has it: attributes of any names, a label, a type, dates.
package struct AttributedItem: Sendable {
    /// Where it stands among the source's items, from 1.
    package var number: Int
    package var label = ""
    /// By their names as `AttributeName.pair` makes them, with texts.
    package var pairs: Attributes = [:]
    package var contentType = "text/plain"
    /// Seconds since 1970; 0 where the source has none.
    package var created: UInt64 = 0
    package var modified: UInt64 = 0
    package var secret: HeldSecret

    /// What counts as no type, in whichever source.
    private static let typeless = "org.freedesktop.Secret.Generic"
    /// Bytes of a label that names what is not brought.
    private static let longestName = 200
    private static let since2001 = 978_307_200.0

    package init(number: Int, secret: HeldSecret) {
        self.number = number
        self.secret = secret
    }

    /// Where it has no type yet.
    package mutating func take(type: String) {
        guard pairs[.schema] == nil, !type.isEmpty, type != Self.typeless else { return }
        pairs[.schema] = .string(type)
    }

    /// The item, or why it is not brought.
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
        var name = label
        while name.utf8.count > Self.longestName { name.removeLast() }
        return .skipped(name.isEmpty ? "item \(number)" : name, reason)
    }

    private static func date(_ seconds: UInt64) -> AttributeValue {
        .date(Double(seconds) - since2001)
    }
}

/// Why an item of a source is not brought.
package enum ImportSkip: UInt8, Sendable, Equatable {
    /// More attributes or bytes than an item here may have.
    case tooLarge = 1
    /// A name or a value is no UTF-8, or has a zero byte in it.
    case notText = 2
    /// The service that keeps it does not give its secret, or its user said no.
    case notGiven = 3
}
