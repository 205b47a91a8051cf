// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainMessages
package import KeychainItemStore
package import KeychainModel
internal import KeychainSecrets

/// The latest changes of each user's keychains, for the deputies of that user.
///
/// Nothing is kept of a user whose keychains no deputy watches, or which its only deputy has changed
/// itself: it knows of those. A deputy watches from its first question until `forget`.
package final class ChangeFeed: Sendable {
    /// Of one user; the oldest give way, and a deputy that has not heard of them is told so.
    static let most = 1024

    private struct Line {
        /// The position of the first change; what was before it is not known any more.
        var first = UInt64.random(in: 0..<UInt64.max / 2)
        var changes: [(change: KeychainChange, deputy: Int32?)] = []
        /// The deputies' processes.
        var watchers: Set<Int32> = []
        var waiting: [Wake] = []

        var end: UInt64 { first + UInt64(clamping: changes.count) }
    }
    private let lines = ShortLock<[UInt32: Line]>([:])

    package init() {}

    /// Whether a deputy would be told of what another one, or none, has changed.
    package func isWatched(_ user: UInt32, besides deputy: Int32?) -> Bool {
        lines.withLock { $0[user]?.watchers.contains { $0 != deputy } ?? false }
    }

    /// `deputy` is the process in whose name it was changed; nil for a program that asked itself.
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

    /// The deputy's last connection is over: it has ended, or its user has logged out.
    package func forget(_ deputy: Int32, of user: UInt32) {
        lines.withLock { lines in
            lines[user]?.watchers.remove(deputy)
            if lines[user]?.watchers.isEmpty == true { lines[user] = nil }
        }
    }

    /// What others than the deputy have changed since the position; where that is nothing, `waits` for
    /// a change, and returns false where it has waited long enough.
    package func changes(
        of user: UInt32, after position: UInt64?, for deputy: Int32, waits: (Wake) -> Bool
    ) throws(RequestError) -> KeychainChanges {
        var position = position
        while true {
            let wake: Wake
            do { wake = try Wake() } catch { throw .refused(.tooManyRequests) }
            let found = look(user, position, deputy, wake)
            if found.hasNews { return found.answer }
            // What the deputy has changed itself is passed over for good.
            position = found.answer.position
            guard waits(wake) else {
                lines.withLock { $0[user]?.waiting.removeAll { $0 === wake } }
                return found.answer
            }
        }
    }

    /// Where there is nothing to tell, `wake` is woken once there may be.
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
            // Safe: it lies between both.
            let news = line.changes.dropFirst(Int(position - line.first))
                .filter { $0.deputy != deputy }.map(\.change)
            if news.isEmpty { line.waiting.append(wake) }
            return (
                KeychainChanges(position: end, isComplete: true, changes: news), !news.isEmpty
            )
        }
    }
}

/// Collects what is granted to be written, until it is.
package struct ChangedItems {
    /// Of one change more are not told one by one.
    private static let most = 256

    private let keychain: KeychainID
    private let event: KeychainChange.ItemEvent
    private let feed: ChangeFeed
    private let deputy: Int32?
    private var found: [KeychainChange] = []

    package init(
        keychain: KeychainID, event: KeychainChange.ItemEvent, feed: ChangeFeed, by deputy: Int32?
    ) {
        self.keychain = keychain
        self.event = event
        self.feed = feed
        self.deputy = deputy
    }

    package mutating func append(_ item: SealedItem) {
        guard item.reference.itemClass == .attributed, found.count <= Self.most else { return }
        found.append(
            KeychainChange(
                keychain: keychain.name.description,
                .item(item.reference, of: item.accessGroup, event)))
    }

    package func tell() {
        let isTooMany = found.count > Self.most
        let all = KeychainChange(keychain: keychain.name.description, .replaced)
        feed.note(isTooMany ? [all] : found, of: keychain.user, by: deputy)
    }
}
