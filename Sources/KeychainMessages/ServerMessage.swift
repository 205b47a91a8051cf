// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// What the daemon says to a program or a prompter.
package enum ServerMessage: Sendable {
    /// With the rules of the policy that it comes from, for people.
    case refusal(RequestError, because: [String] = [])
    /// A part of the answer to a verb; the last does not continue.
    case answer(AnswerMessage)
    /// The user must be asked, and no prompter is registered to do it: start this program on your
    /// terminal, and go on waiting.
    case needsPrompter(challenge: [UInt8], program: String)
    case prompt(Prompt)
    /// To a prompter: it will be asked.
    case registered

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

    private enum Kind {
        static let refusal: UInt16 = 1
        static let answer: UInt16 = 2
        static let needsPrompter: UInt16 = 3
        static let prompt: UInt16 = 4
        static let registered: UInt16 = 5
    }

    /// Bytes that most answers have at the most.
    private static let usualBytes = 512
    private static let mostRules = 64

    package func encoded() -> (message: [UInt8], secrets: HeldSecret?) {
        if case .answer(let answer) = self { return (answer.message, answer.secrets) }
        var message = MessageWriter(capacity: Self.usualBytes)
        switch self {
        case .answer: break
        case .refusal(let refusal, let rules):
            MessageHeader.append(Kind.refusal, to: &message)
            message.bytes.append(number: refusal.rawValue)
            message.bytes.append(count: rules.count)
            for rule in rules { message.append(rule) }
        case .needsPrompter(let challenge, let program):
            MessageHeader.append(Kind.needsPrompter, to: &message)
            message.bytes.append(block: challenge)
            message.append(program)
        case .prompt(let prompt):
            MessageHeader.append(Kind.prompt, to: &message)
            prompt.encode(into: &message)
        case .registered: MessageHeader.append(Kind.registered, to: &message)
        }
        return (message.bytes.bytes, message.attachments.joined())
    }

    /// A part of a verb's answer.
    package static func answer<V: Verb>(
        _ answer: V.Answer, to verb: V.Type, continues: Bool
    ) -> ServerMessage {
        var message = MessageWriter(capacity: usualBytes)
        MessageHeader.append(Kind.answer, to: &message)
        message.bytes.append(number: V.number)
        message.append(continues)
        answer.encode(into: &message)
        return .answer(
            AnswerMessage(
                verb: V.number, continues: continues, message: message.bytes.bytes,
                secrets: message.attachments.joined()))
    }

    package init(_ bytes: [UInt8], secrets: HeldSecret?) throws(MessageError) {
        var message = MessageReader(bytes, secrets)
        let (version, kind) = try MessageHeader.read(&message)
        // An older side is told its age by a refusal that it understands.
        if kind != Kind.refusal { try MessageHeader.check(version) }
        do {
            switch kind {
            case Kind.refusal: self = try Self.refusal(&message)
            case Kind.answer:
                let verb = try message.bytes.number(UInt16.self)
                self = .answer(
                    AnswerMessage(
                        verb: verb, continues: try message.flag(), message: bytes,
                        secrets: secrets))
                return
            case Kind.needsPrompter:
                let challenge = Array(try message.bytes.block())
                self = .needsPrompter(challenge: challenge, program: try message.bytes.text())
            case Kind.prompt: self = .prompt(try message.value())
            case Kind.registered: self = .registered
            default: throw MessageError.newer
            }
            try message.end()
        } catch let error as MessageError { throw error } catch { throw .malformed }
    }

    private static func refusal(
        _ message: inout MessageReader
    ) throws(MalformedBytes) -> ServerMessage {
        let code = try message.bytes.number(UInt32.self)
        let rules = try message.texts(atMost: mostRules)
        return .refusal(RequestError(rawValue: code) ?? .failed(.internalError), because: rules)
    }

    /// What a program of the first version understands: a refusal, with a reason for people, in
    /// Protocol Buffers.
    package static let refusalInFirstVersion: [UInt8] = {
        let reason = "this program is older than keychaind: install the same version of both"
        let number = UInt8(clamping: RequestError.failed(.notAvailable).rawValue)
        // Safe: the reason is shorter than 128 bytes.
        return [8, number, 42, UInt8(reason.utf8.count)] + Array(reason.utf8)
    }()
}

/// A part of an answer, as bytes: only the side that sent the verb knows what they are.
package struct AnswerMessage: Sendable {
    /// The number of the verb that it answers.
    package let verb: UInt16
    package let continues: Bool
    fileprivate let message: [UInt8]
    fileprivate let secrets: HeldSecret?
    /// Version, kind, verb and whether it continues.
    private static let headerBytes = 7

    package func decoded<V: Verb>(to verb: V.Type = V.self) throws(MessageError) -> V.Answer {
        guard V.number == self.verb else { throw .malformed }
        var reader = MessageReader(message, secrets)
        do {
            _ = try reader.bytes.take(Self.headerBytes)
            let answer = try V.Answer(&reader)
            try reader.end()
            return answer
        } catch { throw .malformed }
    }
}

extension ServerMessage.Prompt: MessageValue {
    package func encode(into message: inout MessageWriter) {
        let (kind, text): (UInt8, String) =
            switch self {
            case .askHidden(let text): (1, text)
            case .askVisible(let text): (2, text)
            case .information(let text): (3, text)
            case .error(let text): (4, text)
            case .title(let text): (5, text)
            case .finished: (6, "")
            case .choose: (7, "")
            case .confirm(let text): (8, text)
            }
        message.bytes.append(kind)
        switch self {
        case .finished(let succeeded): message.append(succeeded)
        case .choose(let choices):
            message.bytes.append(count: choices.count)
            for choice in choices { message.append(choice.rawValue) }
        default: message.append(text)
        }
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        switch try message.bytes.byte() {
        case 1: self = .askHidden(try message.bytes.text())
        case 2: self = .askVisible(try message.bytes.text())
        case 3: self = .information(try message.bytes.text())
        case 4: self = .error(try message.bytes.text())
        case 5: self = .title(try message.bytes.text())
        case 6: self = .finished(succeeded: try message.flag())
        case 7: self = .choose(try message.texts().compactMap(TrustChoice.init(rawValue:)))
        case 8: self = .confirm(try message.bytes.text())
        default: throw MalformedBytes()
        }
    }
}
