// SPDX-License-Identifier: Apache-2.0
import KeychainMessageSamples
import KeychainModel
import KeychainSecrets
import Testing

@testable import KeychainMessages

/// Any bytes are a message or a refusal, and cost no more than their length allows.
@Suite struct TotalityTests {
    private func isMessage(_ bytes: [UInt8], _ secrets: HeldSecret?) -> Bool {
        (try? ClientMessage(bytes, secrets: secrets)) != nil
    }

    private func isAnswer(_ bytes: [UInt8], _ secrets: HeldSecret?) -> Bool {
        (try? decodeAnswer(ServerMessage(bytes, secrets: secrets))) != nil
    }

    @Test func `every truncation of every message is refused`() {
        for message in Samples.clientMessages {
            let (bytes, secrets) = message.encoded()
            #expect(isMessage(bytes, secrets))
            for count in bytes.indices { #expect(!isMessage(Array(bytes[..<count]), secrets)) }
            #expect(!isMessage(bytes + [0], secrets), "bytes behind the end")
        }
        for message in Samples.serverMessages {
            let (bytes, secrets) = message.encoded()
            #expect(isAnswer(bytes, secrets))
            for count in bytes.indices { #expect(!isAnswer(Array(bytes[..<count]), secrets)) }
            #expect(!isAnswer(bytes + [0], secrets), "bytes behind the end")
        }
    }

    /// Every bit, and the values at which lengths and codes turn over.
    @Test func `every changed byte of every message is a message or a refusal`() {
        let others: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
        func changed(_ bytes: [UInt8], _ body: ([UInt8]) -> Void) {
            for place in bytes.indices {
                for value in others + (0..<8).map({ bytes[place] ^ (1 << $0) }) {
                    var other = bytes
                    other[place] = value
                    body(other)
                }
            }
        }
        for message in Samples.clientMessages {
            let (bytes, secrets) = message.encoded()
            changed(bytes) { _ = isMessage($0, secrets) }
        }
        for message in Samples.serverMessages {
            let (bytes, secrets) = message.encoded()
            changed(bytes) { _ = isAnswer($0, secrets) }
        }
    }

    @Test func `a count that the message has no room for is refused before anything is made of it`()
    {
        // A search, not in a named keychain, with four thousand million attributes.
        let search: [UInt8] = [0, 2, 2, 0, 0, 0, 1, 0, 0xFF, 0xFF, 0xFF, 0xFF]
        #expect(!isMessage(search, nil))
        var reader = ByteReader([5, 0, 0, 0] + [UInt8](repeating: 0, count: 44))
        #expect(throws: MalformedBytes()) { try reader.count(ofAtLeast: 9) }
        var fitting = ByteReader([5, 0, 0, 0] + [UInt8](repeating: 0, count: 45))
        #expect(throws: Never.self) { try fitting.count(ofAtLeast: 9) }
    }

    @Test func `text that is no UTF-8 is refused`() {
        let (bytes, _) = ClientMessage.request(
            Lock(keychain: "ab"), context: nil, relay: nil, offersTerminal: false
        ).encoded()
        #expect(isMessage(bytes, nil))
        #expect(!isMessage(bytes.dropLast() + [0xFF], nil))
    }

    @Test func `a flag is 0 or 1`() {
        let (bytes, _) = ClientMessage.request(
            CheckKeychain(keychain: nil, repair: false), context: nil, relay: nil,
            offersTerminal: false
        ).encoded()
        #expect(isMessage(bytes.dropLast() + [1], nil))
        #expect(!isMessage(bytes.dropLast() + [2], nil))
    }

    @Test func `secrets are those that the message names, all of them, and no others`() {
        for message in Samples.clientMessages {
            let (bytes, secrets) = message.encoded()
            let count = secrets?.bytes.count ?? 0
            for wrong in [count - 1, count + 1] where wrong >= 0 {
                #expect(!isMessage(bytes, HeldSecret(SecretBytes(random: wrong))))
            }
        }
    }

    @Test func `an attribute stands in a message once`() {
        let twice: [UInt8] = [0, 5, 4, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0]
        let attribute: [UInt8] = [4, 0, 0, 0, 97, 99, 99, 116, 3] + [UInt8](repeating: 0, count: 8)
        let rest: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(!isMessage(twice + attribute + attribute + rest, nil))
        let once: [UInt8] = [0, 5, 4, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0]
        #expect(isMessage(once + attribute + rest, nil))
    }
}

/// Sides of different versions tell each other so.
@Suite struct VersionTests {
    private func error(_ bytes: [UInt8]) -> MessageError? {
        do {
            _ = try ClientMessage(bytes, secrets: nil)
            return nil
        } catch { return error }
    }

    @Test func `a message says which side is older`() {
        let (bytes, _) = ClientMessage.encode(Status(), context: nil, offersTerminal: false)
        for (version, told) in [
            (UInt8(0), MessageError.older), (1, .older), (2, .older), (3, .older),
            (4, .older), (6, .newer),
        ] {
            var other = bytes
            other[1] = version
            #expect(error(other) == told)
            #expect(throws: told) { try ServerMessage([0, version, 2, 0], secrets: nil) }
        }
        // Protocol Buffers, the first version: status, and a refusal.
        #expect(error([0x72, 0]) == .firstVersion)
        #expect(throws: MessageError.firstVersion) { try ServerMessage([8, 1], secrets: nil) }
    }

    @Test func `a verb or a word that is not known is a newer side's`() {
        #expect(error([0, 5, 200, 0, 0, 0]) == .newer)
        #expect(error([0, 5, 0xFF, 0xFF]) == .newer)
        #expect(error([0, 5, 0, 0]) == .newer)
        #expect(throws: MessageError.newer) { try ServerMessage([0, 5, 9, 0], secrets: nil) }
    }

    @Test func `a refusal is understood from every version`() throws {
        var (bytes, _) = ServerMessage.refusal(.state(.olderProgram)).encoded()
        for version in UInt8(0)...255 {
            bytes[1] = version
            guard case .refusal(.state(.olderProgram), []) = try ServerMessage(bytes, secrets: nil)
            else {
                Issue.record("it arrived as something else")
                return
            }
        }
    }

    @Test func `programs of the first version are told in its own words`() {
        let said = ServerMessage.refusalInFirstVersion
        // refusal (1): 60, not available; because (5): a text to the end.
        #expect(said.prefix(3) == [8, 60, 42] && Int(said[3]) == said.count - 4)
        #expect(said[3] < 128)
    }
}

@Suite struct VerbTableTests {
    @Test func `each verb stands at its number`() {
        var last: UInt16 = 0
        for verb in Verbs.all {
            let number = verb.number
            #expect(number > last)
            #expect(Verbs.type(number)?.number == number)
            last = number
        }
        #expect(Verbs.type(0) == nil && Verbs.type(last + 1) == nil)
    }

    @Test func `each verb and each answer has a sample here`() {
        var numbers: [UInt16] = []
        for verb in Verbs.all { numbers.append(verb.number) }
        var sampled: [UInt16] = []
        for verb in Samples.verbs { sampled.append(type(of: verb).number) }
        #expect(sampled == numbers)
        let answered = Samples.answers.map { message in
            if case .answer(let answer) = message { answer.verb } else { UInt16(0) }
        }
        #expect(answered == numbers)
    }

    @Test(arguments: [
        (Policies.Question.report, [UInt8(0)]), (.reload, [1]), (.facts, [2, 7, 0, 0, 0]),
        (.lastDenied, [3]),
    ])
    func `what older programs ask of policies stays the same byte`(
        _ question: Policies.Question, _ end: [UInt8]
    ) throws {
        func bytes(_ verb: Policies) -> [UInt8] {
            ClientMessage.request(verb, context: nil, relay: nil, offersTerminal: false).encoded()
                .message
        }
        let written = bytes(Policies(question, of: 7))
        #expect(written.suffix(end.count).elementsEqual(end))
        #expect(written.count == bytes(Policies(.report)).count - 1 + end.count)
    }

    @Test func `every verb and every answer is written again as it was read`() throws {
        for message in Samples.verbs.map({
            ClientMessage.request($0, context: Samples.context, relay: nil, offersTerminal: true)
        }) {
            let (bytes, secrets) = message.encoded()
            let again = try ClientMessage(bytes, secrets: secrets).encoded()
            #expect(sorted(again.message) == sorted(bytes))
            #expect(text(again.secrets) == text(secrets))
        }
    }

    /// Attributes have no order.
    private func sorted(_ bytes: [UInt8]) -> [UInt8] { bytes.sorted() }

    @Test func `an answer to another verb is none`() throws {
        guard case .answer(let answer) = ServerMessage.answer(3, to: Update.self, continues: false)
        else { return }
        #expect(try answer.decoded(to: Update.self) == 3)
        #expect(throws: MessageError.malformed) { try answer.decoded(to: Delete.self) }
    }
}
