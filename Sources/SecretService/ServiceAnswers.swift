// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import LibCrypto
internal import MessageBus

/// Answers the calls to `/org/freedesktop/secrets` itself.
struct ServiceAnswers {
    let scope: Scope

    static let plain = "plain"
    static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

    func openSession(
        _ algorithm: String, _ input: SessionInput
    ) throws(ServiceError) -> Outcome {
        switch (algorithm, input) {
        case (Self.plain, .text):
            let session = TransferSession.plain()
            return Outcome(
                .variant(of: "s", .text("")), .path(session.path), effects: [.opened(session)])
        case (Self.encrypted, .bytes(let value)):
            let exchange = try scope.exchange.take()
            let own = exchange.publicValue
            let session = try TransferSession.encrypted(exchange, with: value)
            return Outcome(
                .variant(of: "ay", .bytes(own)), .path(session.path), effects: [.opened(session)])
        case (Self.plain, _), (Self.encrypted, _):
            throw .invalidArguments("The algorithm takes an input of another type")
        default: throw .notSupported
        }
    }

    func search(_ pairs: Attributes) throws(ServiceError) -> Outcome {
        let kept = try KeychainItems.search(pairs, in: nil, scope.endpoint, scope.standIns)
            .map { (Scope.Place.keychain($0.keychain), $0.found) }
        let inMemory = try scope.items(in: .memory).search(pairs)
        guard !inMemory.isEmpty else { return answer(kept) }
        let open = ranked(inMemory, among: kept.filter { !$0.1.isLocked })
        return answer(open + kept.filter(\.1.isLocked))
    }

    /// With what the user's keychains have; nil where items in memory have a place among them, which
    /// takes another request.
    func answer(
        _ pairs: Attributes, _ kept: [(keychain: String, found: FoundItem)]
    ) throws(ServiceError) -> Outcome? {
        guard try scope.items(in: .memory).search(pairs).isEmpty else { return nil }
        return answer(kept.map { (Scope.Place.keychain($0.keychain), $0.found) })
    }

    private func answer(_ found: [(Scope.Place, FoundItem)]) -> Outcome {
        func paths(locked: Bool) -> [String] {
            found.filter { $0.1.isLocked == locked }.map { $0.0.path(of: $0.1.item) }
        }
        return Outcome(
            .paths(paths(locked: false)), .paths(paths(locked: true)),
            effects: found.compactMap { $0.1.effect } + Self.listed(found))
    }

    /// Both come in the order of all matches. The keychain does not tell the ranks of its own: they are
    /// made of their attributes, where these can be read. Among too many matches no client looks for
    /// the best.
    private func ranked(
        _ inMemory: [FoundItem], among kept: [(Scope.Place, FoundItem)]
    ) -> [(Scope.Place, FoundItem)] {
        var ranks: [ItemName: ItemRank] = [:]
        if kept.count <= Limits.rankedItems {
            for (place, matches) in Dictionary(grouping: kept, by: \.0) {
                guard case .keychain(let keychain) = place else { continue }
                let items = matches.map(\.1.item)
                let facts = try? KeychainItems.facts(of: items, in: keychain, scope.endpoint)
                for (item, facts) in facts ?? [:] { ranks[item] = ItemRank(item, facts) }
            }
        }
        var rest = inMemory[...]
        let memory = scope.items(in: .memory)
        var all: [(Scope.Place, FoundItem)] = []
        for match in kept {
            while let rank = ranks[match.1.item], let first = rest.first,
                let facts = try? memory.facts(of: first.item), ItemRank(first.item, facts) < rank
            {
                all.append((.memory, rest.removeFirst()))
            }
            all.append(match)
        }
        return all + rest.map { (.memory, $0) }
    }

    /// Stand-ins are no items.
    private static func listed(_ found: [(Scope.Place, FoundItem)]) -> [Effect] {
        let items = found.lazy.filter { !$0.1.item.isStandIn }.prefix(Limits.listedItems)
        return Dictionary(grouping: items, by: \.0).map { place, items in
            .listed(items.map(\.1.item), in: place)
        }
    }

    // MARK: Locking

    func unlock(_ paths: [String]) throws(ServiceError) -> Outcome {
        var seen: Set<String> = []
        var open: [String] = []
        var locked: [UnlockTarget] = []
        var collections: [CollectionFacts]?
        for path in paths where seen.insert(path).inserted {
            guard let target = try target(path, &collections) else { continue }
            if target.isLocked { locked.append(target.target) } else { open.append(path) }
        }
        guard try wouldAsk(about: locked.map(\.object)) else {
            return Outcome(.paths(open), .path(ObjectPath.none))
        }
        let task = PromptTask(work: .unlock(locked))
        return Outcome(.paths(open), .path(task.path), effects: [.offered(task)])
    }

