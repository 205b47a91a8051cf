// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainMessages
import KeychainLinuxSystem
import KeychainLocalSocket
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
        after position: UInt64?, for deputy: Int32 = 7, of user: UInt32 = 1000
    ) throws -> KeychainChanges {
        try feed.changes(of: user, after: position, for: deputy) { _ in false }
    }

    @Test func `what comes after the position is told once, in its order`() throws {
        let begun = try changes(after: nil)
        #expect(begun.isComplete && begun.changes.isEmpty)
        feed.note([made], of: 1000)
        feed.note([locked], of: 1000)
        let heard = try changes(after: begun.position)
        #expect(heard.isComplete && heard.changes == [made, locked])
        let rest = try changes(after: heard.position)
        #expect(rest.isComplete && rest.changes.isEmpty)
    }

    @Test func `another user's changes are not told`() throws {
        let begun = try changes(after: nil)
        _ = try changes(after: nil, of: 1001)
        feed.note([made], of: 1001)
        #expect(try changes(after: begun.position).changes.isEmpty)
    }

    @Test func `a deputy is told of others' changes and not of its own`() throws {
        let (mine, others) = (try changes(after: nil), try changes(after: nil, for: 8))
        #expect(feed.isWatched(1000, besides: 7))
        feed.note([made], of: 1000, by: 7)
        #expect(try changes(after: mine.position).changes.isEmpty)
        #expect(try changes(after: others.position, for: 8).changes == [made])
    }

    @Test func `with one deputy its own changes need no telling`() throws {
        _ = try changes(after: nil)
        #expect(!feed.isWatched(1000, besides: 7))
        #expect(feed.isWatched(1000, besides: nil))
        #expect(!feed.isWatched(1001, besides: nil))
    }

    @Test func `a deputy that is late, or asks another daemon, is told that it missed some`() throws
    {
        let begun = try changes(after: nil)
        for _ in 0...ChangeFeed.most { feed.note([made], of: 1000) }
        let heard = try changes(after: begun.position)
        #expect(!heard.isComplete && heard.changes.isEmpty)
        #expect(try changes(after: heard.position).isComplete)
        #expect(try !changes(after: heard.position + 1).isComplete)
    }

    @Test func `a change ends the wait`() throws {
        let begun = try changes(after: nil)
        let heard = try feed.changes(of: 1000, after: begun.position, for: 7) { wake in
            #expect(!wake.isWoken)
            feed.note([made], of: 1000)
            return wake.isWoken
        }
        #expect(heard.changes == [made])
    }

    @Test func `a deputy misses nothing by what it has changed itself`() throws {
        let (mine, _) = (try changes(after: nil), try changes(after: nil, for: 8))
        var waits = 0
        let heard = try feed.changes(of: 1000, after: mine.position, for: 7) { wake in
            waits += 1
            guard waits < 3 else { return false }
            for _ in 0..<ChangeFeed.most { feed.note([made], of: 1000, by: 7) }
            return wake.isWoken
        }
        #expect(heard.isComplete && heard.changes.isEmpty)
        feed.note([locked], of: 1000)
        #expect(try changes(after: heard.position).changes == [locked])
    }

    @Test func `nothing is kept of a user whose last deputy has gone`() throws {
        let begun = try changes(after: nil)
        _ = try changes(after: nil, for: 8)
        feed.forget(7, of: 1000)
        #expect(feed.isWatched(1000, besides: nil) && !feed.isWatched(1000, besides: 8))
        feed.forget(8, of: 1000)
        #expect(!feed.isWatched(1000, besides: nil))
        feed.note([made], of: 1000)
        #expect(try !changes(after: begun.position).isComplete)
    }

    @Test func `a deputy that hangs up, or says something, waits no longer`() throws {
        let pair = try ConnectionPair()
        let wake = try Wake()
        let end = BootTime.now + .seconds(600)
        pair.client.shutDown()
        #expect(!pair.server.waits(for: wake, until: end))
        wake.wake()
        #expect(pair.server.waits(for: wake, until: end))
    }
}

/// Which of what a service does is told.
@Suite struct ToldChangesTests {
    private let world: ServiceInMemory
    private let begun: KeychainChanges
    private var feed: ChangeFeed { world.service.changes }

    init() throws {
        world = try ServiceInMemory()
        begun = try world.service.changes.changes(of: geteuid(), after: nil, for: 1) { _ in false }
    }

    private func told() throws -> [KeychainChange.Event] {
        try feed.changes(of: geteuid(), after: begun.position, for: 1) { _ in false }
            .changes.map(\.event)
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
        #expect(try told() == [.item(added.reference, of: group, .added)])
        var query = ItemQuery(.attributed)
        query.references = [added.reference]
        var change = ItemChange()
        change.attributes[.label] = .string("new")
        _ = try world.ask(Update(query, change, secret: nil), program)
        _ = try world.ask(Delete(query), program)
        #expect(
            try told().suffix(2) == [
                .item(added.reference, of: group, .changed),
                .item(added.reference, of: group, .deleted),
            ])
    }

    @Test func `no item of another class is told`() throws {
        try world.add("mail")
        #expect(try told().isEmpty)
    }

    @Test func `what is refused is not told`() throws {
        try world.use(rules: AskingVerb.rule("forbid: No.", "add"))
        #expect(throws: RequestError.self) {
            try world.ask(
                Add(item("a"), secret: nil, returning: []), Program("/usr/bin/git", process: 10))
        }
        #expect(try told().isEmpty)
    }

    @Test func `locks, unlocks and labels of a keychain are told`() throws {
        var change = KeychainSettingsChange()
        change.label = "Mine"
        try world.ask(ChangeSettings(keychain: nil, change))
        try world.ask(Lock(keychain: nil))
        try world.ask(
            Unlock(keychain: nil, password: ServiceInMemory.secret(ServiceInMemory.password)))
        #expect(try told() == [.labelled("Mine"), .locked(true), .locked(false)])
    }

    @Test func `none but a deputy's connection may watch`() throws {
        #expect(throws: RequestError.refused(.notEntitled)) {
            try world.ask(WatchKeychains(after: nil))
        }
    }
}
