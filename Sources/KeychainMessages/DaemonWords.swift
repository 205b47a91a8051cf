// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
package import KeychainModel
internal import KeychainWire
package import KeychainSecrets
internal import SwiftProtobuf

/// What the daemon says to a program or a prompter.
package enum DaemonWords: Sendable {
    /// With the rules of the policy that it comes from, for people.
    case refusal(Refusal, because: [String] = [])
    /// A part of the answer; the last does not continue.
    case answer(Answer, continues: Bool)
    /// The user must be asked, and no prompter is registered to do it: start this program on your
    /// terminal, and go on waiting.
    case needsPrompter(challenge: [UInt8], program: String)
    case prompt(Prompt)

    /// To a prompter.
    package enum Prompt: Sendable, Equatable {
        case askHidden(String)
        case askVisible(String)
        /// A yes or a no; an empty answer is a yes.
        case confirm(String)
        case information(String)
        case error(String)
        case title(String)
        /// The reply is the chosen one's word.
        case choose([TrustChoice])
        /// The conversation is over: whether what it was for succeeded.
        case finished(succeeded: Bool)
    }

    package func encoded() -> (message: [UInt8], secrets: HeldSecret?) {
        var message = WireServerMessage()
        var parcel = SecretParcel()
        switch self {
        case .refusal(let refusal, let rules):
            message.refusal = refusal.rawValue
            message.because = rules
        case .answer(let answer, let continues):
            message.answer.continues = continues
            message.answer.count = UInt64(clamping: answer.count)
            message.answer.items = answer.items.map { $0.wire(&parcel) }
            if let status = answer.status { message.answer.status = status.wire }
            if let known = answer.capabilities { message.answer.capabilities = known.wire }
            if let report = answer.report { message.answer.report = report }
            message.answer.protectors = answer.protectors.map(\.wire)
            if let kept = answer.safekept { message.answer.safekept = kept.wire }
            if let preferences = answer.preferences {
                message.answer.preferences = preferences.wire
            }
        case .needsPrompter(let challenge, let program):
            message.needsPrompter.challenge = .init(challenge)
            message.needsPrompter.program = program
        case .prompt(let prompt): message.prompt = prompt.wire
        }
        let bytes: [UInt8] = (try? message.serializedBytes()) ?? []
        return (bytes, parcel.joined())
    }

    package init(_ bytes: [UInt8], secrets: HeldSecret?) throws(MessageError) {
        let message: WireServerMessage
        do { message = try WireServerMessage(serializedBytes: bytes) } catch { throw .malformed }
        switch message.verb {
        case .refusal(let code):
            self = .refusal(Refusal(rawValue: code) ?? .internalError, because: message.because)
        case .answer(let wire):
            self = .answer(try Answer(wire, secrets), continues: wire.continues)
        case .needsPrompter(let needs):
            self = .needsPrompter(challenge: .init(needs.challenge), program: needs.program)
        case .prompt(let prompt): self = .prompt(try Prompt(prompt))
        case nil: throw .malformed
        }
    }
}

extension AnsweredItem {
    fileprivate func wire(_ parcel: inout SecretParcel) -> WireServerMessage.FoundItem {
        var wire = WireServerMessage.FoundItem()
        wire.reference = .init(item.reference.bytes)
        wire.attributes = AttributesCoding.wire(item.attributes)
        wire.accessControl = item.accessControl.wire
        if let trusted = item.trusted { wire.trusted = trusted.wire }
        if let keychain = item.keychain { wire.keychain = keychain }
        if let secret {
            wire.hasSecret_p = true
            wire.secretLength = UInt32(clamping: secret.bytes.count)
            parcel.add(secret)
        }
        return wire
    }
}

extension Answer {
    fileprivate init(
        _ wire: WireServerMessage.Answer, _ joined: HeldSecret?
    ) throws(MessageError) {
        self.init()
        count = Int(clamping: wire.count)
        status = wire.hasStatus ? try ServiceStatus(wire.status) : nil
        capabilities = wire.hasCapabilities ? try Capabilities(wire.capabilities) : nil
        report = wire.hasReport ? wire.report : nil
        for protector in wire.protectors { protectors.append(try Protector(protector)) }
        safekept = wire.hasSafekept ? try Safekept(wire.safekept) : nil
        preferences = wire.hasPreferences ? try KeychainPreferences(wire.preferences) : nil
        let lengths = wire.items.filter(\.hasSecret_p).map(\.secretLength)
        var secrets = try SecretParcel.split(joined, lengths: lengths)[...]
        items.reserveCapacity(wire.items.count)
        for item in wire.items {
            guard let reference = ItemReference(bytes: .init(item.reference)) else {
                throw .malformed
            }
            var found = FoundItem(
                reference: reference,
                attributes: try AttributesCoding.attributes(item.attributes),
                accessControl: try ItemAccessControl(item.accessControl),
                trusted: item.hasTrusted ? try TrustList(item.trusted) : nil)
            if item.hasKeychain { found.keychain = item.keychain }
            items.append(
                AnsweredItem(item: found, secret: item.hasSecret_p ? secrets.popFirst() : nil))
        }
    }
}

extension DaemonWords.Prompt {
    fileprivate var wire: WireServerMessage.Prompt {
        var wire = WireServerMessage.Prompt()
        switch self {
        case .askHidden(let text): (wire.kind, wire.text) = (1, text)
        case .askVisible(let text): (wire.kind, wire.text) = (2, text)
        case .confirm(let text): (wire.kind, wire.text) = (85, text)
        case .information(let text): (wire.kind, wire.text) = (3, text)
        case .error(let text): (wire.kind, wire.text) = (4, text)
        case .title(let text): (wire.kind, wire.text) = (5, text)
        case .finished(let succeeded): (wire.kind, wire.outcome) = (6, succeeded ? 0 : 1)
        case .choose(let choices): (wire.kind, wire.choices) = (80, choices.map(\.rawValue))
        }
        return wire
    }

    fileprivate init(_ wire: WireServerMessage.Prompt) throws(MessageError) {
        switch wire.kind {
        case 1: self = .askHidden(wire.text)
        case 2: self = .askVisible(wire.text)
        case 3: self = .information(wire.text)
        case 4: self = .error(wire.text)
        case 5: self = .title(wire.text)
        case 6: self = .finished(succeeded: wire.outcome == 0)
        case 80: self = .choose(wire.choices.compactMap(TrustChoice.init(rawValue:)))
        case 85: self = .confirm(wire.text)
        default: throw .malformed
        }
    }
}
