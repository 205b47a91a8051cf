// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

/// Says that the deputy brings the request for another program: the part of a message that names
/// the peer (docs/design/identity.md, Relayed programs).
package struct Relay: Sendable, Equatable {
    /// How secrets travel between the deputy and the peer.
    package enum Transfer: UInt8, Sendable, CaseIterable {
        case plain = 1
        case encrypted = 2
    }

    /// The handle that the service gave to the peer.
    package let peer: UInt64
    /// nil for a request that carries no secret.
    package let transfer: Transfer?
    /// The window over which a question is to be shown; nil where the peer named none.
    package let window: XWindow?

    package init(peer: UInt64, transfer: Transfer?, window: XWindow? = nil) {
        self.peer = peer
        self.transfer = transfer
        self.window = window
    }
}

extension Relay: MessageValue {
    private static let noTransfer: UInt8 = 0

    package func encode(into message: inout MessageWriter) {
        message.bytes.append(number: peer)
        message.bytes.append(transfer?.rawValue ?? Self.noTransfer)
        message.append(window)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        peer = try message.bytes.number(UInt64.self)
        let code = try message.bytes.byte()
        transfer = Transfer(rawValue: code)
        guard transfer != nil || code == Self.noTransfer else { throw MalformedBytes() }
        window = try message.optional()
    }
}
