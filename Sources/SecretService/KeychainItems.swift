// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// The items of a keychain's `attributed` class.
struct KeychainItems: CollectionItems {
    let endpoint: any KeychainEndpoint
    let keychain: String
    /// In whose name proofs of this program are kept.
    let context: AuthenticationContext?
    /// Ends a question whose program has gone or has dismissed it.
    let cancellation: Cancellation?
    /// What this program was shown in the place of items.
    let standIns: [ItemName: StandIn]

    func facts(of item: ItemName) throws(ServiceError) -> ItemFacts? {
        do throws(RequestError) {
            let query = try query(item, [.attributes], asking: false)
            guard let found = try send(CopyMatching(query)).first else {
                throw .state(.notFound)
            }
            return ItemFacts(found)
        } catch {
            let refusal = ServiceError(error)
            guard refusal == .isLocked else { throw refusal }
            return nil
        }
    }

    /// Of those whose attributes can be read now.
    static func facts(
        of items: [ItemName], in keychain: String, _ endpoint: any KeychainEndpoint
    ) throws(ServiceError) -> [ItemName: ItemFacts] {
        var query = ItemQuery(.attributed)
        query.keychain = keychain
        query.references = items.compactMap(\.reference)
        query.limit = nil
        query.returnFields = [.attributes, .persistentReference]
        query.authenticationUI = .skip
        do throws(RequestError) {
            return Dictionary(
                uniqueKeysWithValues: try endpoint.send(CopyMatching(query))
                    .map { (ItemName($0.reference), ItemFacts($0)) })
        } catch {
            if error == .state(.notFound) { return [:] }
            throw ServiceError(error)
        }
    }

    func search(_ pairs: Attributes) throws(ServiceError) -> [FoundItem] {
        try Self.search(pairs, in: keychain, endpoint, standIns).map(\.found)
    }

    /// In all of the user's keychains, where none is named.
    static func search(
        _ pairs: Attributes, in keychain: String?, _ endpoint: any KeychainEndpoint,
        _ standIns: [ItemName: StandIn]
    ) throws(ServiceError) -> [(keychain: String, found: FoundItem)] {
        let matches: [AttributedMatch]
        do throws(RequestError) {
            matches = try endpoint.send(searching(pairs, in: keychain))
        } catch {
            if error == .state(.notFound) { return [] }
            throw ServiceError(error)
        }
        return found(matches, pairs, standIns)
    }

    static func searching(_ pairs: Attributes, in keychain: String?) -> FindAttributed {
        FindAttributed(keychain: keychain, pairs: pairs, limit: Limits.answeredPaths)
    }

    static func found(
        _ matches: [AttributedMatch], _ pairs: Attributes, _ standIns: [ItemName: StandIn]
    ) -> [(keychain: String, found: FoundItem)] {
        matches.map { match in
            let found = match.reference.map {
                FoundItem(item: ItemName($0), isLocked: match.isLocked)
            }
            let standIn = StandIn(keychain: match.keychain, pairs: pairs)
            return (match.keychain, found ?? Self.standing(standIn, standIns))
        }
    }

    func secret(of item: ItemName, asking: Bool) throws(ServiceError) -> OpenedSecret {
        do throws(RequestError) {
            let query = try query(item, [.attributes, .data], asking: asking)
            guard let found = try send(CopyMatching(query)).first else {
                throw .state(.notFound)
            }
            return OpenedSecret(found)
        } catch { throw ServiceError(error) }
    }

    /// Of an item itself, and no stand-in for one.
    static func reading(_ item: ItemName, in keychain: String) -> CopyMatching? {
        guard let reference = item.reference else { return nil }
        return CopyMatching(query(reference, in: keychain, [.attributes, .data], asking: false))
    }

    func unlock(_ items: [ItemName], unless isCancelled: () -> Bool) -> Set<ItemName> {
        var open: Set<ItemName> = []
        var beyond: Set<ItemName> = []
        do throws(RequestError) {
            var rest = items[...]
            while rest.count > 1, !isCancelled() {
                // A proof for more would be forgotten at once.
                open.formUnion(
                    try unlockTogether(
                        Array(rest.prefix(ProofLimits.mostItems)), leavingOut: &beyond))
                rest = rest.dropFirst(ProofLimits.mostItems)
            }
            // Others' items are asked about by themselves.
            for item in items
            where !open.contains(item) && !beyond.contains(item) && !isCancelled() {
                open.formUnion(try unlockTogether([item], leavingOut: &beyond))
            }
        } catch {
            // The user said no, to all that is left.
        }
        return open
    }

