// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainMaintenance
import KeychainMessages
import KeychainModel
import KeychainUserPresence
import KeychainVaults
import Testing

/// Former secrets of other programs' items, read by a tool that policies let reach them.
@Suite struct FormerSecretsTests {
    private let world: ServiceInMemory
    private let browser = Program("/usr/bin/browser", process: 30).relayed
    private let item: ItemReference

    init() throws {
        world = try ServiceInMemory()
        item = try Self.add("first", world, browser)
        _ = try Self.add("second", world, browser)
    }

    /// In the place of the item that is the same.
    private static func add(
        _ text: String, _ world: ServiceInMemory, _ program: Program
    ) throws -> ItemReference {
        var item = NewItem(.attributed)
        item.attributes = [
            .pair("application"): .string("browser"), .label: .string("Safe Storage"),
        ]
        item.trusted = []
        item.whenSame = .replace
        let verb = Add(item, secret: ServiceInMemory.secret(text), returning: .reference)
        return try world.ask(verb, program).reference
    }

    private func share(_ more: String = "") throws {
        try world.use(
            rules: """
                  - id: test.tool
                    share: The tool sees all.
                    tags: [broad]
                    operations: [read-secret, read-attributes, list, update]
                    subject: {exe: /usr/bin/keychainctl, trusted-exe: true}
                    resource: {access-group: "*"}
                \(more)
                """)
    }

    private func list(as program: Program = .tool) throws(RequestError) -> [FormerSecret] {
        try world.ask(ReadFormerSecrets(keychain: nil), program)
    }

    private func text(
        _ former: FormerSecret, as program: Program = .tool
    ) throws(RequestError) -> String? {
        let verb = ReadFormerSecrets(
            keychain: nil, former.item, generation: UInt64(clamping: former.generation))
        return try world.ask(verb, program).first?.secret?.text
    }

    @Test func `a replaced secret is listed and shown to a user who is present`() throws {
        try share()
        let found = try list()
        #expect(found.map(\.label) == ["Safe Storage"] && found.first?.secret == nil)
        #expect(found.first?.program == "exe:/usr/bin/browser")
        #expect(world.person.questions.count == 1)
        #expect(world.person.questions.first?.hasPrefix("keychain-presence") == true)
        #expect(try text(try #require(found.first)) == "first")
    }

    @Test func `old ones go by themselves, and younger ones stay`() throws {
        let now = WallClock.secondsSince2001
        func look(afterDays days: Double) {
            GenerationKeeper(world.folder, log: { _ in }).keepWhatIsDue(now: now + days * 86_400)
        }
        try share()
        look(afterDays: 29)
        #expect(try list().count == 1)
        look(afterDays: 32)
        #expect(try list().isEmpty)
        // A file that can't be read is left alone, and the next is looked at.
        #expect(throws: RequestError.self) {
            try world.folder.removeOldFormerSecrets(
                of: KeychainID(user: geteuid(), name: .system), now: now)
        }
    }

    @Test func `with no user to ask none is shown`() throws {
        try share()
        let former = try #require(try list().first)
        world.person.leaves()
        let other = Program("/usr/bin/keychainctl", process: 99, session: 8)
        #expect(throws: RequestError.refused(.interactionNotAllowed)) { try list(as: other) }
        #expect(throws: RequestError.refused(.interactionNotAllowed)) {
            try text(former, as: other)
        }
    }

    @Test func `rules about reading the item hold for what it had`() throws {
        try share()
        let former = try #require(try list().first)
        try share(
            """
              - id: test.never
                forbid: Not that.
                operations: read-secret
                resource: {class: attributed}
            """)
        // Another program's item that may not be read is not there.
        #expect(throws: RequestError.state(.notFound)) { try text(former) }
    }

    @Test func `a program that may not know of the item hears of none`() throws {
        #expect(throws: RequestError.state(.notFound)) { try list() }
        #expect(world.person.questions == [])
    }

    @Test func `no program on a bus may ask`() throws {
        #expect(throws: RequestError.refused(.notEntitled)) { try list(as: browser) }
    }

    @Test func `the present secret becomes a former one when another is restored`() throws {
        try share()
        var query = ItemQuery(.attributed)
        query.references = [item]
        let verb = Update(query, ItemChange(), secret: ServiceInMemory.secret("first"))
        #expect(try world.ask(verb, .tool) == 1)
        let found = try list()
        #expect(try found.map { try text($0) } == ["second", "first"])
        #expect(found.first?.program == "exe:/usr/bin/keychainctl")
    }
}
