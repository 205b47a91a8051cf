// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Finds the items of the class `attributed` that have all of the pairs, in the Secret Service's
/// order: fewest further pairs first, then the latest change, then the identifier.
///
/// The index alone answers it: a keychain that is locked, but was opened once since the machine's
/// start, is searched like an open one.
package struct FindAttributed: Verb {
    package typealias Answer = [AttributedMatch]
    package static let number: UInt16 = 31

    /// nil searches all of the user's own keychains, not the machine's.
    package let keychain: String?
    /// Texts under names as `AttributeName.pair` makes them; without pairs every item matches.
    package let pairs: Attributes
    package let limit: Int

    package init(
        keychain: String?, pairs: Attributes, limit: Int = AttributedLimits.mostItems
    ) {
        self.keychain = keychain
        self.pairs = pairs
        self.limit = limit
    }

    package var auditName: AuditName { .copyMatching }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(pairs)
        message.append(clamping: limit)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        pairs = try message.attributes()
        limit = try message.clampedNumber()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: ([AttributedMatch]) throws(RequestError) -> Void
    ) throws(RequestError) -> [AttributedMatch] {
        try handler.handle(self, for: client, emit: emit)
    }
}

/// An item that a search found.
package struct AttributedMatch: Sendable, Hashable {
    package let keychain: String
    /// nil where the keychain was not opened since the machine's start: it has items of the class,
    /// but which of them match can't be told.
    package let reference: ItemReference?
    /// Whether the client must first open the keychain, or prove what the item or a rule asks for.
    package let isLocked: Bool

    package init(keychain: String, reference: ItemReference?, isLocked: Bool) {
        self.keychain = keychain
        self.reference = reference
        self.isLocked = isLocked
    }
}

extension AttributedMatch: ListElement {
    package static let leastBytes = 6

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(reference)
        message.append(isLocked)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.bytes.text()
        reference = try message.optional()
        isLocked = try message.flag()
        guard reference.map({ $0.itemClass == .attributed }) ?? true else { throw MalformedBytes() }
    }
}
