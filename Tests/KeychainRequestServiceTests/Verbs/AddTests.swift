// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import Testing

@testable import KeychainRequestService

@Suite struct AddTests {
    private let world: ServiceInMemory

    init() throws { world = try ServiceInMemory() }

    @Test func `a new item is read back, and is there once`() throws {
        try world.add("mail")
        #expect(try world.read("mail") == "secret of mail")
        #expect(throws: RequestError.state(.duplicate)) { try world.add("mail") }
    }

    @Test func `a group is named by those who are in it`() throws {
        #expect(throws: RequestError.refused(.notEntitled)) {
            try world.add("mail") { $0.accessGroup = "office" }
        }
        let program = Program("/usr/bin/git", process: 10, groups: ["office"])
        try world.add("mail", as: program) { $0.accessGroup = "office" }
        #expect(throws: RequestError.state(.notFound)) { try world.read("mail") }
    }

    @Test func `no item is added to a locked keychain, and none that is forbidden`() throws {
        try world.vault.lock(world.keychain)
        #expect(throws: RequestError.state(.locked)) { try world.add("mail") }
        let another = try ServiceInMemory()
        try another.use(rules: AskingVerb.rule("forbid: No.", "add"))
        #expect(throws: RequestError.refused(.forbidden)) { try another.add("mail") }
    }

    @Test func `the answer has the new item's attributes only where they are asked for`() throws {
        for (parts, areTold) in [
            (ReturnFields(), false), (.data, false), (.persistentReference, false),
            (.attributes, true), (.reference, true), ([.data, .attributes], true),
        ] {
            var item = NewItem(.genericPassword)
            item.attributes = [.service: .string("service \(parts.rawValue)")]
            let added = try world.ask(Add(item, secret: nil, returning: parts))
            #expect(added.attributes.isEmpty == !areTold)
            #expect(added.reference.itemClass == .genericPassword)
        }
    }

    @Test func `a limit counts each item that is added`() throws {
        try world.use(
            rules: AskingVerb.rule("limit: {rate: 2/1h, by: [uid], then: deny}", "add"))
        try world.add("a")
        try world.add("b")
        #expect(throws: RequestError.refused(.tooManyRequests)) { try world.add("c") }
    }
}
