// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import KeychainSecrets

/// One byte says how long the secrets beside the message are; the message is the rest.
enum Messages {
    private typealias Encoded = (message: [UInt8], secrets: HeldSecret?)

    /// Secrets of each length; readers look at lengths alone.
    private static let secrets = (0...255).map { count in
        count == 0 ? nil : HeldSecret(SecretBytes(copying: [UInt8](repeating: 1, count: count)))
    }

    static func input(_ message: [UInt8], _ secrets: HeldSecret?) -> [UInt8] {
        [UInt8(clamping: secrets?.bytes.count ?? 0)] + message
    }

    static func readClients(_ bytes: [UInt8]) throws -> Bool {
        try read(bytes) { bytes, secrets in
            try ClientMessage(bytes, secrets: secrets).encoded()
        }
    }

    static func readServers(_ bytes: [UInt8]) throws -> Bool {
        try read(bytes) { bytes, secrets in
            let message = try ServerMessage(bytes, secrets: secrets)
            guard case .answer(let answer) = message else { return message.encoded() }
            guard let verb = Verbs.type(answer.verb) else { throw MessageError.newer }
            return try again(answer, to: verb)
        }
    }

    private static func again<V: Verb>(
        _ answer: AnswerMessage, to verb: V.Type
    ) throws -> Encoded {
        let content = try answer.decoded(to: verb)
        return ServerMessage.answer(content, to: verb, continues: answer.continues).encoded()
    }

    /// What was understood is written so that it is understood as the same.
    private static func read(
        _ bytes: [UInt8], _ rewrite: ([UInt8], HeldSecret?) throws -> Encoded
    ) throws -> Bool {
        guard let count = bytes.first,
            let once = try? rewrite(Array(bytes.dropFirst()), secrets[Int(count)])
        else { return false }
        guard let twice = try? rewrite(once.message, once.secrets) else {
            throw Broken(description: "a message is written as one that is none")
        }
        try require(isSame(once, twice), "a message is written as another one")
        return true
    }

    /// Attributes stand in no order.
    private static func isSame(_ one: Encoded, _ other: Encoded) -> Bool {
        guard one.message.count == other.message.count,
            one.secrets?.bytes.count ?? 0 == other.secrets?.bytes.count ?? 0
        else { return false }
        return one.message == other.message || one.message.sorted() == other.message.sorted()
    }
}
