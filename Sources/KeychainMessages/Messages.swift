// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// A message from a program or a prompter to the daemon.
package enum ClientMessage: Sendable {
    /// A verb. The program may offer its controlling terminal for a question; the deputy names the
    /// program for which it asks.
    case request(
        any Verb, context: AuthenticationContext?, relay: Relay?, offersTerminal: Bool)
    /// A prompter that shows windows can be asked for a yes, where the display is its user's.
    case registerPrompter(showsWindows: Bool, on: DisplayServer?)
    /// A prompter that was started for one question names the question's challenge.
    case attachPrompter(challenge: [UInt8])
    /// nil where the user has cancelled.
    case promptReply(HeldSecret?)

    /// Messages other than verbs.
    private enum Kind {
        static let registerPrompter: UInt16 = 0x100
        static let attachPrompter: UInt16 = 0x101
        static let promptReply: UInt16 = 0x102
    }

    /// Most requests have no more bytes.
    private static let usualBytes = 256
    /// The most bytes of a challenge; the daemon makes shorter ones.
    private static let longestChallenge = 64

    /// The message, and the secrets beside it.
    package func encoded() -> (message: [UInt8], secrets: HeldSecret?) {
        switch self {
        case .request(let verb, let context, let relay, let offersTerminal):
            return Self.encode(
                verb, context: context, relay: relay, offersTerminal: offersTerminal)
        case .registerPrompter(let showsWindows, let server):
            return Self.message(Kind.registerPrompter) { message in
                message.append(showsWindows)
                message.append(server)
            }
        case .attachPrompter(let challenge):
            return Self.message(Kind.attachPrompter) { $0.bytes.append(block: challenge) }
        case .promptReply(let answer):
            return Self.message(Kind.promptReply) { $0.append(answer) }
        }
    }

    /// Encodes a request whose verb has a known type, without boxing the verb.
    package static func encode<V: Verb>(
        _ verb: V, context: AuthenticationContext?, relay: Relay? = nil, offersTerminal: Bool
    ) -> (message: [UInt8], secrets: HeldSecret?) {
        message(V.number) { message in
            message.append(relay)
            message.append(offersTerminal)
            message.append(context)
            verb.encode(into: &message)
        }
    }

    private static func message(
        _ kind: UInt16, _ body: (inout MessageWriter) -> Void
    ) -> (message: [UInt8], secrets: HeldSecret?) {
        written(kind, capacity: usualBytes, body)
    }

    package init(_ bytes: [UInt8], secrets: HeldSecret?) throws(MessageError) {
        var message = MessageReader(bytes, secrets)
        let (version, kind) = try MessageHeader.read(&message)
        try MessageHeader.check(version)
        do {
            switch kind {
            case Kind.registerPrompter:
                let showsWindows = try message.flag()
                self = .registerPrompter(showsWindows: showsWindows, on: try message.optional())
            case Kind.attachPrompter:
                let challenge = try message.bytes.block()
                guard challenge.count <= Self.longestChallenge else { throw MalformedBytes() }
                self = .attachPrompter(challenge: Array(challenge))
            case Kind.promptReply: self = .promptReply(try message.optionalSecret())
            default: self = try Self.request(kind, &message)
            }
            try message.end()
        } catch let error as MessageError { throw error } catch { throw .malformed }
    }

    private static func request(
        _ number: UInt16, _ message: inout MessageReader
    ) throws -> ClientMessage {
        guard let verb = Verbs.type(number) else { throw MessageError.newer }
        let relay = try message.optional(Relay.self)
        let offersTerminal = try message.flag()
        let context = try message.optional(AuthenticationContext.self)
        return .request(
            try verb.init(&message), context: context, relay: relay,
            offersTerminal: offersTerminal)
    }
}

