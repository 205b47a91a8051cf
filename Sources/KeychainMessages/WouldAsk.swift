// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Whether the client's user would be asked now: that one is there, and has not just said no to the same.
/// A service asks before it tells a program that there is a question to be put.
package struct WouldAsk: Verb {
    package typealias Answer = Bool
    package static let number: UInt16 = 36

    /// What the question would be about.
    package enum Matter: Sendable, Equatable {
        /// A proof, before something is done with these.
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
