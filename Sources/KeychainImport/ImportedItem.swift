// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// One password as a source has it.
package struct ImportedItem: Sendable {
    /// Where it begins in the source, from 1.
    package var line: Int
    package var itemClass: ItemClass
    /// Text, but for the port and the dates.
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

    /// Bytes of a secret that a keychain takes.
    package static let longestSecret = 32 * 1024 * 1024
    /// Bytes of all attributes, with room for those that the keychain adds.
    package static let longestAttributes = 3 * 1024 * 1024

    /// Whether a keychain takes it.
    package var isStorable: Bool {
        guard itemClass != .attributed else { return isStorableAttributed }
        return secret.bytes.count <= Self.longestSecret
            && attributes.values.reduce(0) { $0 + $1.comparedBytes.count } <= Self.longestAttributes
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

/// What the reader of a source says, in turn.
package enum ImportMessage: Sendable {
    case item(ImportedItem)
    /// An entry without any secret.
    case leftOut(line: Int)
    /// An item that is not brought, by its label.
    case skipped(String, ImportSkip)
    /// Something of the source that no item has: it is lost where the source is deleted.
    case notBrought(line: Int)
    case failed(ImportError)
    /// The last one; without it the source was not read to its end.
    case finished
}
