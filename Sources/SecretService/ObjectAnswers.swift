// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets
internal import MessageBus

/// Answers the calls to one collection.
struct CollectionAnswers {
    let scope: Scope
    let place: Scope.Place

    private var items: any CollectionItems { scope.items(in: place) }

    func search(_ pairs: Attributes) throws(ServiceError) -> Outcome {
        let found = try items.search(pairs)
        if found.isEmpty { _ = try scope.facts(of: place) }
        return answer(found)
    }

    /// The ones that need nothing come first: there are clients that take the first.
    func answer(_ found: [FoundItem]) -> Outcome {
        let ordered = found.filter { !$0.isLocked } + found.filter(\.isLocked)
        return Outcome(
            .paths(ordered.map { place.path(of: $0.item) }),
            effects: ordered.compactMap(\.effect) + [listed(found)])
    }

    /// Those that the client may know of.
    func all() throws(ServiceError) -> [FoundItem] {
        try items.search([:]).filter { !$0.item.isStandIn }
    }

    private func listed(_ found: [FoundItem]) -> Effect {
        let items = found.lazy.map(\.item).filter { !$0.isStandIn }
        return .listed(Array(items.prefix(Limits.listedItems)), in: place)
    }

    func create(
        _ properties: ItemProperties, _ sent: SentSecret, replaces: Bool,
        _ session: TransferSession
    ) throws(ServiceError) -> Outcome {
        let new = try NewSecretItem(properties, sent, replaces: replaces, session)
        return created(new, try items.add(new))
    }

    func created(_ new: NewSecretItem, _ added: AddedItem) -> Outcome {
        let event: ItemEvent =
            added.isNew ? .created : .changed(label: new.label, pairs: new.pairs)
        let group = added.isNew ? scope.peer.group : scope.groupToTell(ofItemsIn: added.group)
        return Outcome(
            .path(place.path(of: added.item)), .path(ObjectPath.none),
            effects: [.item(added.item, event, in: place, of: group)])
    }

    func delete() throws(ServiceError) -> Outcome {
        _ = try scope.facts(of: place)
        guard try !scope.isFixed(place) else { throw .notSupported }
        guard scope.wouldAsk(.deleting(keychain: place.name)) else { throw .accessDenied }
        let task = PromptTask(work: .deleteCollection(place))
        return Outcome(.path(task.path), effects: [.offered(task)])
    }

    private func value(
        of property: ServiceProperty, _ facts: CollectionFacts, _ items: [ItemName]
    ) throws(ServiceError) -> BusValue {
        switch property {
        case .items: .paths(items.map { place.path(of: $0) })
        case .label: .text(facts.label)
        case .locked: .bool(facts.isLocked)
        case .created: .uint64(facts.created)
        case .modified: .uint64(facts.modified)
        case .collections, .attributes, .type, .version: throw .unknownProperty
        }
    }

    /// With what the client has seen by them.
    func values(
        _ properties: [ServiceProperty]
    ) throws(ServiceError) -> (values: [BusValue], seen: [Effect]) {
        let facts = try scope.facts(of: place)
        var found: [FoundItem] = []
        // A shut collection tells no items: a search for one is shown a stand-in.
        if properties.contains(.items) { found = try all() }
        let names = found.map(\.item)
        let shown = properties.contains(.items) ? names : nil
        let values = try properties.map { property throws(ServiceError) in
            try value(of: property, facts, names)
        }
        return (values, [.showed(place, items: shown), listed(found)])
    }

    func change(_ change: PropertyChange) throws(ServiceError) -> Outcome {
        guard case .label(let label) = change else { throw .unknownProperty }
        guard case .keychain(let keychain) = place else { throw .readOnly }
        guard try !scope.facts(of: place).isLocked else { throw .isLocked }
        var changed = KeychainSettingsChange()
        changed.label = label
        _ = try scope.send(ChangeSettings(keychain: keychain, changed))
        return Outcome(effects: [.collection(place, .labelled(label))])
    }
}

/// Answers the calls to one item.
struct ItemAnswers {
    let scope: Scope
    let place: Scope.Place
    let item: ItemName

    private var items: any CollectionItems { scope.items(in: place) }

    func secret(_ session: TransferSession, asking: Bool) throws(ServiceError) -> Outcome {
        try Self.answer(items.secret(of: item, asking: asking), session)
    }

    static func answer(
        _ opened: OpenedSecret, _ session: TransferSession
    ) throws(ServiceError) -> Outcome {
        Outcome(try session.sent(opened.secret, opened.contentType))
    }

    func setSecret(_ sent: SentSecret, _ session: TransferSession) throws(ServiceError) -> Outcome {
        let change = SecretItemChange(
            secret: try session.received(sent), contentType: sent.contentType)
        let group = scope.groupToTell(of: item, in: place)
        try items.change(item, change)
        return Outcome(effects: [.item(item, .changed, in: place, of: group)])
    }

    func delete() throws(ServiceError) -> Outcome {
        do throws(ServiceError) {
            // The keychain would delete an item that it can't read.
            guard let facts = try items.facts(of: item) else { throw .isLocked }
            try items.delete(item, asking: false)
            let group = scope.groupToTell(ofItemsIn: facts.group)
            return Outcome(
                .path(ObjectPath.none), effects: [.item(item, .deleted, in: place, of: group)])
        } catch {
            // In an open collection it is a proof that is missing.
            guard error == .isLocked, try !scope.facts(of: place).isLocked,
                scope.wouldAsk(.items([item].compactMap(\.reference)))
            else { throw error }
        }
        let task = PromptTask(work: .deleteItem(item, in: place))
        return Outcome(.path(task.path), effects: [.offered(task)])
    }

    func values(_ properties: [ServiceProperty]) throws(ServiceError) -> [BusValue] {
        let found = try items.facts(of: item)
        let facts = found ?? .unreadable
        return try properties.map { property throws(ServiceError) in
            switch property {
            case .locked: .bool(try items.isLocked(item, found))
            case .attributes: .texts(facts.pairs.asTexts)
            case .label: .text(facts.label)
            case .type: .text(facts.type)
            case .created: .uint64(facts.created)
            case .modified: .uint64(facts.modified)
            case .collections, .items, .version: throw .unknownProperty
            }
        }
    }

    func change(_ change: PropertyChange) throws(ServiceError) -> Outcome {
        var changed = SecretItemChange()
        switch change {
        case .label(let label): changed.label = label
        case .pairs(let pairs): changed.pairs = pairs
        case .type(let type):
            guard let facts = try items.facts(of: item) else { throw .isLocked }
            var pairs = facts.pairs
            pairs[.schema] = type.isEmpty ? nil : .string(type)
            changed.pairs = pairs
        }
        let group = scope.groupToTell(of: item, in: place)
        try items.change(item, changed)
        let event = ItemEvent.changed(label: changed.label, pairs: changed.pairs)
        return Outcome(effects: [.item(item, event, in: place, of: group)])
    }
}
