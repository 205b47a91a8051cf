// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainMessages
import KeychainModel
import KeychainRequestAudit
import KeychainRequestService
import KeychainUserPresence
import KeychainVaults
import Testing

/// Programs that their user lets into all that another program keeps, and how that ends.
@Suite struct JoiningTests {
    private let world: ServiceInMemory
    private let new = Program("/usr/bin/browser", process: 30).relayed
    private let old = Program("/opt/browser", process: 31).relayed
    private let other = Program("/usr/bin/other", process: 41).relayed
    private static let group = "exe:/opt/browser"

    init() throws { world = try ServiceInMemory() }

    private func pairs(_ pairs: [String: String]) -> Attributes {
        Attributes(pairs.map { (AttributeName.pair($0.key), .string($0.value)) })
    }

    @discardableResult
    private func add(
        _ named: [String: String], as program: Program, _ secret: String = "key",
        whenSame: WhenSame = .add
    ) throws -> ItemReference {
        var item = NewItem(.attributed)
        item.attributes = pairs(named)
        item.attributes[.label] = .string("Key of \(named["n"] ?? "it")")
        item.trusted = []
        item.whenSame = whenSame
        let verb = Add(item, secret: ServiceInMemory.secret(secret), returning: .reference)
        return try world.ask(verb, program).reference
    }

    private func found(
        _ named: [String: String], as program: Program
    ) throws -> [AttributedMatch] {
        try world.ask(FindAttributed(keychain: nil, pairs: pairs(named)), program)
    }

    private func items(_ named: [String: String], as program: Program) throws -> Set<ItemReference?>
    {
        Set(try found(named, as: program).map(\.reference))
    }

    private func read(_ item: ItemReference, as program: Program) throws(RequestError) -> String? {
        var query = ItemQuery(.attributed)
        query.references = [item]
        query.returnFields = .data
        return try world.ask(CopyMatching(query), program).first?.secret?.text
    }

    private func changes(_ item: ItemReference) -> [(Program) throws -> Int] {
        var query = ItemQuery(.attributed)
        query.references = [item]
        var change = ItemChange()
        change.attributes = [.label: .string("mine")]
        return [
            { [world] in try world.ask(Update(query, change, secret: nil), $0) },
            { [world] in try world.ask(Delete(query), $0) },
        ]
    }

    private let app = ["application": "browser", "xdg:schema": "a.b"]

    /// Several items of the old program's, of which the user was asked about the first.
    private func joined() throws -> [ItemReference] {
        let all = try (1...3).map { try add(app.merging(["n": "\($0)"]) { $1 }, as: old) }
        let stranger = try add(["application": "other"], as: other)
        world.person.chooses(.everything)
        #expect(try read(all[0], as: new) == "key")
        world.person.forgets()
        world.person.leaves()
        #expect(try found(["application": "other"], as: new).map(\.reference) == [])
        #expect(throws: RequestError.state(.notFound)) { try read(stranger, as: new) }
        return all
    }

    // MARK: What it has