    /// Of one collection at least: a prompt would then do something.
    private func wouldAsk(
        about objects: [UnlockTarget.Object]
    ) throws(ServiceError) -> Bool {
        guard !objects.isEmpty else { return false }
        let collections = try scope.collections()
        var done: Set<Scope.Place> = []
        for place in objects.map(\.place) where done.insert(place).inserted {
            let items = objects.filter { $0.place == place }.compactMap(\.item?.reference)
            let isLocked = collections.first { $0.place == place }?.isLocked ?? true
            if scope.wouldAsk(isLocked ? .unlocking(keychain: place.name) : .items(items)) {
                return true
            }
        }
        return false
    }

    /// nil for what the client can't know of.
    private func target(
        _ path: String, _ collections: inout [CollectionFacts]?
    ) throws(ServiceError) -> (target: UnlockTarget, isLocked: Bool)? {
        do throws(ServiceError) {
            switch ObjectPath(path) {
            case .collection(let name):
                let place = try scope.place(name)
                let all: [CollectionFacts]
                if let collections { all = collections } else { all = try scope.collections() }
                collections = all
                guard let facts = all.first(where: { $0.place == place }) else { return nil }
                return (UnlockTarget(spelled: path, object: .collection(place)), facts.isLocked)
            case .item(let name, let item):
                let place = try scope.place(name)
                let isLocked = try scope.items(in: place).isLocked(item)
                return (UnlockTarget(spelled: path, object: .item(item, place)), isLocked)
            default: return nil
            }
        } catch {
            guard [.noSuchObject, .accessDenied].contains(error) else { throw error }
            return nil
        }
    }

    /// What was proven for items ends, and their collection stays open. It is locked where it is named
    /// itself, and for items that nothing was proven for.
    func lock(_ paths: [String]) throws(ServiceError) -> Outcome {
        var seen: Set<String> = []
        var named: [UnlockTarget] = []
        for path in paths where seen.insert(path).inserted {
            guard let object = try lockable(path) else { continue }
            named.append(UnlockTarget(spelled: path, object: object))
        }
        var locked: Set<UnlockTarget.Object> = []
        var done: Set<Scope.Place> = []
        var effects: [Effect] = []
        var failure: ServiceError?
        for place in named.map(\.object.place) where done.insert(place).inserted {
            let objects = Set(named.lazy.map(\.object).filter { $0.place == place })
            do throws(ServiceError) {
                let (closed, told) = try lock(objects, in: place)
                locked.formUnion(closed)
                effects += told
            } catch { failure = failure ?? error }
        }
        // What was locked is told, whatever became of the rest.
        if locked.isEmpty, let failure { throw failure }
        return Outcome(
            .paths(named.filter { locked.contains($0.object) }.map(\.spelled)),
            .path(ObjectPath.none), effects: effects)
    }

    /// The objects of one collection that are locked then.
    private func lock(
        _ objects: Set<UnlockTarget.Object>, in place: Scope.Place
    ) throws(ServiceError) -> (locked: Set<UnlockTarget.Object>, effects: [Effect]) {
        // What lies in memory is no more open than its process is.
        guard case .keychain(let keychain) = place else { return (objects, []) }
        let items = objects.compactMap(\.item)
        let ended = try scope.items(in: place).lock(items)
        let effects = ended.map {
            Effect.item($0, .locked(true), in: place, of: scope.groupOfProgram)
        }
        var locksCollection = objects.contains(.collection(place))
        for item in items where !locksCollection && !ended.contains(item) {
            locksCollection = try !scope.items(in: place).isLocked(item)
        }
        guard locksCollection else { return (objects, effects) }
        if let told = try lock(place, keychain) { return (objects, effects + told) }
        return (Set(items.lazy.filter(ended.contains).map { .item($0, place) }), effects)
    }

    /// Tells what changed; nil where the keychain can't be locked, or is not there. One that was locked
    /// before may have closed with its time, of which no listener has heard: it is told too, where what
    /// was told last is known.
    private func lock(
        _ place: Scope.Place, _ keychain: String
    ) throws(ServiceError) -> [Effect]? {
        let wasLocked: Bool
        do throws(ServiceError) {
            wasLocked = try scope.facts(of: place).isLocked
            _ = try scope.send(Lock(keychain: keychain))
        } catch {
            guard error == .isLocked || error == .noSuchObject else { throw error }
            return nil
        }
        let isTold = !wasLocked || scope.keychains.tellsPeersApart
        return isTold ? [.collection(place, .locked(true))] : []
    }

