// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Lists the programs that the user let into items of the class `attributed` for good, for a user
/// who is present.
package struct ListLetIn: Verb {
    package typealias Answer = [LetIn]
    package static let number: UInt16 = 37

    package let keychain: String?

    package init(keychain: String?) { self.keychain = keychain }

    package var auditName: AuditName { .copyMatching }
    package var grantRecord: GrantRecord { .whereProven }

    package func encode(into message: inout MessageWriter) { message.append(keychain) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: ([LetIn]) throws(RequestError) -> Void
    ) throws(RequestError) -> [LetIn] {
        try handler.handle(self, for: client, emit: emit)
    }
}

/// A program that has an item of another one's, or all of a group's.
package struct LetIn: ListElement, Equatable {
    package static let leastBytes = 24

    package let program: TrustedApplication
    /// The access group of the item, or the group that the program joined.
    package let group: String
    /// nil: the program joined the group.
    package let item: ItemReference?
    /// The item's.
    package let label: String

    package init(
        _ program: TrustedApplication, group: String, item: ItemReference?, label: String
    ) {
        self.program = program
        self.group = group
        self.item = item
        self.label = label
    }

    package func encode(into message: inout MessageWriter) {
        program.encode(into: &message)
        message.append(group)
        message.append(item)
        message.append(label)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init(
            try message.value(), group: try message.bytes.text(), item: try message.optional(),
            label: try message.bytes.text())
    }
}

/// Takes back that a program joined a group, as an item's list is changed.
package struct LeaveGroup: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 38

    package let keychain: String?
    /// The application identifier.
    package let program: String
    package let group: String

    package init(keychain: String?, _ program: String, from group: String) {
        self.keychain = keychain
        self.program = program
        self.group = group
    }

    package var auditName: AuditName { .update }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(program)
        message.append(group)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        program = try message.bytes.text()
        group = try message.bytes.text()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}
