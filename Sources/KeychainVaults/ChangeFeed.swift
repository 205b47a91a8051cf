// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
package import KeychainMessages
package import KeychainItemStore
internal import KeychainModel
internal import KeychainSecrets

/// The latest changes of each user's keychains, for the deputies of that user.
///
/// Nothing is kept of a user whose keychains no deputy watches, or which its only deputy has changed
/// itself: it knows of those.
package final class ChangeFeed: Sendable {
    /// Of one user; the oldest give way, and a deputy that has not heard of them is told so.
    static let most = 1024
    /// A deputy that asked longer ago does not watch any more.
    private static let patience: Duration = .seconds(120)

    private struct Line {
        /// The position of the first change; what was before it is not known any more.
        var first = UInt64.random(in: 0..<UInt64.max / 2)
        var changes: [(change: KeychainChange, deputy: Int32?)] = []
        /// By their processes, with when each asked last.
        var watchers: [Int32: ContinuousClock.Instant] = [:]
        var waiting: [DispatchSemaphore] = []

        var end: UInt64 { first + UInt64(clamping: changes.count) }
    }
    private let lines = ShortLock<[UInt32: Line]>([:])

    package init() {}

    /// Whether a deputy would be told of what another one, or none, has changed.
    package func isWatched(_ user: UInt32, besides deputy: Int32?) -> Bool {
        lines.withLock { $0[user]?.watchers.keys.contains { $0 != deputy } ?? false }
    }

    /// `deputy` is the process in whose name it was changed; nil for a program that asked itself.
    package func note(_ changes: [KeychainChange], of user: UInt32, by deputy: Int32? = nil) {
        let woken = lines.withLock { lines -> [DispatchSemaphore] in
            guard var line = lines[user] else { return [] }
            let oldest = ContinuousClock.now - Self.patience
            line.watchers = line.watchers.filter { $0.value > oldest }
            guard !line.watchers.isEmpty else {
                lines[user] = nil
                return line.waiting
            }
            line.changes += changes.map { ($0, deputy) }
            let surplus = max(0, line.changes.count - Self.most)
            line.changes.removeFirst(surplus)
            line.first += UInt64(clamping: surplus)
            let woken = line.waiting
            line.waiting = []
            lines[user] = line
            return woken
        }
        for waiting in woken { waiting.signal() }
    }

    /// Waits until there is one; what the deputy has changed itself is left out.
    package func changes(
        of user: UInt32, after position: UInt64?, for deputy: Int32, within patience: Duration
    ) -> KeychainChanges {
        let end = DispatchTime.now() + patience / .seconds(1)
        while true {
            let turn = DispatchSemaphore(value: 0)
            let known = look(user, position, deputy, turn)
            if let known { return known }
            if turn.wait(timeout: end) == .success { continue }
            lines.withLock { $0[user]?.waiting.removeAll { $0 === turn } }
            // It may have been woken in between: what there is will be told next time.
            return look(user, position, deputy, nil)
                ?? KeychainChanges(position: position ?? 0, isComplete: true, changes: [])
        }
    }

    /// nil where there is nothing to tell; then `turn` is signalled once there may be.
    private func look(
        _ user: UInt32, _ position: UInt64?, _ deputy: Int32, _ turn: DispatchSemaphore?
    ) -> KeychainChanges? {
        lines.withLock { lines in
            var line = lines[user] ?? Line()
            defer { lines[user] = line }
            line.watchers[deputy] = .now
            guard let position else {
                return KeychainChanges(position: line.end, isComplete: true, changes: [])
            }
            guard (line.first...line.end).contains(position) else {
                return KeychainChanges(position: line.end, isComplete: false, changes: [])
            }
            // Safe: it lies between both.
            let news = line.changes.dropFirst(Int(position - line.first))
                .filter { $0.deputy != deputy }.map(\.change)
            guard news.isEmpty else {
                return KeychainChanges(position: line.end, isComplete: true, changes: news)
            }
            if let turn { line.waiting.append(turn) }
            return nil
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
