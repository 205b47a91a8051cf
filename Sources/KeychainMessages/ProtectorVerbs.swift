// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

package struct ListProtectors: KeychainVerb {
    package typealias Answer = [Protector]
    package static let number: UInt16 = 16

    package let keychain: String?

    package init(keychain: String?) {
        self.keychain = keychain
    }

    package var auditName: AuditName { .status }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: ([Protector]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Protector] {
        try handler.handle(self, for: client)
    }
}

/// Adds a protector. The request brings an opener of the keychain, and the new protector wraps the
/// same key.
package struct AddProtector: Verb {
    package typealias Answer = Protector
    package static let number: UInt16 = 17

    package let keychain: String?
    package let new: NewProtector
    package let opener: KeychainOpener

    package init(keychain: String?, _ new: NewProtector, opening opener: KeychainOpener) {
        self.keychain = keychain
        self.new = new
        self.opener = opener
    }

    package var auditName: AuditName { .addProtector }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        new.encode(into: &message)
        opener.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        new = try message.value()
        opener = try message.value()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (Protector) throws(RequestError) -> Void
    ) throws(RequestError) -> Protector {
        try handler.handle(self, for: client)
    }
}

package struct RemoveProtector: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 18

    package let keychain: String?
    package let identifier: String

    package init(keychain: String?, identifier: String) {
        self.keychain = keychain
        self.identifier = identifier
    }

    package var auditName: AuditName { .removeProtector }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(identifier)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        identifier = try message.bytes.text()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

/// Tests whether the protector opens the keychain now. A password or a recovery key comes with the
/// request.
package struct TestProtector: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 19

    package let keychain: String?
    package let identifier: String
    package let secret: HeldSecret?

    package init(keychain: String?, identifier: String, secret: HeldSecret?) {
        self.keychain = keychain
        self.identifier = identifier
        self.secret = secret
    }

    package var auditName: AuditName { .testProtector }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(identifier)
        message.append(secret)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        identifier = try message.bytes.text()
        secret = try message.optionalSecret()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

/// Opens the keychain, and sets a new password if the request brings one.
package struct UnlockWithProtector: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 20

    package let keychain: String?
    package let opener: KeychainOpener
    package let newPassword: HeldSecret?

    package init(keychain: String?, _ opener: KeychainOpener, newPassword: HeldSecret?) {
        self.keychain = keychain
        self.opener = opener
        self.newPassword = newPassword
    }

    package var auditName: AuditName { .unlock }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        opener.encode(into: &message)
        message.append(newPassword)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        opener = try message.value()
        newPassword = try message.optionalSecret()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}