    /// One question for all that can be proven; throws what ends all questions. `beyond` gets the items
    /// that no proof opens.
    private func unlockTogether(
        _ items: [ItemName], leavingOut beyond: inout Set<ItemName>
    ) throws(RequestError) -> Set<ItemName> {
        do throws(RequestError) { return try opened(items, asking: true) } catch {
            guard !error.endsAsking else { throw error }
            guard error.isBeyondProof else { return [] }
            let closed = items.filter(isBeyondProof)
            // All could be proven: the user was asked in vain.
            guard !closed.isEmpty else { throw error }
            beyond.formUnion(closed)
            let provable = items.filter { !beyond.contains($0) }
            return provable.isEmpty ? [] : try unlockTogether(provable, leavingOut: &beyond)
        }
    }

    /// Whether the item is refused before a user is asked, and would be whatever the user proved.
    private func isBeyondProof(_ item: ItemName) -> Bool {
        do throws(RequestError) {
            _ = try opened([item], asking: false)
            return false
        } catch {
            return error.isBeyondProof
        }
    }

    private func opened(
        _ items: [ItemName], asking: Bool
    ) throws(RequestError) -> Set<ItemName> {
        let names = try references(items)
        guard !names.isEmpty else { throw .state(.notFound) }
        var query = ItemQuery(.attributed)
        query.keychain = keychain
        query.references = Array(names.keys)
        // Of one item, another program's may be meant.
        query.limit = names.count == 1 ? 1 : nil
        query.returnFields = [.data, .persistentReference]
        query.authenticationUI = asking ? .allow : .fail
        return try send(CopyMatching(query)).reduce(into: []) { open, item in
            open.formUnion(names[item.reference] ?? [])
        }
    }

    func lock(_ items: [ItemName]) throws(ServiceError) -> Set<ItemName> {
        do throws(RequestError) {
            let names = try references(items)
            guard !names.isEmpty else { return [] }
            return try send(EndProofs(of: Array(names.keys))).reduce(into: []) { ended, item in
                ended.insert(ItemName(item))
                ended.formUnion(names[item] ?? [])
            }
        } catch { throw ServiceError(error) }
    }

    /// Of those that are there and can be told; an item and its stand-ins have one reference.
    private func references(
        _ items: [ItemName]
    ) throws(RequestError) -> [ItemReference: Set<ItemName>] {
        var names: [ItemReference: Set<ItemName>] = [:]
        for item in items {
            do throws(RequestError) { names[try reference(item), default: []].insert(item) } catch {
                guard error == .state(.notFound) || error == .state(.locked) else { throw error }
            }
        }
        return names
    }

    func add(_ item: NewSecretItem) throws(ServiceError) -> AddedItem {
        do throws(RequestError) {
            return Self.added(try send(Self.adding(item, to: keychain)))
        } catch { throw ServiceError(error) }
    }

    static func adding(_ item: NewSecretItem, to keychain: String) -> Add {
        var new = NewItem(.attributed)
        new.keychain = keychain
        new.attributes = item.pairs
        new.attributes[.label] = .string(item.label)
        new.attributes[.contentType] = .string(item.contentType)
        new.accessible = .whenUnlocked
        new.trusted = []
        new.whenSame = item.replaces ? .replace : .add
        new.authenticationUI = .fail
        // The dates tell whether another item was replaced.
        return Add(
            new, secret: item.secret,
            returning: item.replaces ? [.attributes, .persistentReference] : .persistentReference)
    }

    /// An item that replaced another one was changed after it was made.
    static func added(_ item: Item) -> AddedItem {
        AddedItem(
            item: ItemName(item.reference),
            isNew: item.attributes[.creationDate] == item.attributes[.modificationDate],
            group: item.attributes.text(.accessGroup))
    }

