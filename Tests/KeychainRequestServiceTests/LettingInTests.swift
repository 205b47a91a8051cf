// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessages
import KeychainModel
import KeychainUserPresence
import KeychainVaults
import Testing

/// Items of other programs that a search through a deputy lists, and what becomes of asking for them.
@Suite struct LettingInTests {
    private let world: ServiceInMemory
    private let browser = Program("/usr/bin/browser", process: 30).relayed
    private let old = Program("/opt/browser", process: 31).relayed

    init() throws { world = try ServiceInMemory() }

    private func pairs(_ pairs: [String: String]) -> Attributes {
        Attributes(pairs.map { (AttributeName.pair($0.key), .string($0.value)) })
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
        #expect(throws: RequestError.refused(.notEntitled)) { try world.ask(Delete(query), next) }
        // Not to another program.
        world.person.leaves()
        let other = Program("/usr/bin/other", process: 41).relayed
        #expect(throws: RequestError.state(.notFound)) { _ = try read(item, as: other) }
    }

    @Test func `an item that lets a program in is listed beside the program's own`() throws {
        let (item, own) = (try add(app, as: old), try add(app, as: browser))
        try add(app.merging(["n": "1"]) { $1 }, as: old)
        let listed = { [browser] (named: [String: String]) throws in
            Set(try found(named, as: browser).map(\.reference))
        }
        #expect(try listed(app) == [own])
        world.person.chooses(.once)
        #expect(try read(item, as: browser) == "key")
        #expect(try listed(app) == [own, item])
        world.person.chooses(.always)
        let other = try add(app.merging(["n": "2"]) { $1 }, as: old)
        #expect(try read(other, as: browser) == "key")
        #expect(try listed(app) == [own, item, other])
        #expect(try listed([:]) == [own, item, other])
        #expect(try listed(["application": "other"]) == [])
        #expect(try found(app, as: browser).allSatisfy { !$0.isLocked })
        try lock()
        #expect(try listed(app).isSuperset(of: [own, other]))
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

    @Test func `items that let a program in are listed whatever their number`() throws {
        world.person.chooses(.always)
        for number in 0..<9 {
            let item = try add(app.merging(["n": "\(number)"]) { $1 }, as: old)
            _ = try read(item, as: browser)
        }
        #expect(try found(["application": "browser"], as: browser).count == 9)
        #expect(try found(["xdg:schema": "a.b"], as: browser).allSatisfy { !$0.isLocked })
    }

    // MARK: While the keychain is locked

    private func lock() throws { try world.vault.lock(world.keychain) }
    private func unlock() { world.vault.open(.login) }

    private func locked(_ item: ItemReference) -> [AttributedMatch] {
        [AttributedMatch(keychain: "login", reference: item, isLocked: true)]
    }

    @Test func `an item that lets a program in is found while the keychain is locked`() throws {
        let item = try add(app, as: old)
        world.person.chooses(.always)
        _ = try read(item, as: browser)
        try lock()
        world.person.leaves()
        #expect(try found(app, as: browser) == locked(item))
        #expect(try found(["xdg:schema": "a.b"], as: browser) == locked(item))
        #expect(throws: RequestError.state(.locked)) { try read(item, as: browser) }
        // To another program it is a stranger's.
        let other = Program("/usr/bin/other", process: 41).relayed
        #expect(try found(app, as: other) == [])
        unlock()
        #expect(try found(app, as: browser).map(\.isLocked) == [false])
        #expect(try read(item, as: browser) == "key")
    }

    @Test func `a locked keychain lists strangers' items as an open one does`() throws {
        let item = try add(app, as: old)
        try lock()
        #expect(try found(["application": "browser"], as: browser) == locked(item))
        #expect(try found(["xdg:schema": "a.b"], as: browser) == [])
        #expect(try found(["application": "other"], as: browser) == [])
        #expect(
            try found(["application": "browser"], as: Program("/usr/bin/browser", process: 32))
                == [])
        world.person.leaves()
        #expect(try found(app, as: browser) == [])
    }

    @Test func `a locked keychain lists none where a search meets many`() throws {
        for number in 0..<9 { try add(app.merging(["n": "\(number)"]) { $1 }, as: old) }
        try lock()
        #expect(try found(["application": "browser"], as: browser) == [])
        #expect(try found(["application": "browser", "n": "7"], as: browser).count == 1)
    }

