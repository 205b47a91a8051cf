// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import MessageBus

/// What is told of changes: of collections to all that listen, of items to the programs that may know
/// of them and have looked.
extension Bridge {
    func tell(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .opened, .offered, .showed, .listed, .stood: continue
            case .collection(let place, let event): tell(place, event)
            case .item(let item, let event, let place, let group):
                tell(item, event, place, toGroup: group)
            }
        }
    }

    func tell(
        _ item: ItemName, _ event: ItemEvent, _ place: Scope.Place, toGroup group: String?
    ) {
        for other in peers.values where other.watched.contains(place) && other.owns(group) {
            tell(item, event, place, to: other)
        }
        switch event {
        case .created, .deleted: tellItems(in: place)
        case .changed, .locked: break
        }
    }

    func tell(_ place: Scope.Place, _ event: CollectionEvent) {
        let path = BusValue.path(place.path)
        switch event {
        case .created: signal(ObjectPath.root, .service, "CollectionCreated", [path])
        case .deleted:
            toldLocks[place] = nil
            signal(ObjectPath.root, .service, "CollectionDeleted", [path])
        case .replaced:
            signal(ObjectPath.root, .service, "CollectionChanged", [path])
            tellItems(in: place)
        case .locked(let isLocked):
            // The keychain tells of it once more, where it tells of changes.
            let told = toldLocks.updateValue(isLocked, forKey: place)
            guard told != isLocked || !keychains.tellsPeersApart else { return }
            changed(place, .locked, .bool(isLocked))
            tellItems(of: place, areLocked: isLocked)
            if !isLocked { tellItems(in: place) }
        case .labelled(let label): changed(place, .label, .text(label))
        }
    }

    private func changed(_ place: Scope.Place, _ property: ServiceProperty, _ value: BusValue) {
        signal(
            place.path, .properties, "PropertiesChanged",
            changes(of: .collection, [(property, value)]))
        signal(ObjectPath.root, .service, "CollectionChanged", [.path(place.path)])
    }

    /// The items of the collection that a program was shown last. Of an open collection's it may have
    /// to prove something still.
    private func tellItems(of place: Scope.Place, areLocked: Bool) {
        for peer in peers.values where peer.watched.contains(place) {
            for listed in peer.listed where listed.place == place {
                tell(listed.item, areLocked ? .locked(true) : .changed, place, to: peer)
            }
        }
    }

    private func changes(
        of interface: Names.Interface, _ values: [(property: ServiceProperty, value: BusValue)]
    ) -> [BusValue] {
        [
            .text(interface.rawValue),
            .properties(values.map { ($0.rawValue, $0.signature, $1) }),
            .array(of: "s", []),
        ]
    }

    private func tell(_ item: ItemName, _ event: ItemEvent, _ place: Scope.Place, to peer: Peer) {
        let path = place.path(of: item)
        tell(made(place.path, .collection, event.member, [.path(path)], to: peer.name), peer)
        // A client reads the rest again: a value that is not there would be none to it.
        let values = event.properties
        guard !values.isEmpty else { return }
        tell(
            made(
                path, .properties, "PropertiesChanged", changes(of: .item, values),
                to: peer.name), peer)
    }

    /// A client that waits for the end of its prompt may take any signal for that.
    private func tell(_ message: BusMessage?, _ peer: Peer) {
        guard let message else { return }
        guard peer.isPrompting else { return _ = bus.send(message) }
        if heldSignals.take(besides: peer.held.count) { peer.held.append(message) }
    }

    /// Sends what waited, once no prompt is open any more.
    func sendHeld(to peer: Peer) {
        guard !peer.isPrompting else { return }
        for message in peer.held { bus.send(message) }
        dropHeld(of: peer)
        tellItems(to: peer)
    }

    func dropHeld(of peer: Peer) {
        heldSignals.release(peer.held.count)
        peer.held = []
    }

    func signal(
        _ path: String, _ interface: Names.Interface, _ member: String, _ values: [BusValue],
        to destination: String? = nil
    ) {
        guard let message = made(path, interface, member, values, to: destination) else { return }
        bus.send(message)
    }

    private func made(
        _ path: String, _ interface: Names.Interface, _ member: String, _ values: [BusValue],
        to destination: String?
    ) -> BusMessage? {
        let message = bus.signal(path, interface.rawValue, member, to: destination)
        guard let message, values.allSatisfy(message.append) else { return nil }
        return message
    }
}