    func change(_ item: ItemName, _ change: SecretItemChange) throws(ServiceError) {
        var changed = ItemChange()
        if let label = change.label { changed.attributes[.label] = .string(label) }
        if let contentType = change.contentType {
            changed.attributes[.contentType] = .string(contentType)
        }
        if let pairs = change.pairs {
            changed.replacesPairs = true
            changed.attributes.merge(pairs)
        }
        do throws(RequestError) {
            let count = try send(
                Update(try query(item, [], asking: false), changed, secret: change.secret))
            guard count > 0 else { throw .state(.notFound) }
        } catch { throw ServiceError(error) }
    }

    func delete(_ item: ItemName, asking: Bool) throws(ServiceError) {
        do throws(RequestError) {
            let count = try send(Delete(try query(item, [], asking: asking)))
            guard count > 0 else { throw .state(.notFound) }
        } catch { throw ServiceError(error) }
    }

    /// The same search has the same stand-in.
    private static func standing(
        _ standIn: StandIn, _ known: [ItemName: StandIn]
    ) -> FoundItem {
        let name = known.first { $0.value == standIn }?.key ?? .standIn()
        return FoundItem(item: name, isLocked: true, standIn: standIn)
    }

    /// That of a stand-in is the best match; locked where that can't be told yet.
    private func reference(_ item: ItemName) throws(RequestError) -> ItemReference {
        guard item.isStandIn else {
            guard let reference = item.reference else { throw .state(.notFound) }
            return reference
        }
        guard let meant = standIns[item], meant.keychain == keychain,
            let match = try endpoint.send(
                FindAttributed(keychain: keychain, pairs: meant.pairs, limit: 1)
            ).first
        else { throw .state(.notFound) }
        guard let reference = match.reference else { throw .state(.locked) }
        return reference
    }

    private func query(
        _ item: ItemName, _ fields: ReturnFields, asking: Bool
    ) throws(RequestError) -> ItemQuery {
        Self.query(try reference(item), in: keychain, fields, asking: asking)
    }

    private static func query(
        _ reference: ItemReference, in keychain: String, _ fields: ReturnFields, asking: Bool
    ) -> ItemQuery {
        var query = ItemQuery(.attributed)
        query.keychain = keychain
        query.references = [reference]
        query.returnFields = fields
        query.authenticationUI = asking ? .allow : .fail
        return query
    }

    private func send<V: Verb>(_ verb: V) throws(RequestError) -> V.Answer {
        try endpoint.send(verb, in: context, cancellation: cancellation)
    }
}

extension RequestError {
    /// The user said no, typed what is wrong, or can't be asked any more; or there is no memory for
    /// the items.
    fileprivate var endsAsking: Bool {
        [
            .refused(.cancelled), .refused(.wrongPassword), .refused(.wrongPIN),
            .refused(.tooManyRequests), .refused(.interactionNotAllowed), .failed(.outOfMemory),
        ].contains(self)
    }

    /// Of a request that may ask no user: that nothing the user could prove would do.
    fileprivate var isBeyondProof: Bool {
        self == .refused(.authenticationFailed) || self == .refused(.forbidden)
    }
}

extension ItemName {
    /// nil for a stand-in's.
    var reference: ItemReference? {
        isStandIn ? nil : ItemReference(itemClass: .attributed, identifier: identifier)
    }
}

extension OpenedSecret {
    init(_ item: Item) {
        secret = item.secret ?? HeldSecret(SecretBytes(copying: []))
        contentType = item.attributes.text(.contentType) ?? ""
    }
}

extension ItemFacts {
    init(_ item: Item) {
        pairs = item.attributes.pairs
        label = item.attributes.text(.label) ?? ""
        created = item.attributes.seconds(.creationDate)
        modified = item.attributes.seconds(.modificationDate)
        group = item.attributes.text(.accessGroup)
    }
}

extension Attributes {
    func text(_ name: AttributeName) -> String? {
        guard case .string(let text) = self[name] else { return nil }
        return text
    }

    /// Since 1970, where items' dates begin in 2001.
    fileprivate func seconds(_ name: AttributeName) -> UInt64 {
        guard case .date(let seconds) = self[name] else { return 0 }
        return UInt64(exactly: (seconds + 978_307_200).rounded(.down)) ?? 0
    }
}

extension Attributes {
    /// The pairs by their own names.
    var asTexts: [(name: String, value: String)] {
        compactMap { name, value in
            guard let name = name.pairName, case .string(let text) = value else { return nil }
            return (name, text)
        }.sorted { $0.name < $1.name }
    }
}