/// The message of that kind, and the secrets beside it.
private func written(
    _ kind: UInt16, capacity: Int, _ body: (inout MessageWriter) -> Void
) -> (message: [UInt8], secrets: HeldSecret?) {
    var message = MessageWriter(capacity: capacity)
    MessageHeader.append(kind, to: &message)
    body(&message)
    return (message.bytes.bytes, message.attachments.joined())
}

extension AuthenticationContext: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.bytes.append(raw: identifier)
        message.append(mayInteract)
        message.append(reason)
        message.append(applicationPassword)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        let identifier = try message.identifier(Self.identifierBytes)
        guard let context = Self(identifier: identifier) else { throw MalformedBytes() }
        self = context
        mayInteract = try message.flag()
        reason = try message.optionalText()
        applicationPassword = try message.optionalSecret()
    }
}

extension DisplayServer: MessageValue {
    package func encode(into message: inout MessageWriter) {
        message.bytes.append(number: UInt32(bitPattern: process))
        message.bytes.append(number: user)
        message.bytes.append(number: number)
    }

    package init(_ message: inout MessageReader) throws(MalformedBytes) {
        process = Int32(bitPattern: try message.bytes.number(UInt32.self))
        user = try message.bytes.number(UInt32.self)
        number = try message.bytes.number(UInt32.self)
        guard process > 0 else { throw MalformedBytes() }
    }
}

/// The secrets of one message, joined one after the other, as the frame carries them beside it. The
/// message has their lengths, in the same order.
struct SecretAttachments {
    private var first: HeldSecret?
    private var others: [HeldSecret] = []
    /// The number of bytes taken from the first secret.
    private var taken = 0

    init(_ joined: HeldSecret? = nil) { first = joined }

    mutating func add(_ secret: HeldSecret) {
        if first == nil { first = secret } else { others.append(secret) }
    }

    /// nil where there is none. A single secret is carried without a copy.
    func joined() -> HeldSecret? {
        guard let first, !others.isEmpty else { return first }
        let bytes = others.reduce(first.bytes.count) { $0 + $1.bytes.count }
        var writer = SecretWriter(capacity: bytes)
        writer.append(first.bytes)
        for secret in others { writer.append(secret.bytes) }
        return HeldSecret(writer.finish())
    }

    /// The next secret of a frame's second part.
    mutating func take(_ count: Int) throws(MalformedBytes) -> HeldSecret {
        let length = first?.bytes.count ?? 0
        guard count <= length - taken else { throw MalformedBytes() }
        guard let first, count > 0 else { return HeldSecret(SecretBytes(copying: [])) }
        defer { taken += count }
        if count == length { return first }
        return HeldSecret(first.bytes.part(taken..<taken + count))
    }

    var isEmpty: Bool { taken == first?.bytes.count ?? 0 }
}

