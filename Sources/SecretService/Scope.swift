// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// What a call is done with: the keychain as one program sees it, and what lies in memory.
struct Scope: Sendable {
    /// The keychain for services, which is another user's.
    private static let system = "system"
    private static let login = "login"
    /// The group of programs that can't be told.
    static let unidentified = "bus:unidentified"

    let keychains: any PeerKeychains
    let peer: IntroducedPeer
    let memory: MemoryCollection
    let exchange: ReadyExchange
    let transfer: Transfer?
    /// The window over which the program wants its prompt; nil for calls that are no prompts.
    let window: XWindow?
    /// In whose name proofs of this program are kept.
    let context: AuthenticationContext?
    let cancellation: Cancellation?
    /// What this program was shown in the place of items.
    let standIns: [ItemName: StandIn]

    /// Only where `asking` may the user be asked: elsewhere a question would hold up other programs.
    func send<V: Verb>(_ verb: V, asking: Bool = false) throws(ServiceError) -> V.Answer {
        var context = context
        if !asking { context?.mayInteract = false }
        do throws(RequestError) {
            return try endpoint.send(verb, in: context, cancellation: cancellation)
        } catch { throw ServiceError(error) }
    }

    var endpoint: any KeychainEndpoint {
        keychains.endpoint(of: peer, transfer: transfer, over: window)
    }

    /// Whether there is a user who would be asked now. A program whose user said no twice hears what it
    /// would hear with no user there.
    func wouldAsk(_ matter: WouldAsk.Matter) -> Bool {
        keychains.mayAsk && (try? send(WouldAsk(matter), asking: true)) ?? false
    }

    // MARK: Groups that are told

    /// The group that no other program owns. A proof counts for the program that it was given for.
    var groupOfProgram: String? { peer.groups.last }

    /// The group whose programs are told of a change of an item in `group`; nil is that of programs
    /// that can't be told apart. The keychain itself tells of items in groups that are not the
    /// program's own, so that here the program alone is told.
    func groupToTell(ofItemsIn group: String?) -> String? {
        guard let group, peer.groups.contains(group) else { return groupOfProgram }
        return group
    }

    /// The same of one item, which is looked up where programs share one of the groups.
    func groupToTell(of item: ItemName, in place: Place) -> String? {
        guard peer.groups.count > 1 else { return peer.group }
        let facts = try? items(in: place).facts(of: item)
        return groupToTell(ofItemsIn: facts?.group)
    }

    // MARK: Collections

    /// Where a collection's items are.
    enum Place: Hashable, Sendable {
        case memory
        case keychain(String)

        var name: String {
            switch self {
            case .memory: MemoryCollection.name
            case .keychain(let name): name
            }
        }
        var path: String { CollectionName(keychain: name).path }
        /// The last part of its path.
        var element: String { CollectionName.encoded(name) }
    }

    /// Whether a keychain of that name is there, the verbs find out.
    func place(_ collection: CollectionName) throws(ServiceError) -> Place {
        guard collection.isAlias else { return try place(keychain: collection.name) }
        guard let place = try place(alias: collection.name) else { throw .noSuchObject }
        return place
    }

    /// nil for an alias that stands for nothing.
    func place(alias: String) throws(ServiceError) -> Place? {
        switch alias {
        case MemoryCollection.name: return .memory
        case Self.login: return .keychain(Self.login)
        case "default":
            let name = try send(Preferences(nil)).defaultKeychain
            return try name.map { name throws(ServiceError) in
                try place(keychain: name.description)
            }
        default:
            let name = try send(Preferences(nil)).aliases[alias]
            return try name.map { name throws(ServiceError) in
                try place(keychain: name.description)
            }
        }
    }

    /// Whether programs count on the collection, so that it can't be deleted.
    func isFixed(_ place: Place) throws(ServiceError) -> Bool {
        if place == .memory || place == .keychain(Self.login) { return true }
        return try place == self.place(alias: "default")
    }

    /// Those that stand for a collection that is there.
    func aliases() throws(ServiceError) -> [String] {
        let preferences = try send(Preferences(nil))
        let there = Set(try collections().map(\.place.name))
        var names = [MemoryCollection.name: MemoryCollection.name, Self.login: Self.login]
        names["default"] = preferences.defaultKeychain?.description
        names.merge(preferences.aliases.mapValues(\.description)) { first, _ in first }
        return names.filter { there.contains($0.value) }.keys.sorted()
    }

    private func place(keychain: String) throws(ServiceError) -> Place {
        if keychain == MemoryCollection.name { return .memory }
        guard keychain != Self.system, KeychainName(keychain) != nil else { throw .noSuchObject }
        return .keychain(keychain)
    }

    func items(in place: Place) -> any CollectionItems {
        switch place {
        case .memory: memory.items(of: peer.group ?? Self.unidentified)
        case .keychain(let name):
            KeychainItems(
                endpoint: endpoint, keychain: name, context: context,
                cancellation: cancellation, standIns: standIns)
        }
    }

    /// All that exist: `login` first, since there are clients that take the first.
    func collections() throws(ServiceError) -> [CollectionFacts] {
        let keychains = try send(Status()).keychains.filter { $0.name != Self.system }
            .map(CollectionFacts.init)
            .sorted { a, b in
                (a.place.name == Self.login ? 0 : 1, a.place.name)
                    < (b.place.name == Self.login ? 0 : 1, b.place.name)
            }
        return keychains + [.memory]
    }

    func facts(of place: Place) throws(ServiceError) -> CollectionFacts {
        guard let found = try collections().first(where: { $0.place == place }) else {
            throw .noSuchObject
        }
        return found
    }
}

/// A collection, as the bus tells it.
struct CollectionFacts: Sendable, Equatable {
    let place: Scope.Place
    let label: String
    let isLocked: Bool
    /// Seconds since 1970; 0 where that can't be told.
    let created: UInt64
    let modified: UInt64

    static let memory = CollectionFacts()

    private init() {
        place = .memory
        label = MemoryCollection.name
        isLocked = false
        (created, modified) = (0, 0)
    }

    init(_ status: KeychainStatus) {
        place = .keychain(status.name)
        label = status.label ?? status.name
        isLocked = status.lockState != .unlocked
        (created, modified) = (status.created, status.modified)
    }
}