    @Test(arguments: ["a.b", "c.d"])
    func `a rule that fits what is known of it keeps an item that does not open unlisted`(
        _ schema: String
    ) throws {
        let item = try add(app, as: old)
        try world.use(
            rules: AskingVerb.rule("forbid: No.", "read-secret")
                + "    resource: {class: attributed, schema: \(schema)}\n")
        try lock()
        #expect(try found(app, as: browser) == (schema == "a.b" ? [] : locked(item)))
    }

    @Test(arguments: ["exe:/opt/browser", "exe:/opt/*"])
    func `what a rule lets a program know of is found while the keychain is locked`(
        _ group: String
    ) throws {
        let items = try (0..<9).map {
            try add(app.merging(["n": "\($0)"]) { $1 }, as: old)
        }
        try world.use(
            rules: """
                  - id: shared.bus
                    share: As open as others are.
                    tags: [broad]
                    operations: [read-secret, read-attributes]
                    subject: {user: a}
                    resource: {class: attributed, access-group: "\(group)"}

                """)
        try lock()
        world.person.leaves()
        let named = try found(["application": "browser"], as: browser)
        #expect(Set(named.map(\.reference)) == Set(items))
        #expect(named.allSatisfy { $0.isLocked })
        #expect(throws: RequestError.state(.locked)) { try read(items[0], as: browser) }
        unlock()
        #expect(try found(["application": "browser"], as: browser).allSatisfy { !$0.isLocked })
    }