    @Test func `a program that joined finds, reads, changes and deletes all of the group's items`()
        throws
    {
        let all = try joined()
        for named in [["application": "browser"], ["xdg:schema": "a.b"], [:]] {
            #expect(try items(named, as: new) == Set(all))
            #expect(try found(named, as: new).allSatisfy { !$0.isLocked })
        }
        for item in all { #expect(try read(item, as: new) == "key") }
        for change in changes(all[1]) { #expect(try change(new) == 1) }
        #expect(try items([:], as: old) == [all[0], all[2]])
        // Also of items that come later.
        let later = try add(["application": "later"], as: old)
        #expect(try read(later, as: new) == "key")
        #expect(world.person.questions == [])
    }

    @Test func `to other programs they are strangers' as ever`() throws {
        let all = try joined()
        #expect(try found(["application": "browser"], as: other) == [])
        #expect(throws: RequestError.state(.notFound)) { try read(all[0], as: other) }
        // Nor has the program of that name them that connects itself.
        let direct = Program("/usr/bin/browser", process: 32)
        #expect(try found(["application": "browser"], as: direct) == [])
        #expect(throws: RequestError.state(.notFound)) { try read(all[0], as: direct) }
    }

    @Test func `what it makes lies in its own group, and what it replaces stays where it was`()
        throws
    {
        let all = try joined()
        let own = try add(["application": "new"], as: new)
        #expect(try items([:], as: old) == Set(all))
        #expect(try items([:], as: new) == Set(all + [own]))
        let named = app.merging(["n": "2"]) { $1 }
        #expect(try add(named, as: new, "minted", whenSame: .replace) == all[1])
        #expect(try read(all[1], as: old) == "minted")
        #expect(try items([:], as: new).count == 4)
    }

    @Test func `while the keychain is locked they are found as own ones are`() throws {
        let all = try joined()
        try world.vault.lock(world.keychain)
        for named in [["application": "browser"], ["xdg:schema": "a.b"], [:]] {
            #expect(try items(named, as: new) == Set(all))
            #expect(try found(named, as: new).allSatisfy { $0.isLocked })
        }
        #expect(throws: RequestError.state(.locked)) { try read(all[1], as: new) }
        #expect(try found(["application": "browser"], as: other) == [])
    }

    @Test func `what the other program joined is not joined with it`() throws {
        let first = try add(["application": "oldest"], as: other)
        world.person.chooses(.everything)
        _ = try read(first, as: old)
        let second = try add(app, as: old)
        _ = try read(second, as: new)
        #expect(try items([:], as: old) == [first, second])
        #expect(try items([:], as: new) == [second])
    }

    @Test func `what it changes of the group's is told to its own deputy, with the group`() throws {
        let all = try joined()
        let feed = world.service.changes
        let begun = try feed.changes(of: geteuid(), after: nil, for: 1) { _ in false }
        var brought = new
        brought.deputy = 1
        let own = try add(["application": "new"], as: brought)
        for change in changes(all[1]) + changes(own) { #expect(try change(brought) == 1) }
        let told = try feed.changes(of: geteuid(), after: begun.position, for: 1) { _ in false }
        #expect(
            told.changes.map(\.event) == [
                .item(all[1], of: Self.group, .changed), .item(all[1], of: Self.group, .deleted),
            ])
    }

    @Test func `in another keychain it has nothing`() throws {
        try world.ask(CreateKeychain(name: "work", password: ServiceInMemory.secret("w0rk")), .tool)
        var item = NewItem(.attributed)
        item.keychain = "work"
        item.attributes = pairs(["application": "work"])
        item.trusted = []
        let there = try world.ask(Add(item, secret: nil, returning: .reference), old).reference
        let all = try joined()
        #expect(try items([:], as: new) == Set(all))
        #expect(throws: RequestError.state(.notFound)) { try read(there, as: new) }
    }

    @Test func `a name that is guarded less than it was has nothing`() throws {
        let all = try joined()
        var weaker = Program("/usr/bin/browser", process: 33)
        weaker.caller = Caller(
            user: geteuid(), process: 33, identity: .executable("/usr/bin/browser"),
            session: weaker.caller.session, terminal: nil,
            accessGroups: ["exe:/usr/bin/browser"], via: .secretService)
        #expect(try found([:], as: weaker) == [])
        #expect(throws: RequestError.state(.notFound)) { try read(all[0], as: weaker) }
    }

    // MARK: The question

    @Test func `the question says what everything comes to`() throws {
        let item = try add(app, as: old)
        world.person.chooses(.everything)
        _ = try read(item, as: new)
        let question = try #require(world.person.questions.first)
        #expect(
            question.contains("have all that “/opt/browser” keeps here, now and later, to read,"))
        #expect(world.person.questions.count == 1)
    }

    @Test func `it is recorded in the audit`() throws {
        _ = try joined()
        world.audit.flush()
        let text = try String(contentsOfFile: world.home + "/audit.jsonl", encoding: .utf8)
        #expect(text.contains("\"everything\""))
    }

    private func isNotOffered(_ item: ItemReference, to program: Program) {
        world.person.forgets()
        world.person.chooses(.everything)
        #expect(throws: RequestError.refused(.cancelled)) { try read(item, as: program) }
        #expect(world.person.questions.count == 1)
        #expect(world.person.questions.first?.contains("have all that") == false)
    }

    @Test func `it is not offered to an interpreter, whose name is that of all scripts`() throws {
        let item = try add(app, as: old)
        isNotOffered(item, to: Program("/usr/bin/python3.11", process: 50).relayed)
    }

    @Test func `it is not offered for items whose programs are not known`() throws {
        var unknown = Program("/gone", process: 51)
        unknown.caller = Caller(
            user: geteuid(), process: 51, identity: .unknown, session: unknown.caller.session,
            terminal: nil, accessGroups: ["bus:unidentified"], via: .secretService)
        isNotOffered(try add(app, as: unknown), to: new)
    }

    @Test func `it is not offered where a rule keeps lists as they are`() throws {
        let item = try add(app, as: old)
        try world.use(rules: AskingVerb.rule("forbid: No.", "change-acl"))
        isNotOffered(item, to: new)
    }

    @Test func `it takes what changing a list takes`() throws {
        let item = try add(app, as: old)
        try world.use(rules: AskingVerb.rule("require: passcode", "change-acl"))
        world.person.chooses(.everything)
        #expect(try read(item, as: new) == "key")
        #expect(try items([:], as: new) == [item])
    }

    @Test func `an item that was asked about by a program that connects itself is not given so`()
        throws
    {
        let item = try add(app, as: old)
        isNotOffered(item, to: Program("/usr/bin/browser", process: 32))
    }

    // MARK: Its end

    @Test func `a rule about strangers ends it as it ends letting in`() throws {
        let all = try joined()
        try world.use(
            rules: AskingVerb.rule("forbid: No.", "[read-secret, read-attributes, update, delete]")
                + "    subject: {member: false}\n")
        #expect(try found([:], as: new) == [])
        #expect(throws: RequestError.refused(.forbidden)) { try read(all[0], as: new) }
        for change in changes(all[0]) {
            #expect(throws: RequestError.refused(.forbidden)) { try change(new) }
        }
        #expect(try items([:], as: old) == Set(all))
    }

    private func share() throws {
        try world.use(
            rules: """
                  - id: test.tool
                    share: The tool sees all.
                    tags: [broad]
                    operations: [read-secret, read-attributes, list, update]
                    subject: {exe: /usr/bin/keychainctl, trusted-exe: true}
                    resource: {access-group: "*"}

                """)
    }

    private func letIn(_ program: Program) throws -> [LetIn] {
        try world.ask(ListLetIn(keychain: nil), program)
    }

    private func leave(_ program: Program) throws {
        try world.ask(
            LeaveGroup(keychain: nil, "exe:/usr/bin/browser", from: Self.group), program)
    }

    private func returns() { world.person.comesBack() }

    @Test func `what is taken back is gone at once`() throws {
        let all = try joined()
        try share()
        returns()
        try leave(.tool)
        let question = try #require(world.person.questions.first)
        #expect(question.hasPrefix("keychain-presence"))
        #expect(question.contains("no longer let in: “/usr/bin/browser”"))
        #expect(question.contains("all of /opt/browser"))
        world.person.leaves()
        #expect(try found([:], as: new) == [])
        #expect(throws: RequestError.state(.notFound)) { try read(all[0], as: new) }
        returns()
        #expect(throws: RequestError.state(.notFound)) { try leave(.tool) }
    }

    @Test func `no program takes back or lists it without its user, and none that may not know`()
        throws
    {
        let all = try joined()
        try share()
        #expect(throws: RequestError.refused(.interactionNotAllowed)) { try leave(.tool) }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) { _ = try letIn(.tool) }
        returns()
        #expect(throws: RequestError.state(.notFound)) { try leave(.git) }
        #expect(try letIn(.git) == [])
        for program in [new, old] {
            #expect(throws: RequestError.refused(.notEntitled)) { try leave(program) }
            #expect(throws: RequestError.refused(.notEntitled)) { _ = try letIn(program) }
        }
        #expect(try read(all[1], as: new) == "key")
    }

    @Test func `a list has what programs joined and what items let in, and since when`() throws {
        let all = try joined()
        returns()
        world.person.chooses(.always)
        let item = try add(["application": "mail"], as: other)
        _ = try read(item, as: new)
        world.person.forgets()
        try share()
        let found = try letIn(.tool)
        #expect(found.map(\.group) == [Self.group, "exe:/usr/bin/other"])
        #expect(found.map(\.item) == [nil, item])
        #expect(found.map(\.label) == ["", "Key of it"])
        #expect(found.allSatisfy { $0.program.identity == "exe:/usr/bin/browser" })
        let now = Date().timeIntervalSinceReferenceDate
        #expect(found.allSatisfy { (now - 600...now).contains($0.program.listedAt) })
        #expect(world.person.questions.count == 1)
        #expect(
            world.person.questions.first?.contains(
                "see which programs you let into items of your keychain “login”") == true)
        // The user said yes to the one item, and takes that back as for any list.
        var query = ItemQuery(.attributed)
        query.references = [item]
        var change = ItemChange()
        change.trust = .remove(["exe:/usr/bin/browser"])
        #expect(try world.ask(Update(query, change, secret: nil), .tool) == 1)
        #expect(try letIn(.tool).map(\.item) == [nil])
        #expect(try read(all[1], as: new) == "key")
    }

