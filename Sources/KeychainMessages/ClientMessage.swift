// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// What a program or a prompter says to the daemon.
package enum ClientMessage: Sendable {
    /// A verb; the program may offer its controlling terminal for a question.
    case request(any Verb, context: AuthenticationContext?, offersTerminal: Bool)
    /// A prompter whose dialogs are windows of their own can be asked for a yes, where the display
    /// is its user's.
    case registerPrompter(showsWindows: Bool, on: DisplayServer?)
    /// A prompter that was started for one question names it.
    case attachPrompter(challenge: [UInt8])
    /// nil: the user has cancelled.
    case promptReply(HeldSecret?)

    /// Messages that are no verbs.
    private enum Kind {
        static let registerPrompter: UInt16 = 0x100
        static let attachPrompter: UInt16 = 0x101
        static let promptReply: UInt16 = 0x102
    }

    /// Bytes that most requests have at the most.
    private static let usualBytes = 256
    /// Bytes of a challenge: no daemon makes longer ones.
    private static let longestChallenge = 64

    /// The message, and the secrets beside it.
    package func encoded() -> (message: [UInt8], secrets: HeldSecret?) {
        switch self {
        case .request(let verb, let context, let offersTerminal):
            return Self.encode(verb, context: context, offersTerminal: offersTerminal)
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

    /// A request without a detour.
    package static func encode<V: Verb>(
        _ verb: V, context: AuthenticationContext?, offersTerminal: Bool
    ) -> (message: [UInt8], secrets: HeldSecret?) {
        message(V.number) { message in
            message.append(offersTerminal)
            message.append(context)
            verb.encode(into: &message)
        }
    }

    private static func message(
        _ kind: UInt16, _ body: (inout MessageWriter) -> Void
    ) -> (message: [UInt8], secrets: HeldSecret?) {
        var message = MessageWriter(capacity: usualBytes)
        MessageHeader.append(kind, to: &message)
        body(&message)
        return (message.bytes.bytes, message.attachments.joined())
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
        let offersTerminal = try message.flag()
        let context = try message.optional(AuthenticationContext.self)
        return .request(
            try verb.init(&message), context: context, offersTerminal: offersTerminal)
    }
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

/// The secrets of one message, one behind the other, as the frame carries them beside it. The message
/// names their lengths, in their order.
struct SecretAttachments {
    private var secrets: [HeldSecret] = []
    /// Bytes of the first secret that were taken.
    private var taken = 0

    init(_ joined: HeldSecret? = nil) {
        if let joined { secrets = [joined] }
    }

    mutating func add(_ secret: HeldSecret) { secrets.append(secret) }

    /// nil when there is none. A single secret is carried as it is.
    func joined() -> HeldSecret? {
        guard let first = secrets.first else { return nil }
        if secrets.count == 1 { return first }
        var writer = SecretWriter(capacity: secrets.reduce(0) { $0 + $1.bytes.count })
        for secret in secrets { writer.append(secret.bytes) }
        return HeldSecret(writer.finish())
    }

    /// The next secret of a frame's second part.
    mutating func take(_ count: Int) throws(MalformedBytes) -> HeldSecret {
        let joined = secrets.first
        let length = joined?.bytes.count ?? 0
        guard count <= length - taken else { throw MalformedBytes() }
        guard let joined, count > 0 else { return HeldSecret(SecretBytes(copying: [])) }
        defer { taken += count }
        if count == length { return joined }
        return HeldSecret(joined.bytes.part(taken..<taken + count))
    }

    var isEmpty: Bool { taken == secrets.first?.bytes.count ?? 0 }
}
