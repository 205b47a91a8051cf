// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import Testing

@testable import KeychainRequestService

@Suite struct DeleteTests {
    private let world: ServiceInMemory

    init() throws { world = try ServiceInMemory() }

    private func delete(_ name: String, as program: Program = .git) throws(RequestError) -> Int {
        try world.ask(Delete(ServiceInMemory.query(name)), program)
    }

    @Test func `an item is deleted by its program alone`() throws {
        try world.add("mail")
        #expect(throws: RequestError.state(.notFound)) {
            try delete("mail", as: Program("/usr/bin/mail", process: 30))
        }
        #expect(try delete("mail") == 1)
        #expect(throws: RequestError.state(.notFound)) { try world.read("mail") }
    }

    @Test func `all go or none, and one question is asked for all`() throws {
        try world.add("a") { $0.accessControl = .guarded }
        try world.add("b") { $0.accessControl = .guarded }
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .string("me")]
        #expect(try world.ask(Delete(query)) == 2)
        #expect(world.person.questions.count == 1)
    }

    @Test func `what can't be read for want of a key can be deleted`() throws {
        try world.add("mail")
        try world.vault.lock(world.keychain)
        #expect(try delete("mail") == 1)
    }

    @Test func `what can't be read is kept where a rule could ask for a proof of it`() throws {
        try world.add("mail")
        try world.use(rules: AskingVerb.rule("require: presence", "delete"))
        try world.vault.lock(world.keychain)
        world.person.leaves()
        #expect(throws: RequestError.state(.locked)) { try delete("mail") }
        // A rule about something else keeps none.
        try world.use(rules: AskingVerb.rule("require: presence", "export"))
        #expect(try delete("mail") == 1)
    }

    @Test func `so is what a rule keeps from programs that can't ask`() throws {
        try world.add("mail")
        try world.use(
            rules: AskingVerb.rule("forbid: No.\n    when: {interactive: false}", "delete"))
        try world.vault.lock(world.keychain)
        world.person.leaves()
        #expect(throws: RequestError.state(.locked)) { try delete("mail") }
    }

    @Test func `a call that asks for some of its items is counted once`() throws {
        try world.add("a")
        try world.add("b") { $0.accessControl = .guarded }
        try world.use(
            rules: AskingVerb.rule("limit: {rate: 1/1h, by: [uid], then: deny}", "delete"))
        var query = ItemQuery(.genericPassword)
        query.attributes = [.account: .string("me")]
        #expect(try world.ask(Delete(query)) == 2)
        #expect(world.person.questions.count == 1)
    }

    @Test(arguments: ["unlocked: true", "interactive: true"])
    func `a limit that goes by the moment counts what it is about`(_ condition: String) throws {
        try world.add("a")
        try world.add("b")
        try world.use(rules: Self.onePerHour("when: {\(condition)}"))
        #expect(try delete("a") == 1)
        #expect(throws: RequestError.refused(.tooManyRequests)) { try delete("b") }
    }

    @Test func `a limit for programs that were let in counts no others`() throws {
        try world.add("a")
        try world.add("b")
        try world.use(rules: Self.onePerHour("subject: {member: false}"))
        #expect(try delete("a") == 1)
        #expect(try delete("b") == 1)
        try world.add("a")
        try world.add("b")
        try world.use(rules: Self.onePerHour("subject: {member: true}"))
        #expect(try delete("a") == 1)
        #expect(throws: RequestError.refused(.tooManyRequests)) { try delete("b") }
    }

    private static func onePerHour(_ condition: String) -> String {
        AskingVerb.rule("limit: {rate: 1/1h, by: [uid], then: deny}\n    \(condition)", "delete")
    }

    @Test func `deletions that nothing is asked for are counted too`() throws {
        for name in ["a", "b", "c"] { try world.add(name) }
        try world.use(
            rules: AskingVerb.rule("limit: {rate: 2/1h, by: [uid], then: deny}", "delete"))
        #expect(try delete("a") == 1)
        #expect(try delete("b") == 1)
        #expect(throws: RequestError.refused(.tooManyRequests)) { try delete("c") }
    }
}
