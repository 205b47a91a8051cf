// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Whether a question would reach the client's user now: there is a prompter, and the user has not
/// just denied the same. A service asks this before it tells a program that a prompt is needed.
package struct WouldAsk: Verb {
    package typealias Answer = Bool
    package static let number: UInt16 = 36

    /// The subject of the question.
    package enum Matter: Sendable, Equatable {
        /// A proof, needed before something is done with these items.
        case items([ItemReference])
        case unlocking(keychain: String)
        case creatingKeychain
        case deleting(keychain: String)
    }

    package let matter: Matter

    package init(_ matter: Matter) { self.matter = matter }

    package var auditName: AuditName { .status }
    package var grantRecord: GrantRecord { .never }

    package func encode(into message: inout MessageWriter) {
        switch matter {
        case .items(let items):
            message.bytes.append(1)
            items.encode(into: &message)
        case .unlocking(let keychain):
            message.bytes.append(2)
            message.append(keychain)
        case .creatingKeychain: message.bytes.append(3)
        case .deleting(let keychain):
            message.bytes.append(4)
            message.append(keychain)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        matter =
            switch try message.bytes.byte() {
            case 1: .items(try [ItemReference](&message))
            case 2: .unlocking(keychain: try message.bytes.text())
            case 3: .creatingKeychain
            case 4: .deleting(keychain: try message.bytes.text())
            default: throw MalformedBytes()
            }
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Bool) throws(RequestError) -> Void
    ) throws(RequestError) -> Bool {
        try handler.handle(self, for: client)
    }
}
