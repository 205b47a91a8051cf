// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainMessages
import KeychainModel
@testable import KeychainVaults
import Synchronization
import Testing

@testable import KeychainRequestService
@testable import KeychainUserPresence

/// What deputies hear of changes.
@Suite struct ChangeFeedTests {
    private let feed = ChangeFeed()
    private let made = KeychainChange(keychain: "work", .created)
    private let locked = KeychainChange(keychain: "work", .locked(true))

    private func changes(
        after position: UInt64?, for deputy: Int32 = 7, of user: UInt32 = 1000,
        within patience: Duration = .zero
    ) -> KeychainChanges {
        feed.changes(of: user, after: position, for: deputy, within: patience)
    }

    @Test func `what comes after the position is told once, in its order`() {
        let begun = changes(after: nil)
        #expect(begun.isComplete && begun.changes.isEmpty)
        feed.note([made], of: 1000)
        feed.note([locked], of: 1000)
        let heard = changes(after: begun.position)
        #expect(heard.isComplete && heard.changes == [made, locked])
        let rest = changes(after: heard.position)
        #expect(rest.isComplete && rest.changes.isEmpty)
    }

    @Test func `another user's changes are not told`() {
        let begun = changes(after: nil)
        _ = changes(after: nil, of: 1001)
        feed.note([made], of: 1001)
        #expect(changes(after: begun.position).changes.isEmpty)
    }

    @Test func `a deputy is told of others' changes and not of its own`() {
        let (mine, others) = (changes(after: nil), changes(after: nil, for: 8))
        #expect(feed.isWatched(1000, besides: 7))
        feed.note([made], of: 1000, by: 7)
        #expect(changes(after: mine.position).changes.isEmpty)
        #expect(changes(after: others.position, for: 8).changes == [made])
    }

    @Test func `with one deputy its own changes need no telling`() {
        _ = changes(after: nil)
        #expect(!feed.isWatched(1000, besides: 7))
        #expect(feed.isWatched(1000, besides: nil))
        #expect(!feed.isWatched(1001, besides: nil))
    }

    @Test func `a deputy that is late, or asks another daemon, is told that it missed some`() {
        let begun = changes(after: nil)
        for _ in 0...ChangeFeed.most { feed.note([made], of: 1000) }
        let heard = changes(after: begun.position)
        #expect(!heard.isComplete && heard.changes.isEmpty)
        #expect(changes(after: heard.position).isComplete)
        #expect(!changes(after: heard.position + 1).isComplete)
    }

    @Test func `a change ends the wait`() async {
        let begun = changes(after: nil)
        let (feed, made) = (feed, made)
        async let heard = Task.detached {
            feed.changes(of: 1000, after: begun.position, for: 7, within: .seconds(60))
        }.value
        feed.note([made], of: 1000)
        #expect(await heard.changes == [made])
    }
}

/// Which of what a service does is told.
@Suite struct ToldChangesTests {
    private let world: ServiceInMemory
    private let begun: KeychainChanges
    private var feed: ChangeFeed { world.service.changes }

    init() throws {
        world = try ServiceInMemory()
        begun = world.service.changes.changes(
            of: geteuid(), after: nil, for: 1, within: .zero)
    }

    private func told() -> [KeychainChange.Event] {
        feed.changes(of: geteuid(), after: begun.position, for: 1, within: .zero).changes
            .map(\.event)
    }

    private func item(_ value: String) -> NewItem {
        var item = NewItem(.attributed)
        item.attributes = [.pair("kind"): .string(value)]
        return item
    }

    @Test func `items of the class attributed are told as they are written, with their group`()
        throws
    {
        let program = Program("/usr/bin/git", process: 10)
        let added = try world.ask(Add(item("a"), secret: nil, returning: .reference), program)
        let group = "exe:/usr/bin/git"
        #expect(told() == [.item(added.reference, of: group, .added)])
        var query = ItemQuery(.attributed)
        query.references = [added.reference]
        var change = ItemChange()
        change.attributes[.label] = .string("new")
        _ = try world.ask(Update(query, change, secret: nil), program)
        _ = try world.ask(Delete(query), program)
        #expect(
            told().suffix(2) == [
                .item(added.reference, of: group, .changed),
                .item(added.reference, of: group, .deleted),
            ])
    }

    @Test func `no item of another class is told`() throws {
        try world.add("mail")
        #expect(told().isEmpty)
    }

    @Test func `what is refused is not told`() throws {
        try world.use(rules: AskingVerb.rule("forbid: No.", "add"))
        #expect(throws: RequestError.self) {
            try world.ask(
                Add(item("a"), secret: nil, returning: []), Program("/usr/bin/git", process: 10))
        }
        #expect(told().isEmpty)
    }

    @Test func `locks, unlocks and labels of a keychain are told`() throws {
        var change = KeychainSettingsChange()
        change.label = "Mine"
        try world.ask(ChangeSettings(keychain: nil, change))
        try world.ask(Lock(keychain: nil))
        try world.ask(
            Unlock(keychain: nil, password: ServiceInMemory.secret(ServiceInMemory.password)))
        #expect(told() == [.labelled("Mine"), .locked(true), .locked(false)])
    }

    @Test func `none but a deputy's connection may watch`() {
        #expect(throws: RequestError.refused(.notEntitled)) {
            try world.ask(WatchKeychains(after: nil))
        }
    }
}
