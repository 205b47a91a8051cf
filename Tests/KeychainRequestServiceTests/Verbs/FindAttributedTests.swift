// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainActivePolicy
import KeychainItemStore
import KeychainMessages
import KeychainModel
import KeychainSecrets
import KeychainVaults
import Testing

@testable import KeychainRequestService

/// The class of the Secret Service: searching, and putting an item in another one's place.
@Suite struct FindAttributedTests {
    private let world: ServiceInMemory
    private static let chat = Program("/usr/bin/chat", process: 30)

    init() throws { world = try ServiceInMemory() }

    private static func pairs(_ pairs: [String: String]) -> Attributes {
        var attributes: Attributes = [:]
        for (name, value) in pairs { attributes[.pair(name)] = .string(value) }
        return attributes
    }

    @discardableResult
    private func add(
        _ pairs: [String: String], _ secret: String = "s3cret", as program: Program = .git,
        replacing: Bool = false, _ change: (inout NewItem) -> Void = { _ in }
    ) throws(RequestError) -> ItemReference {
        var item = NewItem(.attributed)
        item.attributes = Self.pairs(pairs)
        item.trusted = []
        item.whenSame = replacing ? .replace : .add
        change(&item)
        let verb = Add(item, secret: ServiceInMemory.secret(secret), returning: .reference)
        return try world.ask(verb, program).reference
    }

    private func find(
        _ pairs: [String: String], in keychain: String? = nil, as program: Program = .git,
        limit: Int = AttributedLimits.mostItems
    ) throws(RequestError) -> [AttributedMatch] {
        try world.ask(
            FindAttributed(keychain: keychain, pairs: Self.pairs(pairs), limit: limit), program)
    }

    private func read(
        _ reference: ItemReference, as program: Program = .git
    ) throws(RequestError) -> Item {
        var query = ItemQuery(.attributed)
        query.references = [reference]
        query.returnFields = [.data, .attributes]
        query.authenticationUI = .fail
        return try world.ask(CopyMatching(query), program)[0]
    }

    private func text(_ item: Item) -> String? {
        item.secret.map {
            String(decoding: $0.bytes.copy().releasedFromLockedMemory(), as: UTF8.self)
        }
    }

    // MARK: Searching

    @Test func `a program finds its own items in the Secret Service's order, and no others`()
        throws
    {
        let long = try add(["user": "zoe", "server": "mail"])
        let exact = try add(["user": "zoe", "xdg:schema": "s"])
        try add(["user": "zoe"], as: Self.chat)
        let found = try find(["user": "zoe"])
        #expect(found.map(\.reference) == [exact, long])
        #expect(found.allSatisfy { !$0.isLocked && $0.keychain == "login" })
        #expect(try find(["user": "zoe"], limit: 1).map(\.reference) == [exact])
        #expect(try find(["user": "zoe"], as: Self.chat).count == 1)
        #expect(try find([:]).count == 2)
        #expect(try find(["user": "anna"]).isEmpty)
        #expect(world.person.questions.isEmpty)
    }

    /// Matches of items that can't be opened, told apart by the number of their pairs.
    private func matches(_ pairs: Range<Int>, _ memory: MemoryBudget) throws -> CountedMatches {
        var matches = CountedMatches(memory, for: 1)
        for number in pairs {
            let reference = ItemReference(itemClass: .attributed, number: UInt128(number))
            try matches.append(
                RankedMatch(
                    keychain: "login", order: AttributedOrder(sealed: reference, pairs: number),
                    isLocked: true))
        }
        return matches
    }

