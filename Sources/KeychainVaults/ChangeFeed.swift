// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainMessages
package import KeychainItemStore
package import KeychainModel
internal import KeychainSecrets

/// The latest changes of each user's keychains, for the deputies of that user.
///
/// Nothing is kept for a user whose keychains no deputy watches, or whose only deputy made the
/// change itself. A deputy watches from its first question until `forget`.
package final class ChangeFeed: Sendable {
    /// The most changes kept for one user. The oldest are dropped, and a deputy that has not heard
    /// of them is told that its list is incomplete.
    static let most = 1024

    private struct Line {
        /// The position of the first change kept; earlier changes are lost.
        var first = UInt64.random(in: 0..<UInt64.max / 2)
        var changes: [(change: KeychainChange, deputy: Int32?)] = []
        /// The deputies' processes.
        var watchers: Set<Int32> = []
        var waiting: [Wake] = []

        var end: UInt64 { first + UInt64(clamping: changes.count) }
    }
    private let lines = ShortLock<[UInt32: Line]>([:])

    package init() {}

    /// Whether some deputy other than `deputy` would be told of a change; nil for a change by no
    /// deputy.
    package func isWatched(_ user: UInt32, besides deputy: Int32?) -> Bool {
        lines.withLock { $0[user]?.watchers.contains { $0 != deputy } ?? false }
    }

    /// `deputy` is the process that relayed the change; nil for a program that connected itself.
    package func note(_ changes: [KeychainChange], of user: UInt32, by deputy: Int32? = nil) {
        let woken = lines.withLock { lines -> [Wake] in
            guard var line = lines[user] else { return [] }
            line.changes += changes.map { ($0, deputy) }
            let surplus = max(0, line.changes.count - Self.most)
            line.changes.removeFirst(surplus)
            line.first += UInt64(clamping: surplus)
            let woken = line.waiting
            line.waiting = []
            lines[user] = line
            return woken
        }
        for waiting in woken { waiting.wake() }
    }

    /// Ends the deputy's watch, once its last connection is closed: the deputy has ended, or its
    /// user has logged out.
    package func forget(_ deputy: Int32, of user: UInt32) {
        lines.withLock { lines in
            lines[user]?.watchers.remove(deputy)
            if lines[user]?.watchers.isEmpty == true { lines[user] = nil }
        }
    }

    /// The changes since the position that others than the deputy made. Where there are none,
    /// `waits` waits for a change; it returns false when the time is over.
    package func changes(
        of user: UInt32, after position: UInt64?, for deputy: Int32, waits: (Wake) -> Bool
    ) throws(RequestError) -> KeychainChanges {
        var position = position
        while true {
            let wake: Wake
            do { wake = try Wake() } catch { throw .refused(.tooManyRequests) }
            let found = look(user, position, deputy, wake)
            if found.hasNews { return found.answer }
            // The position moves past the deputy's own changes for good.
            position = found.answer.position
            guard waits(wake) else {
                lines.withLock { $0[user]?.waiting.removeAll { $0 === wake } }
                return found.answer
            }
        }
    }

    /// Where there is no change to report, `wake` is registered and woken by a later one.
    private func look(
        _ user: UInt32, _ position: UInt64?, _ deputy: Int32, _ wake: Wake
    ) -> (answer: KeychainChanges, hasNews: Bool) {
        lines.withLock { lines in
            var line = lines[user] ?? Line()
            defer { lines[user] = line }
            line.watchers.insert(deputy)
            let end = line.end
            guard let position else {
                return (KeychainChanges(position: end, isComplete: true, changes: []), true)
            }
            guard (line.first...end).contains(position) else {
                return (KeychainChanges(position: end, isComplete: false, changes: []), true)
            }
            // Safe: `position` lies between `first` and `end`.
            let news = line.changes.dropFirst(Int(position - line.first))
                .filter { $0.deputy != deputy }.map(\.change)
            if news.isEmpty { line.waiting.append(wake) }
            return (
                KeychainChanges(position: end, isComplete: true, changes: news), !news.isEmpty
            )
        }
    }
}

/// Collects the items whose change is granted, until the change is written.
package struct ChangedItems {
    /// The most items of one change that are reported one by one; a larger change is reported as
    /// `.replaced`.
    private static let most = 256

    private let keychain: KeychainID
    private let event: KeychainChange.ItemEvent
    private let feed: ChangeFeed
    private let deputy: Int32?
    /// In groups of the program that changes them, whose other connections the deputy itself tells.
    private var own: [KeychainChange] = []
    /// In groups of others, of which the deputy does not know.
    private var others: [KeychainChange] = []

    package init(
        keychain: KeychainID, event: KeychainChange.ItemEvent, feed: ChangeFeed, by deputy: Int32?
    ) {
        self.keychain = keychain
        self.event = event
        self.feed = feed
        self.deputy = deputy
    }

    package mutating func append(_ item: SealedItem, isOfOthers: Bool) {
        guard item.reference.itemClass == .attributed, own.count + others.count <= Self.most else {
            return
        }
        let change = KeychainChange(
            keychain: keychain.name.description,
            .item(item.reference, of: item.accessGroup, event))
        if isOfOthers { others.append(change) } else { own.append(change) }
    }

    package func tell() {
        guard own.count + others.count <= Self.most else {
            let all = KeychainChange(keychain: keychain.name.description, .replaced)
            return feed.note([all], of: keychain.user, by: others.isEmpty ? deputy : nil)
        }
        if !own.isEmpty, feed.isWatched(keychain.user, besides: deputy) {
            feed.note(own, of: keychain.user, by: deputy)
        }
        if !others.isEmpty { feed.note(others, of: keychain.user) }
    }
}
