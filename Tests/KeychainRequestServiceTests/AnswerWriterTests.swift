// SPDX-License-Identifier: Apache-2.0
import KeychainItemStore
import KeychainMessages
import KeychainModel
@testable import KeychainRequestService
import KeychainSecrets
import KeychainUserPresence
import KeychainVaults
import Testing

/// How an answer leaves: in parts, and none of them unseen.
@Suite struct AnswerWriterTests {
    private let world: ServiceInMemory
    private let program = Program("/usr/bin/git", process: 10)
    private let found: SealedItem
    private let access: Authorization
    private let prompts: UserPrompts
    private let parts = Box<[Int]>([])

    init() throws {
        world = try ServiceInMemory()
        try world.add("mail")
        prompts = UserPrompts(program, world.service.authentication)
        let query = ServiceInMemory.query("mail")
        access = Authorization(.read(query), in: try world.keychain, prompts, by: world.service)
        found = try #require(
            try world.keychain.file.find(
                query, groups: program.caller.accessGroups,
                keys: world.vault.keysOfLocked(world.keychain)
            ).first)
    }

    private func writer(limit: Int? = nil) -> AnswerWriter {
        let parts = parts
        return AnswerWriter(limit: limit, prompts, MemoryBudget()) { part in
            parts.change { $0.append(part.count) }
        }
    }

    private func add(
        _ count: Int, secret bytes: Int = 1, to answer: AnswerWriter
    ) throws(RequestError) {
        for _ in 0..<count {
            let item = Item(
                reference: found.reference, attributes: [:], accessControl: found.accessControl,
                secret: HeldSecret(SecretBytes(random: bytes)))
            try answer.begin(found, bytes: bytes, access.keys)
            try answer.add(item, of: found)
        }
    }

    @Test func `an answer of many items leaves in parts, the last with the answer`() throws {
        let answer = writer()
        try add(AnswerWriter.mostItems + 3, to: answer)
        #expect(parts.value == [AnswerWriter.mostItems])
        #expect(try answer.finish().count == 3)
        #expect(answer.count == AnswerWriter.mostItems + 3)
    }

    @Test func `a part that is large enough leaves at once`() throws {
        let answer = writer()
        try add(2, secret: AnswerWriter.mostBytes / 2, to: answer)
        #expect(parts.value == [2])
        #expect(try answer.finish().isEmpty)
    }

    @Test func `an answer is full at its limit, and one without an item is none`() throws {
        let answer = writer(limit: 2)
        #expect(throws: RequestError.state(.notFound)) { try answer.finish() }
        try add(1, to: answer)
        #expect(answer.rest == 1 && !answer.isFull)
        try add(1, to: answer)
        #expect(answer.isFull)
        #expect(writer().rest == nil && !writer().isFull)
    }

    @Test func `nothing leaves for a client that became another program`() throws {
        let answer = writer()
        try add(AnswerWriter.mostItems - 1, to: answer)
        program.isSame.end()
        #expect(throws: RequestError.refused(.notEntitled)) { try add(1, to: answer) }
        #expect(throws: RequestError.refused(.notEntitled)) { try answer.finish() }
        #expect(parts.value.isEmpty)
    }

    @Test func `nothing leaves once the unlock that opened it has ended`() throws {
        let answer = writer()
        try add(1, to: answer)
        try world.vault.lock(world.keychain)
        #expect(throws: RequestError.state(.locked)) { try answer.finish() }
        // Opened again, it is another unlock's answer.
        world.vault.open(.login)
        #expect(throws: RequestError.state(.locked)) { try answer.finish() }
        #expect(parts.value.isEmpty)
    }

    @Test func `after a part has left no item is opened with an unlock that has ended`() throws {
        let answer = writer()
        try add(AnswerWriter.mostItems, to: answer)
        try world.vault.lock(world.keychain)
        #expect(throws: RequestError.state(.locked)) { try add(1, to: answer) }
        #expect(answer.count == AnswerWriter.mostItems)
    }

    @Test func `more bytes of secrets than one answer may have are refused`() throws {
        let answer = writer()
        try add(2, secret: 32 * 1024 * 1024, to: answer)
        #expect(throws: RequestError.invalid(.dataTooLarge)) { try add(1, to: answer) }
    }
}
