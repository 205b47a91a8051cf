// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import Testing

@testable import KeychainRequestService

@Suite struct UpdateTests {
    private let world: ServiceInMemory

    init() throws { world = try ServiceInMemory() }

    private func update(
        _ change: ItemChange, secret: String? = nil, as program: Program = .git
    ) throws(RequestError) -> Int {
        try world.ask(
            Update(
                ServiceInMemory.query("mail"), change,
                secret: secret.map(ServiceInMemory.secret)), program)
    }

    @Test func `an item's secret is replaced by its program alone`() throws {
        try world.add("mail")
        #expect(try update(ItemChange(), secret: "new") == 1)
        #expect(try world.read("mail") == "new")
        #expect(throws: RequestError.state(.notFound)) {
            try update(ItemChange(), secret: "x", as: Program("/usr/bin/mail", process: 30))
        }
        #expect(world.person.questions.isEmpty)
    }

    @Test func `another accessibility leaves each read its question`() throws {
        try world.add("mail") { $0.accessControl = .guarded }
        var change = ItemChange()
        change.accessible = .afterFirstUnlock
        #expect(try update(change) == 1)
        world.person.forgets()
        let later = Program("/usr/bin/git", process: 11)
        #expect(try world.read("mail", as: later) == "secret of mail")
        #expect(world.person.questions.count == 1)
    }

    @Test func `a list of programs is the user's to say, each time`() throws {
        try world.add("mail")
        var change = ItemChange()
        change.trust = .replace([.identity("exe:/usr/bin/mail")])
        for number in 1...2 {
            #expect(try update(change) == 1)
            #expect(world.person.questions.count == number)
        }
        world.person.leaves()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) { try update(change) }
    }

    @Test func `an item moves to a group of the program's and to no other`() throws {
        try world.add("mail")
        var change = ItemChange()
        change.accessGroup = "office"
        #expect(throws: RequestError.refused(.notEntitled)) { try update(change) }
        let program = Program("/usr/bin/git", process: 10, groups: ["office"])
        #expect(try update(change, as: program) == 1)
        #expect(throws: RequestError.state(.notFound)) { try world.read("mail") }
    }
}
