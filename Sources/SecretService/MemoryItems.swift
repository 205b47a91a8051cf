// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets
internal import Synchronization

/// The collection `session`: items in this process's locked memory, gone with it.
final class MemoryCollection: Sendable {
    static let name = "session"

    fileprivate struct Kept {
        let group: String
        var facts: ItemFacts
        var contentType: String
        var secret: HeldSecret
        /// Counts changes, for the order of matches.
        var change: UInt64

        var bytes: Int {
            secret.bytes.count + facts.label.utf8.count + contentType.utf8.count
                + facts.pairs.reduce(0) {
                    $0 + $1.key.rawValue.utf8.count + $1.value.comparedBytes.count
                }
        }
    }

    fileprivate struct Contents {
        var items: [ItemName: Kept] = [:]
        var bytes = 0
        var changes: UInt64 = 0

        /// What each group may have: of the whole, `1/share`.
        let share: Int

        init(share: Int) { self.share = share }

        mutating func put(_ kept: Kept, as name: ItemName) throws(ServiceError) {
            let before = items[name]
            let bytes = bytes - (before?.bytes ?? 0) + kept.bytes
            let others = items.filter { $0.key != name && $0.value.group == kept.group }
            let groupBytes = others.values.reduce(kept.bytes) { $0 + $1.bytes }
            guard before != nil || items.count < Limits.memoryItems,
                bytes <= Limits.memoryBytes,
                others.count < Limits.memoryItems / share,
                groupBytes <= Limits.memoryBytes / share
            else { throw .limitsExceeded }
            changes += 1
            var kept = kept
            kept.change = changes
            items[name] = kept
            self.bytes = bytes
        }

        mutating func remove(_ name: ItemName) {
            bytes -= items.removeValue(forKey: name)?.bytes ?? 0
        }

        func own(_ name: ItemName, _ group: String) throws(ServiceError) -> Kept {
            guard let kept = items[name], kept.group == group else { throw .noSuchObject }
            return kept
        }
    }

    fileprivate let contents: Mutex<Contents>

    /// `isShared` by several groups, none of which fills it for all others.
    init(isShared: Bool) { contents = Mutex(Contents(share: isShared ? 2 : 1)) }

    func items(of group: String) -> MemoryItems { MemoryItems(collection: self, group: group) }
}

/// What one group keeps there.
struct MemoryItems: CollectionItems {
    fileprivate let collection: MemoryCollection
    fileprivate let group: String

    func facts(of item: ItemName) throws(ServiceError) -> ItemFacts? {
        try locked { contents throws(ServiceError) in try contents.own(item, group).facts }
    }

    func search(_ pairs: Attributes) throws(ServiceError) -> [FoundItem] {
        let found = collection.contents.withLock { contents in
            contents.items.filter { $0.value.group == group && $0.value.facts.pairs.has(pairs) }
        }
        return found.sorted { a, b in
            let (more, other) = (a.value.further, b.value.further)
            return more == other ? a.value.change > b.value.change : more < other
        }.map { FoundItem(item: $0.key, isLocked: false) }
    }

    func secret(of item: ItemName, asking: Bool) throws(ServiceError) -> OpenedSecret {
        let kept = try locked { contents throws(ServiceError) in try contents.own(item, group) }
        return OpenedSecret(secret: kept.secret, contentType: kept.contentType)
    }

    func add(_ item: NewSecretItem) throws(ServiceError) -> AddedItem {
        try locked { contents throws(ServiceError) in
            let now = Self.now
            let same =
                item.replaces
                ? contents.items.first {
                    $0.value.group == group && $0.value.facts.pairs.isSameItem(as: item.pairs)
                } : nil
            let name = same?.key ?? ItemName(identifier: RandomBytes.make(16))
            let facts = ItemFacts(
                pairs: item.pairs, label: item.label,
                created: same?.value.facts.created ?? now, modified: now, group: group)
            try contents.put(
                MemoryCollection.Kept(
                    group: group, facts: facts, contentType: item.contentType,
                    secret: item.secret, change: 0), as: name)
            return AddedItem(item: name, isNew: same == nil, group: group)
        }
    }

    /// All are open.
    func unlock(_ items: [ItemName], unless isCancelled: () -> Bool) -> Set<ItemName> {
        Set(items.filter { (try? facts(of: $0)) != nil })
    }

    /// None takes a proof.
    func lock(_ items: [ItemName]) -> Set<ItemName> { [] }

    func change(_ item: ItemName, _ change: SecretItemChange) throws(ServiceError) {
        try locked { contents throws(ServiceError) in
            var kept = try contents.own(item, group)
            if let label = change.label { kept.facts.label = label }
            if let pairs = change.pairs { kept.facts.pairs = pairs }
            if let secret = change.secret { kept.secret = secret }
            if let contentType = change.contentType { kept.contentType = contentType }
            kept.facts.modified = Self.now
            try contents.put(kept, as: item)
        }
    }

    func delete(_ item: ItemName, asking: Bool) throws(ServiceError) {
        try locked { contents throws(ServiceError) in
            _ = try contents.own(item, group)
            contents.remove(item)
        }
    }

    private static var now: UInt64 { UInt64(clamping: WallClock.now.components.seconds) }

    private func locked<R>(
        _ body: (inout MemoryCollection.Contents) throws(ServiceError) -> R
    ) throws(ServiceError) -> R {
        try collection.contents.withLock { contents throws(ServiceError) in
            try body(&contents)
        }
    }
}

extension MemoryCollection.Kept {
    /// Attributes, which all are further ones to a search that found the item.
    fileprivate var further: Int {
        facts.pairs.count - (facts.pairs[.schema] == nil ? 0 : 1)
    }
}

extension Attributes {
    /// Whether each of the others is among these.
    fileprivate func has(_ others: Attributes) -> Bool {
        others.allSatisfy { name, value in self[name] == value }
    }
}