    @Test func `a long list comes in parts`() throws {
        let item = try add(app, as: old)
        world.person.chooses(.everything)
        for number in 0..<70 {
            let one = Program("/usr/bin/other\(number)", process: 60)
            _ = try add(["n": "\(number)"], as: one.relayed)
        }
        for number in 0..<30 {
            _ = try read(item, as: Program("/usr/bin/new\(number)", process: 61).relayed)
        }
        world.person.chooses(.always)
        for match in try (0..<40).flatMap({ try found(["n": "\($0)"], as: new) }) {
            _ = try read(try #require(match.reference), as: new)
        }
        try share()
        #expect(try letIn(.tool).count == 70)
    }

    @Test func `a rule keeps what it keeps from the list too`() throws {
        _ = try joined()
        returns()
        try share()
        #expect(try letIn(.tool).count == 1)
        try world.use(
            rules: """
                  - id: test.tool
                    share: The tool sees some.
                    tags: [broad]
                    operations: [read-secret, read-attributes, list, update]
                    subject: {exe: /usr/bin/keychainctl, trusted-exe: true}
                    resource: {access-group: "exe:/usr/bin/*"}

                """)
        #expect(try letIn(.tool) == [])
        #expect(throws: RequestError.state(.notFound)) { try leave(.tool) }
    }

    @Test func `names that no program and no group has are refused`() throws {
        for (program, group) in [
            ("", Self.group), ("exe:/a", ""), ("exe:/a", "imported"),
            (String(repeating: "a", count: 5000), Self.group),
        ] {
            #expect(throws: RequestError.invalid(.badRequest)) {
                try world.ask(LeaveGroup(keychain: nil, program, from: group), .tool)
            }
        }
    }

    @Test func `the machine's keychain has none`() throws {
        #expect(throws: RequestError.refused(.notEntitled)) {
            try world.ask(ListLetIn(keychain: "system"), .tool)
        }
    }
}
