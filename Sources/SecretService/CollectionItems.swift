// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// An item without its secret, as the bus tells it.
struct ItemFacts: Sendable, Equatable {
    var pairs: Attributes
    var label: String
    /// Seconds since 1970.
    var created: UInt64
    var modified: UInt64
    /// nil where that is not told.
    var group: String?

    /// Of one that can't be read now.
    static let unreadable = ItemFacts(pairs: [:], label: "", created: 0, modified: 0)

    var type: String { pairs.text(.schema) ?? "" }
}

/// The place of a match among all: the fewest further attributes, the latest change, the identifier.
struct ItemRank: Comparable {
    private let pairs: Int
    private let modified: UInt64
    private let identifier: [UInt8]

    init(_ item: ItemName, _ facts: ItemFacts) {
        // To what was looked for all are further ones, but for the type.
        pairs = facts.pairs.count - (facts.pairs[.schema] == nil ? 0 : 1)
        modified = facts.modified
        identifier = item.identifier
    }

    static func < (a: Self, b: Self) -> Bool {
        if a.pairs != b.pairs { return a.pairs < b.pairs }
        if a.modified != b.modified { return a.modified > b.modified }
        return a.identifier.lexicographicallyPrecedes(b.identifier)
    }
}

/// What a search finds.
struct FoundItem: Sendable, Equatable {
    let item: ItemName
    let isLocked: Bool
    /// Of a stand-in, the search that it means.
    var standIn: StandIn?
}

/// What was looked for in a collection that has not been open since the machine's start, and can't tell
/// what it has: it is listed as one locked item, so that its client unlocks it.
struct StandIn: Sendable, Hashable {
    static let most = 64

    let keychain: String
    let pairs: Attributes
}

struct OpenedSecret: Sendable {
    let secret: HeldSecret
    let contentType: String
}

struct NewSecretItem: Sendable {
    let label: String
    let pairs: Attributes
    let contentType: String
    let secret: HeldSecret
    /// Whether an item with the same attributes gives way.
    let replaces: Bool
}

extension NewSecretItem {
    init(
        _ properties: ItemProperties, _ sent: SentSecret, replaces: Bool,
        _ session: TransferSession
    ) throws(ServiceError) {
        self.init(
            label: properties.label ?? "", pairs: properties.allPairs,
            contentType: sent.contentType, secret: try session.received(sent), replaces: replaces)
    }
}

struct AddedItem: Sendable {
    let item: ItemName
    /// False for an item that took another's place.
    let isNew: Bool
    /// nil where that is not told: only of a new one.
    var group: String?
}

/// What is made other in an item; nil for what stays.
struct SecretItemChange: Sendable {
    var label: String?
    /// Takes the place of all.
    var pairs: Attributes?
    var secret: HeldSecret?
    var contentType: String?
}

/// The items of one collection, as far as one program may know of them.
protocol CollectionItems: Sendable {
    /// nil for facts that can't be read now; no such object for an item that is not there.
    func facts(of item: ItemName) throws(ServiceError) -> ItemFacts?
    /// The best match first.
    func search(_ pairs: Attributes) throws(ServiceError) -> [FoundItem]
    func secret(of item: ItemName, asking: Bool) throws(ServiceError) -> OpenedSecret
    /// Has the user prove what is missing before the secrets of these can be had, at once for all that
    /// are the program's own; tells which can be had now.
    func unlock(_ items: [ItemName], unless isCancelled: () -> Bool) -> Set<ItemName>
    /// What was proven for the items counts no more. Returns all items that have lost a proof: one
    /// that was given for several is lost to all of them.
    func lock(_ items: [ItemName]) throws(ServiceError) -> Set<ItemName>
    func add(_ item: NewSecretItem) throws(ServiceError) -> AddedItem
    func change(_ item: ItemName, _ change: SecretItemChange) throws(ServiceError)
    func delete(_ item: ItemName, asking: Bool) throws(ServiceError)
}

extension CollectionItems {
    /// Whether something is missing before its secret can be had: as searches tell it. That its
    /// attributes can be read does not say so.
    func isLocked(_ item: ItemName, _ facts: ItemFacts?) throws(ServiceError) -> Bool {
        guard let facts else { return true }
        guard !item.isStandIn else { return false }
        // A search without pairs would be for all items.
        guard !facts.pairs.isEmpty else { return try isClosed(item) }
        return try search(facts.pairs).first { $0.item == item }?.isLocked ?? true
    }

    /// The same by a read, without a question.
    private func isClosed(_ item: ItemName) throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            _ = try secret(of: item, asking: false)
            return false
        } catch {
            guard error != .noSuchObject, error != .failed else { throw error }
            return true
        }
    }

    func isLocked(_ item: ItemName) throws(ServiceError) -> Bool {
        try isLocked(item, facts(of: item))
    }
}