    @Test func `the matches of all keychains take room, of which only the best keep theirs`()
        throws
    {
        let memory = MemoryBudget()
        var found = try matches(0..<1, memory)
        var others = try matches(1..<300_000, memory)
        let rest = MemoryBudget.mostForUser / 4
        #expect(throws: RequestError.failed(.outOfMemory)) {
            _ = try memory.take(rest, for: 1, patience: .zero)
        }
        found.add(others, keeping: 2)
        others = CountedMatches(memory, for: 1)
        #expect(found.ranked.map(\.order?.reference.number) == [0, 1])
        #expect(try memory.take(rest, for: 1, patience: .zero) != nil)
    }

    @Test func `a locked keychain is searched all the same, and no question is asked`() throws {
        let reference = try add(["user": "zoe"])
        try world.vault.lock(world.keychain)
        #expect(
            try find(["user": "zoe"])
                == [AttributedMatch(keychain: "login", reference: reference, isLocked: true)])
        #expect(try find(["user": "zoe"], as: Self.chat).isEmpty)
        #expect(world.person.questions.isEmpty)
    }

    @Test func `a keychain that was never opened says that it has items, and not which`() throws {
        #expect(try find(["user": "zoe"]).isEmpty)
        try add(["user": "anna"])
        try world.vault.forget(world.keychain)
        #expect(
            try find(["user": "zoe"])
                == [AttributedMatch(keychain: "login", reference: nil, isLocked: true)])
    }

    @Test func `an item that takes a proof is locked until it is given`() throws {
        try add(["user": "zoe"]) { $0.accessControl = .guarded }
        #expect(try find(["user": "zoe"]).map(\.isLocked) == [true])
        world.person.leaves()
        #expect(try find(["user": "zoe"]).map(\.isLocked) == [true])
        #expect(world.person.questions.isEmpty)
    }

    @Test func `what a rule forbids is absent, and what it asks for is locked`() throws {
        try add(["user": "zoe", "xdg:schema": "org.example.Mail"])
        try add(["user": "zoe", "xdg:schema": "org.example.Chat"])
        let rule = AskingVerb.rule("forbid: No.", "read-secret")
        let resource = "    resource: {class: attributed, schema: org.example.Mail}\n"
        try world.use(rules: rule + resource)
        #expect(try find(["user": "zoe"]).count == 1)
        try world.use(rules: AskingVerb.rule("require: presence", "read-secret") + resource)
        #expect(try find(["user": "zoe"]).map(\.isLocked).filter(\.self).count == 1)
        #expect(try find(["user": "zoe"]).count == 2)
    }

    @Test func `a share lets others find what it names`() throws {
        let reference = try add(["user": "zoe"])
        #expect(try find(["user": "zoe"], as: Self.chat).isEmpty)
        try world.use(
            rules: """
                  - id: shared.bus
                    share: As open as others are.
                    tags: [broad]
                    operations: [read-secret, read-attributes]
                    subject: {user: a}
                    resource: {class: attributed, access-group: "*"}

                """)
        #expect(try find(["user": "zoe"], as: Self.chat).map(\.reference) == [reference])
    }

    @Test func `the machine's keychain does not exist, and nothing but pairs is asked for`() throws
    {
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            try find(["user": "zoe"], in: "system")
        }
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            try find(["user": "zoe"], in: "work")
        }
        for attributes: Attributes in [[.label: .string("x")], [.pair("a"): .number(1)]] {
            #expect(throws: RequestError.invalid(.badRequest)) {
                try world.ask(FindAttributed(keychain: nil, pairs: attributes))
            }
        }
    }

    @Test func `a client that became another program meanwhile gets nothing`() throws {
        try add(["user": "zoe"])
        let program = Program("/usr/bin/git", process: 10)
        program.isSame.end()
        #expect(throws: RequestError.refused(.notEntitled)) {
            try find(["user": "zoe"], as: program)
        }
    }

    @Test func `a limit on searches counts them`() throws {
        try add(["user": "zoe"])
        try world.use(
            rules: AskingVerb.rule("limit: {rate: 2/1h, by: [user], then: deny}", "read-attributes")
        )
        for _ in 0..<2 { _ = try find(["user": "zoe"]) }
        #expect(throws: RequestError.self) { try find(["user": "zoe"]) }
    }

    // MARK: The same item

    @Test func `an item takes the place of the same one, and keeps who may have it`() throws {
        let old = try add(["user": "zoe"], "old") { $0.attributes[.label] = .string("label") }
        let before = try read(old)
        let new = try add(["user": "zoe", "xdg:schema": "s"], "new", replacing: true) {
            $0.trusted = nil
            $0.attributes[.contentType] = .string("text/plain")
        }
        #expect(new == old)
        #expect(try find(["user": "zoe"]).count == 1)
        let after = try read(new)
        #expect(text(after) == "new")
        #expect(after.trusted == TrustList())
        #expect(after.attributes[.creationDate] == before.attributes[.creationDate])
        #expect(after.attributes[.schema] == .string("s"))
        #expect(after.attributes[.contentType] == .string("text/plain"))
        #expect(world.person.questions.isEmpty)
    }

    @Test func `the answer tells an item that took another one's place from a new one`() throws {
        var item = NewItem(.attributed)
        item.attributes = Self.pairs(["user": "zoe"])
        item.trusted = []
        item.whenSame = .replace
        func add() throws -> Attributes {
            let verb = Add(item, secret: nil, returning: [.attributes, .persistentReference])
            return try world.ask(verb).attributes
        }
        let (new, replaced) = (try add(), try add())
        #expect(new[.creationDate] == new[.modificationDate])
        #expect(replaced[.creationDate] == new[.creationDate])
        #expect(replaced[.creationDate] != replaced[.modificationDate])
    }

    @Test func `an item of another program's, or with other pairs, is never replaced`() throws {
        let others = try add(["user": "zoe"], as: Self.chat)
        let longer = try add(["user": "zoe", "server": "mail"])
        let own = try add(["user": "zoe"], "new", replacing: true)
        #expect(own != others && own != longer)
        #expect(try text(read(others, as: Self.chat)) == "s3cret")
        #expect(try text(read(longer)) == "s3cret")
        #expect(try add([:], "", replacing: true) != own)
        #expect(try find([:]).count == 3)
    }

    @Test func `replacing an item takes what changing it takes`() throws {
        let old = try add(["user": "zoe"], "old") { $0.accessControl = .guarded }
        world.person.leaves()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try add(["user": "zoe"], "new", replacing: true)
        }
        try world.use(rules: AskingVerb.rule("forbid: No.", "update"))
        #expect(throws: RequestError.self) { try add(["user": "zoe"], "new", replacing: true) }
        #expect(try find(["user": "zoe"]).map(\.reference) == [old])
    }

    @Test func `a new item may be refused where there is one that is the same`() throws {
        let pairs = ["app_id": "org.example.One", "xdg:schema": "s"]
        let first = try add(pairs, "one") { $0.whenSame = .refuse }
        #expect(throws: RequestError.state(.duplicate)) {
            try add(pairs, "two") { $0.whenSame = .refuse }
        }
        #expect(text(try read(first)) == "one")
        // Another program's, and one with other pairs, are no such items.
        try add(pairs, "two", as: Self.chat) { $0.whenSame = .refuse }
        try add(["app_id": "org.example.Two"], "two") { $0.whenSame = .refuse }
        #expect(try find([:]).count == 2)
    }

    @Test func `an item that is too large is refused before anything else`() throws {
        let large = String(repeating: "x", count: 4097)
        #expect(throws: RequestError.invalid(.dataTooLarge)) { try add(["a": large]) }
        #expect(throws: RequestError.invalid(.badRequest)) {
            try add(["a": "1"]) { $0.isSynchronizable = true }
        }
        #expect(throws: RequestError.invalid(.badRequest)) {
            try world.add("mail") { $0.whenSame = .replace }
        }
        try add(["a": "1"])
        var query = ItemQuery(.attributed)
        query.limit = nil
        var change = ItemChange()
        change.attributes = [.label: .string(large)]
        #expect(throws: RequestError.invalid(.dataTooLarge)) {
            try world.ask(Update(query, change, secret: nil))
        }
    }

    @Test func `a rule sees the schema that an item is given`() throws {
        let reference = try add(["user": "zoe", "xdg:schema": "org.example.Mail"])
        try world.use(
            rules: AskingVerb.rule("forbid: No.", "update")
                + "    resource: {class: attributed, schema: org.example.Chat}\n")
        var query = ItemQuery(.attributed)
        query.references = [reference]
        var change = ItemChange()
        change.replacesPairs = true
        change.attributes = Self.pairs(["xdg:schema": "org.example.Chat"])
        #expect(throws: RequestError.refused(.forbidden)) {
            try world.ask(Update(query, change, secret: nil))
        }
        change.attributes = Self.pairs(["user": "anna", "xdg:schema": "org.example.Mail"])
        #expect(try world.ask(Update(query, change, secret: nil)) == 1)
        // Nor is the schema that a rule wants taken away.
        try world.use(
            rules: AskingVerb.rule("forbid: No.", "update")
                + "    unless:\n      - resource: {schema: org.example.Mail}\n")
        change.attributes = Self.pairs(["user": "anna"])
        #expect(throws: RequestError.refused(.forbidden)) {
            try world.ask(Update(query, change, secret: nil))
        }
    }

    // MARK: Keychains

    @Test func `a label is said and told, while the keychain is open`() throws {
        var change = KeychainSettingsChange()
        change.label = "Zoë's"
        try world.ask(ChangeSettings(keychain: nil, change))
        let label = { () throws -> String? in
            try world.ask(Status()).keychains.first { $0.name == "login" }?.label
        }
        #expect(try label() == "Zoë's")
        #expect(world.person.questions.isEmpty)
        change.label = String(repeating: "x", count: KeychainSettingsChange.longestLabel + 1)
        #expect(throws: RequestError.invalid(.dataTooLarge)) {
            try world.ask(ChangeSettings(keychain: nil, change))
        }
        try world.vault.lock(world.keychain)
        change.label = "other"
        #expect(throws: RequestError.state(.locked)) {
            try world.ask(ChangeSettings(keychain: nil, change))
        }
        #expect(try label() == "Zoë's")
    }

    @Test func `an alias is kept until it is taken back`() throws {
        try world.ask(Preferences(.alias("work", keychain: "login")))
        #expect(try world.ask(Preferences(nil)).aliases == ["work": .login])
        try world.ask(Preferences(.alias("work", keychain: nil)))
        #expect(try world.ask(Preferences(nil)).aliases.isEmpty)
        for (alias, keychain) in [("default", "login"), ("a b", "login")] {
            #expect(throws: RequestError.invalid(.badRequest)) {
                try world.ask(Preferences(.alias(alias, keychain: keychain)))
            }
        }
        #expect(throws: RequestError.state(.noSuchKeychain)) {
            try world.ask(Preferences(.alias("work", keychain: "none")))
        }
        for number in 0..<KeychainPreferences.mostAliases {
            try world.ask(Preferences(.alias("a\(number)", keychain: "login")))
        }
        #expect(throws: RequestError.invalid(.dataTooLarge)) {
            try world.ask(Preferences(.alias("more", keychain: "login")))
        }
    }
}