    /// nil for what is not there: the collection of such an item stays as it is.
    private func lockable(_ path: String) throws(ServiceError) -> UnlockTarget.Object? {
        do throws(ServiceError) {
            switch ObjectPath(path) {
            case .collection(let name): return .collection(try scope.place(name))
            case .item(let name, let item):
                let place = try scope.place(name)
                return try isThere(item, place) ? .item(item, place) : nil
            default: return nil
            }
        } catch {
            guard error == .noSuchObject else { throw error }
            return nil
        }
    }

    /// One that its program may not read is there.
    private func isThere(
        _ item: ItemName, _ place: Scope.Place
    ) throws(ServiceError) -> Bool {
        do throws(ServiceError) {
            _ = try scope.items(in: place).facts(of: item)
            return true
        } catch {
            guard error != .failed else { throw error }
            return error != .noSuchObject
        }
    }

    // MARK: Secrets

    /// Those that can be had now.
    func secrets(
        _ paths: [String], _ session: TransferSession
    ) throws(ServiceError) -> Outcome {
        var bytes = 0
        var entries: [BusValue] = []
        var seen: Set<String> = []
        for path in paths where seen.insert(path).inserted {
            guard let opened = try secret(path) else { continue }
            bytes += opened.secret.bytes.count
            guard bytes <= Limits.secretBytesAtOnce else { throw .limitsExceeded }
            entries.append(
                .entry(
                    of: "o(oayays)", .path(path),
                    try session.sent(opened.secret, opened.contentType)))
        }
        return Outcome(.array(of: "{o(oayays)}", entries))
    }

    private func secret(_ path: String) throws(ServiceError) -> OpenedSecret? {
        guard case .item(let collection, let item) = ObjectPath(path) else { return nil }
        do throws(ServiceError) {
            let place = try scope.place(collection)
            return try scope.items(in: place).secret(of: item, asking: false)
        } catch {
            let isLeftOut = [.noSuchObject, .isLocked, .accessDenied].contains(error)
            guard isLeftOut else { throw error }
            return nil
        }
    }

    // MARK: Aliases, new collections

    func readAlias(_ alias: String) throws(ServiceError) -> Outcome {
        guard CollectionName.alias(alias) != nil, let place = try scope.place(alias: alias),
            try scope.collections().contains(where: { $0.place == place })
        else { return Outcome(.path(ObjectPath.none)) }
        return Outcome(.path(place.path))
    }

    func setAlias(_ alias: String, _ path: String, asking: Bool) throws(ServiceError) -> Outcome {
        guard CollectionName.alias(alias) != nil else {
            throw .invalidArguments("An alias has letters, digits and underscores")
        }
        guard !Self.fixed.contains(alias) else { throw .notSupported }
        let keychain = try keychain(at: path)
        let change: KeychainPreferencesChange =
            alias == "default" ? .defaultKeychain(keychain) : .alias(alias, keychain: keychain)
        _ = try scope.send(Preferences(change), asking: asking)
        return Outcome()
    }

    /// Those that always mean the same.
    private static let fixed: Set<String> = ["login", MemoryCollection.name]

    /// nil where the alias is to be removed.
    private func keychain(at path: String) throws(ServiceError) -> String? {
        guard path != ObjectPath.none else { return nil }
        guard case .collection(let name) = ObjectPath(path), !name.isAlias else {
            throw .invalidArguments("That is no collection’s own path")
        }
        guard case .keychain(let keychain) = try scope.place(name) else { throw .notSupported }
        _ = try scope.facts(of: .keychain(keychain))
        return keychain
    }

    func createCollection(label: String, alias: String) throws(ServiceError) -> Outcome {
        guard alias.isEmpty || CollectionName.alias(alias) != nil else {
            throw .invalidArguments("An alias has letters, digits and underscores")
        }
        guard !Self.fixed.contains(alias) else { throw .notSupported }
        if !alias.isEmpty, let place = try scope.place(alias: alias),
            try scope.collections().contains(where: { $0.place == place })
        {
            return Outcome(.path(place.path), .path(ObjectPath.none))
        }
        guard scope.wouldAsk(.creatingKeychain) else { throw .failed }
        let task = PromptTask(work: .createCollection(label: label, alias: alias))
        return Outcome(.path(ObjectPath.none), .path(task.path), effects: [.offered(task)])
    }
}

extension Scope.Place {
    func path(of item: ItemName) -> String { path + "/" + item.description }
}
