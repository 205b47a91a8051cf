// SPDX-License-Identifier: Apache-2.0
internal import MessageBus

/// What is told of changes: of collections to all that listen, of items to the programs that may know
/// of them and have looked.
extension Bridge {
    /// The program that changed it may have gone: what counts is its group.
    func tell(_ effects: [Effect], by changer: IntroducedPeer) {
        for effect in effects { tell(effect, by: changer) }
    }

    private func tell(_ effect: Effect, by changer: IntroducedPeer) {
        switch effect {
        case .opened, .offered, .showed, .stood: return
        case .collection(let place, let event): tell(place, event)
        case .item(let item, let event, let place):
            for other in peers.values where other.watched.contains(place) {
                guard case .known(let told) = other.state, told.group == changer.group else {
                    continue
                }
                tell(item, event, place, to: other)
            }
        }
    }

    private func tell(_ place: Scope.Place, _ event: CollectionEvent) {
        let path = BusValue.path(place.path)
        switch event {
        case .created: signal(ObjectPath.root, .service, "CollectionCreated", [path])
        case .locked(let isLocked): changed(place, .locked, .bool(isLocked))
        case .labelled(let label): changed(place, .label, .text(label))
        }
    }

    private func changed(_ place: Scope.Place, _ property: ServiceProperty, _ value: BusValue) {
        signal(
            place.path, .properties, "PropertiesChanged",
            [
                .text(Names.Interface.collection.rawValue),
                .properties([(property.rawValue, property.signature, value)]),
                .array(of: "s", []),
            ])
        signal(ObjectPath.root, .service, "CollectionChanged", [.path(place.path)])
    }

    private func tell(_ item: ItemName, _ event: ItemEvent, _ place: Scope.Place, to peer: Peer) {
        let path = place.path(of: item)
        guard
            let message = made(
                place.path, .collection, event.rawValue, [.path(path)], to: peer.name)
        else { return }
        // A client that waits for the end of its prompt may take any signal for that.
        guard !peer.isPrompting else { return hold(message, for: peer) }
        bus.send(message)
    }

    private func hold(_ message: BusMessage, for peer: Peer) {
        guard peer.held.count < Limits.callsOfPeer else { return }
        peer.held.append(message)
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