    @Test func `a keychain that was never opened hides no item of another one`() throws {
        try world.ask(CreateKeychain(name: "work", password: ServiceInMemory.secret("w0rk")), .tool)
        var secret = NewItem(.attributed)
        secret.keychain = "work"
        secret.attributes = pairs(["other": "x"])
        try world.ask(Add(secret, secret: nil, returning: .reference), old)
        try world.vault.forget(world.folder.keychain("work", of: geteuid()))
        let item = try add(app, as: old)
        world.person.chooses(.always)
        _ = try read(item, as: browser)
        #expect(
            try found(app, as: browser) == [
                AttributedMatch(keychain: "login", reference: item, isLocked: false),
                AttributedMatch(keychain: "work", reference: nil, isLocked: true),
            ])
    }

    // MARK: Imported items

    private static let importing = """
          - id: test.import
            share: Imports.
            tags: [broad]
            operations: add
            subject: {user: a}
            resource: {class: attributed, access-group: imported}

        """

    @discardableResult
    private func bring(_ named: [String: String], rules: String = "") throws -> ItemReference {
        try world.use(rules: Self.importing + rules)
        var item = NewItem(.attributed)
        item.attributes = pairs(named)
        item.attributes[.label] = .string("Key of \(named["n"] ?? "it")")
        item.accessGroup = "imported"
        item.trusted = []
        return try world.ask(
            Add(item, secret: ServiceInMemory.secret("key"), returning: .reference), .tool
        ).reference
    }

    @Test func `always makes an imported item the program's own`() throws {
        let item = try bring(app)
        #expect(try found(app, as: browser) == locked(item))
        world.person.chooses(.always)
        #expect(try read(item, as: browser) == "key")
        let question = try #require(world.person.questions.first)
        #expect(question.contains("belongs to no program. Always gives it to this one, which"))
        #expect(try found(app, as: browser).map(\.isLocked) == [false])
        #expect(try read(item, as: browser) == "key")
        let other = Program("/usr/bin/other", process: 41).relayed
        #expect(try found(app, as: other) == locked(item))
        world.person.leaves()
        for change in changes(item).reversed() { #expect(try change(browser) == 1) }
    }

    @Test func `once leaves it where it is`() throws {
        let item = try bring(app)
        world.person.chooses(.once)
        #expect(try read(item, as: browser) == "key")
        for change in changes(item) {
            #expect(throws: RequestError.refused(.notEntitled)) { try change(browser) }
        }
    }

    @Test func `where a rule keeps it from the program's own it is listed there`() throws {
        let item = try bring(
            app,
            rules: AskingVerb.rule("forbid: No.", "add")
                + "    resource: {access-group: \"exe:/usr/bin/browser\"}\n")
        world.person.chooses(.always)
        #expect(try read(item, as: browser) == "key")
        world.person.leaves()
        #expect(try read(item, as: browser) == "key")
        for change in changes(item) {
            #expect(throws: RequestError.refused(.notEntitled)) { try change(browser) }
        }
    }

    @Test func `always covers the imported items of its kind, and the question says so`() throws {
        let first = try bring(app.merging(["n": "1"]) { $1 })
        try bring(app.merging(["n": "2"]) { $1 })
        try bring(app.merging(["n": "3"]) { $1 })
        // Of another application, with other pairs, of another type, and made by a program here.
        try bring(["application": "editor", "xdg:schema": "a.b", "n": "4"])
        try bring(app)
        try bring(["application": "browser", "xdg:schema": "c.d", "n": "5"])
        try add(app.merging(["n": "6"]) { $1 }, as: old)
        world.person.chooses(.always)
        #expect(try read(first, as: browser) == "key")
        let question = try #require(world.person.questions.first)
        #expect(question.contains("2 others of its kind: “Key of 2”, “Key of 3”."))
        world.person.leaves()
        #expect(try found(["xdg:schema": "a.b"], as: browser).count == 3)
        #expect(try found([:], as: browser).count == 3)
    }

    @Test func `items of types that many programs use are given one by one`() throws {
        for schema in ["org.gnome.keyring.NetworkPassword", "org.freedesktop.Secret.Generic", ""] {
            var named = ["server": "a", "xdg:schema": schema, "n": "1"]
            if schema.isEmpty { named["xdg:schema"] = nil }
            let first = try bring(named)
            try bring(named.merging(["n": "2"]) { $1 })
            world.person.chooses(.always)
            _ = try read(first, as: browser)
            #expect(try found([:], as: browser).count == 1)
            var query = ItemQuery(.attributed)
            query.references = [first]
            #expect(try world.ask(Delete(query), browser) == 1)
        }
    }

    // MARK: By name

    private func reading(_ item: ItemReference) -> CopyMatching {
        var query = ItemQuery(.attributed)
        query.references = [item]
        query.returnFields = .attributes
        query.authenticationUI = .fail
        return CopyMatching(query)
    }

    @Test func `of an item that is listed as locked a program hears that a question is missing`()
        throws
    {
        let item = try add(app, as: old)
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try world.ask(reading(item), browser)
        }
        #expect(throws: RequestError.state(.notFound)) {
            try world.ask(reading(item), Program("/usr/bin/browser", process: 32))
        }
        try lock()
        #expect(throws: RequestError.state(.locked)) { try world.ask(reading(item), browser) }
        world.person.leaves()
        #expect(throws: RequestError.state(.notFound)) { try world.ask(reading(item), browser) }
        unlock()
        #expect(throws: RequestError.state(.notFound)) { try world.ask(reading(item), browser) }
        #expect(world.person.questions == [])
    }

    private func changes(_ item: ItemReference) -> [(Program) throws -> Int] {
        var query = ItemQuery(.attributed)
        query.references = [item]
        var change = ItemChange()
        change.attributes = [.label: .string("mine")]
        return [
            { [world] in try world.ask(Delete(query), $0) },
            { [world] in try world.ask(Update(query, change, secret: nil), $0) },
        ]
    }

    @Test func `to change another's item that it knows of is denied to a program`() throws {
        let item = try add(app, as: old)
        for change in changes(item) {
            #expect(throws: RequestError.refused(.notEntitled)) { try change(browser) }
            #expect(throws: RequestError.state(.notFound)) {
                try change(Program("/usr/bin/browser", process: 32))
            }
        }
        try lock()
        for change in changes(item) {
            #expect(throws: RequestError.state(.locked)) { try change(browser) }
        }
        unlock()
        world.person.leaves()
        for change in changes(item) {
            #expect(throws: RequestError.state(.notFound)) { try change(browser) }
        }
        #expect(try found(app, as: old).count == 1)
    }

    @Test func `to change what a rule lets it read is denied to a program`() throws {
        let item = try add(app, as: old)
        try world.use(
            rules: """
                  - id: shared.read
                    share: To read.
                    tags: [broad]
                    operations: [read-secret, read-attributes]
                    subject: {user: a}
                    resource: {class: attributed, access-group: "exe:/opt/browser"}

                """)
        for change in changes(item) {
            #expect(throws: RequestError.refused(.notEntitled)) { try change(browser) }
        }
    }
}
