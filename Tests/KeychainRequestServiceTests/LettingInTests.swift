// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import KeychainUserPresence
import Testing

/// Items of other programs that a search through a deputy lists, and what becomes of asking for them.
@Suite struct LettingInTests {
    private let world: ServiceInMemory
    private let browser = Program("/usr/bin/browser", process: 30).relayed
    private let old = Program("/opt/browser", process: 31).relayed

    init() throws { world = try ServiceInMemory() }

    private func pairs(_ pairs: [String: String]) -> Attributes {
        Attributes(
            uniqueKeysWithValues: pairs.map { (AttributeName.pair($0.key), .string($0.value)) })
    }

    @discardableResult
    private func add(_ named: [String: String], as program: Program) throws -> ItemReference {
        var item = NewItem(.attributed)
        item.attributes = pairs(named)
        item.attributes[.label] = .string("Key of a database")
        item.trusted = []
        let verb = Add(item, secret: ServiceInMemory.secret("key"), returning: .reference)
        return try world.ask(verb, program).reference
    }

    private func found(
        _ named: [String: String], as program: Program
    ) throws -> [AttributedMatch] {
        try world.ask(FindAttributed(keychain: nil, pairs: pairs(named)), program)
    }

    private func read(_ item: ItemReference, as program: Program) throws(RequestError) -> String? {
        var query = ItemQuery(.attributed)
        query.references = [item]
        query.returnFields = .data
        return try world.ask(CopyMatching(query), program).first?.secret?.text
    }

    private let app = ["application": "browser", "xdg:schema": "a.b"]

    @Test func `one that the user could be asked about is listed as locked`() throws {
        let item = try add(app, as: old)
        let match = AttributedMatch(keychain: "login", reference: item, isLocked: true)
        #expect(try found(["application": "browser"], as: browser) == [match])
        #expect(world.person.questions == [])
        // Not to a program that connects itself, and not where that has one of its own.
        #expect(
            try found(["application": "browser"], as: Program("/usr/bin/browser", process: 32))
                == [])
        let own = try add(app, as: browser)
        #expect(try found(app, as: browser).map(\.reference) == [own])
    }

    @Test func `a search that names no more than a kind, or meets many, lists none`() throws {
        try add(app, as: old)
        #expect(try found(["xdg:schema": "a.b"], as: browser) == [])
        #expect(try found([:], as: browser) == [])
        #expect(try found(["application": "other"], as: browser) == [])
        for number in 0..<8 { try add(app.merging(["n": "\(number)"]) { $1 }, as: old) }
        #expect(try found(["application": "browser"], as: browser) == [])
        #expect(try found(["application": "browser", "n": "7"], as: browser).count == 1)
    }

    @Test func `with no user to ask none is listed`() throws {
        let item = try add(app, as: old)
        world.person.leaves()
        #expect(try found(app, as: browser) == [])
        #expect(throws: RequestError.state(.notFound)) { _ = try read(item, as: browser) }
    }

    @Test func `a yes opens it to the program for a moment, to read`() throws {
        let item = try add(app, as: old)
        world.person.chooses(.once)
        #expect(try read(item, as: browser) == "key")
        #expect(world.person.questions.count == 1)
        #expect(world.person.questions.first?.contains("through the Secret Service") == true)
        // On another connection, which is another process.
        let next = Program("/usr/bin/browser", process: 40).relayed
        #expect(try read(item, as: next) == "key")
        #expect(world.person.questions.count == 1)
        #expect(try found(app, as: next).map(\.isLocked) == [false])
        var query = ItemQuery(.attributed)
        query.references = [item]
        #expect(throws: RequestError.state(.notFound)) { try world.ask(Delete(query), next) }
        // Not to another program.
        world.person.leaves()
        let other = Program("/usr/bin/other", process: 41).relayed
        #expect(throws: RequestError.state(.notFound)) { _ = try read(item, as: other) }
    }

    @Test func `a no is a no`() throws {
        let item = try add(app, as: old)
        world.person.chooses(.deny)
        #expect(throws: RequestError.refused(.cancelled)) { _ = try read(item, as: browser) }
    }

    @Test func `always is for good`() throws {
        let item = try add(app, as: old)
        world.person.chooses(.always)
        #expect(try read(item, as: browser) == "key")
        world.person.leaves()
        #expect(try read(item, as: browser) == "key")
        #expect(try found(app, as: browser).map(\.isLocked) == [false])
    }
}
