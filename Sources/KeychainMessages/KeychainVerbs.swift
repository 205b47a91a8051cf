// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// A verb whose only parameter is its keychain.
package protocol KeychainVerb: Verb {
    var keychain: String? { get }
    init(keychain: String?)
}

extension KeychainVerb {
    package func encode(into message: inout MessageWriter) { message.append(keychain) }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        self.init(keychain: try message.optionalText())
    }
}

package struct CreateKeychain: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 6

    package let name: String
    package let password: HeldSecret?
    /// The text of a recovery key that also opens the keychain.
    package let recoveryKey: HeldSecret?
    /// A prompter asks the user for the password; the request brings none.
    package let asks: Bool

    package init(
        name: String, password: HeldSecret?, recoveryKey: HeldSecret? = nil, asks: Bool = false
    ) {
        self.name = name
        self.password = password
        self.recoveryKey = recoveryKey
        self.asks = asks
    }

    package var auditName: AuditName { .createKeychain }

    package func encode(into message: inout MessageWriter) {
        message.append(name)
        message.append(password)
        message.append(recoveryKey)
        message.append(asks)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        name = try message.bytes.text()
        password = try message.optionalSecret()
        recoveryKey = try message.optionalSecret()
        asks = try message.flag()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

package struct Unlock: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 7

    package let keychain: String?
    /// nil: a prompter asks the user for the password, or for the recovery key.
    package let password: HeldSecret?

    package init(keychain: String?, password: HeldSecret?) {
        self.keychain = keychain
        self.password = password
    }

    package var auditName: AuditName { .unlock }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(password)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        password = try message.optionalSecret()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

package struct Lock: KeychainVerb {
    package typealias Answer = Done
    package static let number: UInt16 = 8

    package let keychain: String?

    package init(keychain: String?) {
        self.keychain = keychain
    }

    package var auditName: AuditName { .lock }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

/// Removes the keychain, which can be restored for a while. Always asks the user.
package struct DeleteKeychain: KeychainVerb {
    package typealias Answer = Done
    package static let number: UInt16 = 35

    package let keychain: String?

    package init(keychain: String?) {
        self.keychain = keychain
    }

    package var auditName: AuditName { .deleteKeychain }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

/// Changes when the keychain locks by itself, or its label. A change that loosens the locking asks
/// the user.
package struct ChangeSettings: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 9

    package let keychain: String?
    package let change: KeychainSettingsChange

    package init(keychain: String?, _ change: KeychainSettingsChange) {
        self.keychain = keychain
        self.change = change
    }

    package var auditName: AuditName { .changeSettings }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        change.encode(into: &message)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        change = try message.value()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

package struct SetPassword: Verb {
    package typealias Answer = Done
    package static let number: UInt16 = 10

    package let keychain: String?
    package let old: HeldSecret?
    package let new: HeldSecret

    package init(keychain: String?, old: HeldSecret?, new: HeldSecret) {
        self.keychain = keychain
        self.old = old
        self.new = new
    }

    package var auditName: AuditName { .setPassword }

    package func encode(into message: inout MessageWriter) {
        message.append(keychain)
        message.append(old)
        message.append(new)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        keychain = try message.optionalText()
        old = try message.optionalSecret()
        new = try message.secret()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer, emit: (Done) throws(RequestError) -> Void
    ) throws(RequestError) -> Done {
        try handler.handle(self, for: client)
    }
}

/// The keychains that are used where none is named; nil reads them, and changes nothing.
package struct Preferences: Verb {
    package typealias Answer = KeychainPreferences
    package static let number: UInt16 = 15

    package let change: KeychainPreferencesChange?

    package init(_ change: KeychainPreferencesChange?) {
        self.change = change
    }

    package var auditName: AuditName { change == nil ? .status : .changePreferences }

    package func encode(into message: inout MessageWriter) {
        message.append(change)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        change = try message.optional()
    }

    package func handled<Handler: VerbHandler>(
        by handler: Handler, for client: Handler.Peer,
        emit: (KeychainPreferences) throws(RequestError) -> Void
    ) throws(RequestError) -> KeychainPreferences {
        try handler.handle(self, for: client)
    }
}
