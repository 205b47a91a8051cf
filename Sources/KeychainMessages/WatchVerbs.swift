// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Waits for changes in the keychains of a deputy's user, by all programs but those that the deputy
/// asks for, so that the deputy can tell its programs. The answer comes with the next change, or
/// without one after a while.
package struct WatchKeychains: Verb {
    package typealias Answer = KeychainChanges
    package static let number: UInt16 = 32

    /// The position of the last answer; nil for the first request, which is answered at once.
    package let position: UInt64?

    package init(after position: UInt64?) { self.position = position }

    package var auditName: AuditName { .introduce }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) {
        message.append(position != nil)
        if let position { message.bytes.append(number: position) }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        position = try message.flag() ? try message.bytes.number(UInt64.self) : nil
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (KeychainChanges) throws(RequestError) -> Void
    ) throws(RequestError) -> KeychainChanges {
        try handler.handle(self, for: client)
    }
}

package struct KeychainChanges: VerbAnswer, Equatable {
    /// The position to name in the next request.
    package let position: UInt64
    /// False where more was changed than `changes` tells.
    package let isComplete: Bool
    package let changes: [KeychainChange]

    package init(position: UInt64, isComplete: Bool, changes: [KeychainChange]) {
        self.position = position
        self.isComplete = isComplete
        self.changes = changes
    }

    package func encode(into message: inout MessageWriter) {
        message.bytes.append(number: position)
        message.append(isComplete)
        message.append(changes)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        position = try message.bytes.number(UInt64.self)
        isComplete = try message.flag()
        changes = try message.values(ofAtLeast: KeychainChange.leastBytes)
    }
}

package struct KeychainChange: Sendable, Equatable {
    package enum Event: Sendable, Equatable {
        case created
        case deleted
        /// The keychain was locked, or opened.
        case locked(Bool)
        case labelled(String)
        /// Another file has taken the keychain's place.
        case replaced
        case item(ItemReference, of: String, ItemEvent)
    }

    package enum ItemEvent: UInt8, Sendable {
        case added = 1
        case changed = 2
        case deleted = 3
    }

    package let keychain: String
    package let event: Event

    package init(keychain: String, _ event: Event) {
        self.keychain = keychain
        self.event = event
    }
}

extension KeychainChange: ListElement {
    package static let leastBytes = 5

    private enum Code {
        static let created: UInt8 = 1
        static let locked: UInt8 = 2
        static let opened: UInt8 = 3
        static let labelled: UInt8 = 4
        static let replaced: UInt8 = 5
        static let item: UInt8 = 6
        static let deleted: UInt8 = 7
    }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        switch event {
        case .created: message.bytes.append(Code.created)
        case .deleted: message.bytes.append(Code.deleted)
        case .locked(true): message.bytes.append(Code.locked)
        case .locked(false): message.bytes.append(Code.opened)
        case .labelled(let label):
            message.bytes.append(Code.labelled)
            message.append(label)
        case .replaced: message.bytes.append(Code.replaced)
        case .item(let reference, let group, let event):
            message.bytes.append(Code.item)
            reference.encode(into: &message)
            message.append(group)
            message.bytes.append(event.rawValue)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.bytes.text()
        event =
            switch try message.bytes.byte() {
            case Code.created: .created
            case Code.deleted: .deleted
            case Code.locked: .locked(true)
            case Code.opened: .locked(false)
            case Code.labelled: .labelled(try message.bytes.text())
            case Code.replaced: .replaced
            case Code.item:
                .item(
                    try message.value(), of: try message.bytes.text(),
                    try message.raw(ItemEvent.self))
            default: throw MalformedBytes()
            }
    }
}

/// Limits of the users' proofs.
package enum ProofLimits {
    /// The most items that one proof is remembered for. A proof for more items serves no later
    /// request.
    package static let mostItems = 64
}

/// Ends the proofs that let this program have the items, as if their time were over. The answer has
/// all items of the ended proofs, each once: a proof for several items ends for all of them.
package struct EndProofs: Verb {
    package typealias Answer = [ItemReference]
    package static let number: UInt16 = 33

    package let items: [ItemReference]

    package init(of items: [ItemReference]) { self.items = items }

    package var auditName: AuditName { .lock }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) {
        items.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        items = try [ItemReference](&message)
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: ([ItemReference]) throws(RequestError) -> Void
    ) throws(RequestError) -> [ItemReference] {
        try handler.handle(self, for: client)
    }
}