/// The property `Items`: by its value alone clients of libsecret learn what came and went.
extension Bridge {
    /// Of each program that has asked for it: what it may know of is the keychain's word, and items that
    /// other programs let it into are in no group of its own.
    private func tellItems(in place: Scope.Place) {
        changed[place] = nextNumber()
        for peer in peers.values { tellItems(in: place, to: peer) }
    }

    /// Of all collections in which something changed since it was sent theirs.
    func tellItems(to peer: Peer) {
        for place in peer.shown.keys { tellItems(in: place, to: peer) }
    }

    /// With a pace, and not while a prompt of the program's stands: its client may wait for `Completed`.
    private func tellItems(in place: Scope.Place, to peer: Peer) {
        guard let shown = peer.shown[place], !shown.isBeingRead, !peer.isPrompting,
            shown.moment < changed[place] ?? 0
        else { return }
        peer.shown[place]?.isBeingRead = true
        guard shown.next > .now else { return readItems(in: place, for: peer) }
        after(shown.next) { [weak peer] in
            guard let peer else { return }
            self.readItems(in: place, for: peer)
        }
    }

    private func readItems(in place: Scope.Place, for peer: Peer) {
        guard case .known(let introduced) = peer.state, peers[peer.name] === peer,
            !peer.isPrompting
        else {
            peer.shown[place]?.isBeingRead = false
            return
        }
        let answers = CollectionAnswers(
            scope: scope(of: peer, as: introduced, nil, Cancellation()), place: place)
        let (name, serial, inbox, moment) = (peer.name, peer.serial, inbox, lastNumber)
        listing.submit {
            let items = (try? answers.all())?.map(\.item)
            inbox.post { $0.hasRead(items, in: place, for: name, serial, asOf: moment) }
        }
    }

    /// nil for items that can't be told now: then the program keeps what it knows.
    private func hasRead(
        _ items: [ItemName]?, in place: Scope.Place, for name: String, _ serial: UInt64,
        asOf moment: UInt64
    ) {
        guard let peer = peers[name], peer.serial == serial, var shown = peer.shown[place] else {
            return
        }
        shown.isBeingRead = false
        shown.next = .now + Limits.betweenItems
        peer.shown[place] = shown
        // An answer may have shown a later list meanwhile, or a prompt have begun: its end tells.
        if shown.moment <= moment, !peer.isPrompting {
            show(items, in: place, to: peer, asOf: moment)
        }
        tellItems(in: place, to: peer)
    }

    private func show(
        _ items: [ItemName]?, in place: Scope.Place, to peer: Peer, asOf moment: UInt64
    ) {
        guard let items else {
            peer.shown[place]?.moment = moment
            return
        }
        let known = peer.shown[place]?.items
        peer.show(items, in: place, asOf: moment)
        guard let hash = ShownItems.hash(items), hash != known else { return }
        let paths = BusValue.paths(items.map { place.path(of: $0) })
        signal(
            place.path, .properties, "PropertiesChanged",
            changes(of: .collection, [(.items, paths)]), to: peer.name)
    }
}

extension ItemEvent {
    /// The properties whose values are known after it.
    fileprivate var properties: [(property: ServiceProperty, value: BusValue)] {
        switch self {
        case .created, .deleted: return []
        case .locked(let isLocked): return [(.locked, .bool(isLocked))]
        case .changed(let label, let pairs):
            var values: [(property: ServiceProperty, value: BusValue)] = []
            if let label { values.append((.label, .text(label))) }
            if let pairs {
                values.append((.attributes, .texts(pairs.asTexts)))
                values.append((.type, .text(pairs.text(.schema) ?? "")))
            }
            return values
        }
    }
}
