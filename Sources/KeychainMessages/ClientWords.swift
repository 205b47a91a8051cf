// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainModel
internal import KeychainWire
package import KeychainSecrets
internal import SwiftProtobuf

/// What a program or a prompter says to the daemon.
package enum ClientWords: Sendable {
    /// A request; the program may offer its controlling terminal for a question.
    case request(Request, context: AuthenticationContext?, offersTerminal: Bool)
    /// A prompter whose dialogs are windows of their own can be asked for a yes, where the display
    /// is its user's.
    case registerPrompter(showsWindows: Bool, on: DisplayServer?)
    /// A prompter that was started for one question names it.
    case attachPrompter(challenge: [UInt8])
    /// nil: the user has cancelled.
    case promptReply(HeldSecret?)

    /// An application password, an old password and a new one.
    private static let mostSecrets = 3

    /// The message, and the secrets beside it.
    package func encoded() -> (message: [UInt8], secrets: HeldSecret?) {
        var message = WireClientMessage()
        var parcel = SecretParcel()
        switch self {
        case .request(let request, let context, let offersTerminal):
            message.offersTerminal = offersTerminal
            if let context {
                message.context = context.wire
                if let password = context.applicationPassword { parcel.add(password) }
            }
            request.encode(into: &message, &parcel)
        case .registerPrompter(let showsWindows, let server):
            message.registerPrompter.showsWindows = showsWindows
            if let server {
                message.registerPrompter.displayProcess = server.process
                message.registerPrompter.displayUser = server.user
                message.registerPrompter.displayNumber = server.number
            }
        case .attachPrompter(let challenge): message.attachPrompter = .init(challenge)
        case .promptReply(let answer):
            message.promptReply.hasAnswer_p = answer != nil
            if let answer { parcel.add(answer) }
        }
        message.secretLengths = parcel.lengths
        // A message made from values has nothing that could fail to serialise.
        let bytes: [UInt8] = (try? message.serializedBytes()) ?? []
        return (bytes, parcel.joined())
    }

    package init(_ bytes: [UInt8], secrets: HeldSecret?) throws(MessageError) {
        let message: WireClientMessage
        do { message = try WireClientMessage(serializedBytes: bytes) } catch { throw .malformed }
        // Even an empty secret takes locked memory.
        guard message.secretLengths.count <= Self.mostSecrets else { throw .malformed }
        var parts = try SecretParcel.split(secrets, lengths: message.secretLengths)[...]
        switch message.verb {
        case .registerPrompter(let prompter):
            let server =
                prompter.displayProcess > 0
                ? DisplayServer(
                    process: prompter.displayProcess, user: prompter.displayUser,
                    number: prompter.displayNumber) : nil
            self = .registerPrompter(showsWindows: prompter.showsWindows, on: server)
        case .attachPrompter(let challenge): self = .attachPrompter(challenge: .init(challenge))
        case .promptReply(let reply):
            self = .promptReply(reply.hasAnswer_p ? try parts.takeFirst() : nil)
        case let verb?:
            let context =
                message.hasContext ? try AuthenticationContext(message.context, &parts) : nil
            self = .request(
                try Request(verb, &parts), context: context,
                offersTerminal: message.offersTerminal)
        case nil: throw .malformed
        }
        guard parts.isEmpty else { throw .secretsDoNotFit }
    }
}

extension Request {
    fileprivate func encode(into message: inout WireClientMessage, _ parcel: inout SecretParcel) {
        switch self {
        case .add(let item, let secret, let parts):
            message.add.item = item.wire
            message.add.parts = UInt32(parts.rawValue)
            message.add.hasSecret_p = secret != nil
            if let secret { parcel.add(secret) }
        case .copyMatching(let query): message.copyMatching = query.wire
        case .update(let query, let change, let secret):
            message.update.query = query.wire
            message.update.change = change.wire
            message.update.hasSecret_p = secret != nil
            if let secret { parcel.add(secret) }
        case .delete(let query): message.delete = query.wire
        case .status: message.status = .init()
        case .createKeychain(let name, let password, let recoveryKey):
            message.createKeychain.name = name
            message.createKeychain.hasPassword_p = password != nil
            message.createKeychain.hasRecoveryKey_p = recoveryKey != nil
            if let password { parcel.add(password) }
            if let recoveryKey { parcel.add(recoveryKey) }
        case .unlock(let keychain, let password):
            message.unlock = .init()
            if let keychain { message.unlock.keychain = keychain }
            parcel.add(password)
        case .lock(let keychain):
            message.lock = .init()
            if let keychain { message.lock.keychain = keychain }
        case .changeSettings(let keychain, let change):
            message.changeSettings = .init(keychain, change)
        case .setPassword(let keychain, let old, let new):
            message.setPassword = .init()
            if let keychain { message.setPassword.keychain = keychain }
            message.setPassword.hasOldPassword_p = old != nil
            if let old { parcel.add(old) }
            parcel.add(new)
        case .authenticate(let constraint): message.authenticate.constraint = constraint.wire
        case .capabilities: message.capabilities = .init()
        case .endContext: message.endContext = .init()
        case .policies(let reload): message.policies.reload = reload
        case .protectors(let request): request.encode(into: &message.protectors, &parcel)
        case .safekeeping(let keychain, let step):
            message.safekeeping = step.wire
            if let keychain { message.safekeeping.keychain = keychain }
        case .preferences(let change): message.preferences = .init(change)
        }
    }

