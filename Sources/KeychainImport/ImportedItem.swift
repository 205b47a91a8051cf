// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// One password in its source's form.
package struct ImportedItem: Sendable {
    /// The line on which it begins in the source, counted from 1.
    package var line: Int
    package var itemClass: ItemClass
    /// Texts, apart from the port and the dates.
    package var attributes: Attributes
    package var secret: HeldSecret

    package init(
        line: Int, itemClass: ItemClass, attributes: Attributes, secret: HeldSecret
    ) {
        self.line = line
        self.itemClass = itemClass
        self.attributes = attributes
        self.secret = secret
    }

    /// The most bytes of a secret in a keychain.
    package static let longestSecret = 32 * 1024 * 1024
    /// The most bytes of all attributes, with room for those that the keychain adds.
    package static let longestAttributes = 3 * 1024 * 1024

    /// Whether a keychain accepts it.
    package var isStorable: Bool {
        guard itemClass != .attributed else { return isStorableAttributed }
        return secret.bytes.count <= Self.longestSecret
            && attributes.reduce(0) { $0 + $1.value.comparedBytes.count } <= Self.longestAttributes
    }

    private var isStorableAttributed: Bool {
        do throws(RequestError) {
            try AttributedLimits.check(
                attributes.filter { $0.key != .creationDate && $0.key != .modificationDate })
            try AttributedLimits.check(secretBytes: secret.bytes.count)
            return true
        } catch { return false }
    }
}

/// A message of a source's reader.
package enum ImportMessage: Sendable {
    case item(ImportedItem)
    /// An entry without a secret.
    case leftOut(line: Int)
    /// An item or a collection that is not imported, by its label.
    case skipped(String, ImportSkip)
    /// A part of the source that no item has: it is lost when the source is deleted.
    case notBrought(line: Int)
    case failed(ImportError)
    /// The last message; without it the source was not read to its end.
    case finished

    /// The most bytes of the name of something that is not imported.
    private static let longestName = 200

    package static func skipping(_ name: String, _ reason: ImportSkip) -> ImportMessage {
        var name = name
        while name.utf8.count > longestName { name.removeLast() }
        return .skipped(name, reason)
    }
}