/// A message from the daemon to a program or a prompter.
package enum ServerMessage: Sendable {
    /// A refusal, with the names of the policy's rules behind it, for people.
    case refusal(RequestError, because: [String] = [])
    /// A part of the answer to a verb; the last part does not continue.
    case answer(AnswerMessage)
    /// The user must be asked, and no prompter is registered: the program is to start this prompter
    /// on its terminal, and to go on waiting.
    case needsPrompter(challenge: [UInt8], program: String)
    case prompt(Prompt)
    /// Tells a prompter that it is registered.
    case registered

    /// The requests to a prompter.
    package enum Prompt: Sendable, Equatable {
        case askHidden(String)
        case askVisible(String)
        /// A new secret, asked for twice until both are the same.
        case askNew(String)
        /// A yes or a no; an empty answer is a yes.
        case confirm(String)
        case information(String)
        case error(String)
        /// What the question is about, and the window over which to show it.
        case title(String, over: XWindow? = nil)
        /// The reply is the word of the chosen one.
        case choose([TrustChoice])
        /// The end of the conversation, and whether its purpose succeeded.
        case finished(succeeded: Bool)
    }

    private enum Kind {
        static let refusal: UInt16 = 1
        static let answer: UInt16 = 2
        static let needsPrompter: UInt16 = 3
        static let prompt: UInt16 = 4
        static let registered: UInt16 = 5
    }

    /// Most answers have no more bytes.
    private static let usualBytes = 512
    private static let mostRules = 64

    package consuming func encoded() -> (message: [UInt8], secrets: HeldSecret?) {
        switch consume self {
        case .answer(let answer): return (answer.message, answer.secrets)
        case .refusal(let refusal, let rules):
            return Self.message(Kind.refusal) { message in
                message.bytes.append(number: refusal.rawValue)
                message.bytes.append(count: rules.count)
                for rule in rules { message.append(rule) }
            }
        case .needsPrompter(let challenge, let program):
            return Self.message(Kind.needsPrompter) { message in
                message.bytes.append(block: challenge)
                message.append(program)
            }
        case .prompt(let prompt):
            return Self.message(Kind.prompt) { prompt.encode(into: &$0) }
        case .registered: return Self.message(Kind.registered) { _ in }
        }
    }

    private static func message(
        _ kind: UInt16, _ body: (inout MessageWriter) -> Void
    ) -> (message: [UInt8], secrets: HeldSecret?) {
        written(kind, capacity: usualBytes, body)
    }

    /// A part of a verb's answer.
    package static func answer<V: Verb>(
        _ answer: V.Answer, to verb: V.Type, continues: Bool
    ) -> ServerMessage {
        self.answer(answer, toVerb: V.number, continues: continues)
    }

    /// The same for the verb of that number. The answer's type comes with the answer; that of a verb's
    /// answer is looked up while the program runs.
    package static func answer(
        _ answer: some VerbAnswer, toVerb number: UInt16, continues: Bool
    ) -> ServerMessage {
        let (message, secrets) = message(Kind.answer) { message in
            message.bytes.append(number: number)
            message.append(continues)
            answer.encode(into: &message)
        }
        return .answer(
            AnswerMessage(verb: number, continues: continues, message: message, secrets: secrets))
    }

    package init(_ bytes: [UInt8], secrets: HeldSecret?) throws(MessageError) {
        var message = MessageReader(bytes, secrets)
        let (version, kind) = try MessageHeader.read(&message)
        // Each side understands a refusal of any version, and so learns which side is older.
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

    /// A refusal that a program of the first version understands, in Protocol Buffers, with a
    /// reason for people.
    package static let refusalInFirstVersion: [UInt8] = {
        let reason = "this program is older than keychaind: install the same version of both"
        let number = UInt8(clamping: RequestError.failed(.notAvailable).rawValue)
        // Safe: the reason is shorter than 128 bytes.
        return [8, number, 42, UInt8(reason.utf8.count)] + Array(reason.utf8)
    }()
}

/// A part of an answer, as bytes: only the side that sent the verb knows their type.
package struct AnswerMessage: Sendable {
    /// The number of the answered verb.
    package let verb: UInt16
    package let continues: Bool
    fileprivate let message: [UInt8]
    fileprivate let secrets: HeldSecret?
    /// The bytes of version, kind, verb and `continues`.
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
            case .title(let text, _): (5, text)
            case .finished: (6, "")
            case .choose: (7, "")
            case .confirm(let text): (8, text)
            case .askNew(let text): (9, text)
            }
        message.bytes.append(kind)
        switch self {
        case .finished(let succeeded): message.append(succeeded)
        case .title(_, let window):
            message.append(text)
            message.append(window)
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
        case 5:
            let text = try message.bytes.text()
            self = .title(text, over: try message.optional())
        case 6: self = .finished(succeeded: try message.flag())
        case 7: self = .choose(try message.texts().compactMap(TrustChoice.init(rawValue:)))
        case 8: self = .confirm(try message.bytes.text())
        case 9: self = .askNew(try message.bytes.text())
        default: throw MalformedBytes()
        }
    }
}