    fileprivate init(
        _ verb: WireClientMessage.OneOf_Verb, _ secrets: inout ArraySlice<HeldSecret>
    ) throws(MessageError) {
        switch verb {
        case .add(let add):
            guard let parts = UInt8(exactly: add.parts) else { throw .malformed }
            self = .add(
                try NewItem(add.item), secret: add.hasSecret_p ? try secrets.takeFirst() : nil,
                returning: .init(rawValue: parts))
        case .copyMatching(let query): self = .copyMatching(try ItemQuery(query))
        case .update(let update):
            self = .update(
                try ItemQuery(update.query), try ItemChange(update.change),
                secret: update.hasSecret_p ? try secrets.takeFirst() : nil)
        case .delete(let query): self = .delete(try ItemQuery(query))
        case .status: self = .status
        case .createKeychain(let create):
            self = .createKeychain(
                name: create.name,
                password: create.hasPassword_p ? try secrets.takeFirst() : nil,
                recoveryKey: create.hasRecoveryKey_p ? try secrets.takeFirst() : nil)
        case .unlock(let named):
            self = .unlock(
                keychain: named.hasKeychain ? named.keychain : nil,
                password: try secrets.takeFirst())
        case .lock(let named): self = .lock(keychain: named.hasKeychain ? named.keychain : nil)
        case .changeSettings(let change):
            self = .changeSettings(
                keychain: change.hasKeychain ? change.keychain : nil, change.change)
        case .setPassword(let named):
            let old = named.hasOldPassword_p ? try secrets.takeFirst() : nil
            self = .setPassword(
                keychain: named.hasKeychain ? named.keychain : nil, old: old,
                new: try secrets.takeFirst())
        case .authenticate(let wire):
            self = .authenticate(try Constraint(wire.constraint))
        case .capabilities: self = .capabilities
        case .endContext: self = .endContext
        case .policies(let policies): self = .policies(reload: policies.reload)
        case .protectors(let wire): self = .protectors(try ProtectorRequest(wire, &secrets))
        case .safekeeping(let wire):
            self = .safekeeping(
                keychain: wire.hasKeychain ? wire.keychain : nil, try Safekeeping(wire))
        case .preferences(let wire): self = .preferences(wire.preferencesChange)
        case .registerPrompter, .attachPrompter, .promptReply: throw .malformed
        }
    }
}

extension AuthenticationContext {
    fileprivate var wire: WireClientMessage.Context {
        var wire = WireClientMessage.Context()
        wire.identifier = .init(identifier)
        wire.noInteraction = !mayInteract
        if let reason { wire.reason = reason }
        wire.hasApplicationPassword_p = applicationPassword != nil
        return wire
    }

    fileprivate init(
        _ wire: WireClientMessage.Context, _ secrets: inout ArraySlice<HeldSecret>
    ) throws(MessageError) {
        guard let context = Self(identifier: .init(wire.identifier)) else { throw .malformed }
        self = context
        mayInteract = !wire.noInteraction
        reason = wire.hasReason ? wire.reason : nil
        if wire.hasApplicationPassword_p { applicationPassword = try secrets.takeFirst() }
    }
}

extension ArraySlice<HeldSecret> {
    mutating func takeFirst() throws(MessageError) -> HeldSecret {
        guard let first else { throw .secretsDoNotFit }
        removeFirst()
        return first
    }
}
