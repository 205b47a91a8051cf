// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Reads former secrets of attributed items, for a user who is present: the list of all that the
/// client may know of, or one item's with its secret.
package struct ReadFormerSecrets: Verb {
    package typealias Answer = [FormerSecret]
    package static let number: UInt16 = 34

    package let keychain: String?
    /// nil lists all items, without secrets. With an item, `generation` is the one that had the
    /// secret.
    package let item: ItemReference?
    package let generation: UInt64

    package init(keychain: String?, _ item: ItemReference? = nil, generation: UInt64 = 0) {
        self.keychain = keychain
        self.item = item
        self.generation = generation
    }

    package var auditName: AuditName { .copyMatching }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(item)
        message.bytes.append(number: generation)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        item = try message.optional()
        generation = try message.bytes.number(UInt64.self)
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: ([FormerSecret]) throws(RequestError) -> Void
    ) throws(RequestError) -> [FormerSecret] {
        try handler.handle(self, for: client)
    }
}

extension FormerSecret: ListElement {
    package static let leastBytes = 40

    package func encode(into message: inout MessageWriter) {
        item.encode(into: &message)
        message.bytes.append(number: UInt64(bitPattern: generation))
        message.append(label)
        message.append(contentType)
        message.append(replaced)
        message.append(program)
        message.append(secret)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init(
            item: try message.value(),
            generation: Int64(bitPattern: try message.bytes.number(UInt64.self)),
            label: try message.bytes.text(), contentType: try message.bytes.text(),
            replaced: try message.real(), program: try message.bytes.text(),
            secret: try message.optionalSecret())
    }
}
