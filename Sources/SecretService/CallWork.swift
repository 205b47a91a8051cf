// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets
internal import MessageBus

/// A call as another thread does it, away from the bus.
struct CallWork: Sendable {
    let scope: Scope
    let object: ObjectPath
    let request: ServiceRequest
    /// The one that the call names; nil where the client has no such session.
    let session: TransferSession?

    /// `asking` lets the user be asked, which may take minutes.
    func outcome(asking: Bool) throws(ServiceError) -> Outcome {
        switch object {
        case .service: try ofService(asking: asking)
        case .collection(let name): try ofCollection(name)
        case .item(let collection, let item): try ofItem(collection, item, asking: asking)
        case .folder(let folder): try ofFolder(folder)
        // Answered by the thread that has the connection.
        case .session, .prompt, .portal, .portalRequest: throw .unknownMethod
        }
    }

    private func ofFolder(_ folder: ObjectPath.Folder) throws(ServiceError) -> Outcome {
        guard case .introspect = request else { throw .unknownMethod }
        return introspected(
            folder == .collection
                ? try scope.collections().map(\.place.element) : try scope.aliases())
    }

    private func ofService(asking: Bool) throws(ServiceError) -> Outcome {
        let answers = ServiceAnswers(scope: scope)
        switch request {
        case .openSession(let algorithm, let input):
            return try answers.openSession(algorithm, input)
        case .createCollection(let label, let alias):
            return try answers.createCollection(label: label, alias: alias)
        case .searchItems(let pairs): return try answers.search(pairs)
        case .unlock(let paths): return try answers.unlock(paths)
        case .lock(let paths): return try answers.lock(paths)
        case .getSecrets(let paths, _): return try answers.secrets(paths, named())
        case .readAlias(let alias): return try answers.readAlias(alias)
        case .setAlias(let alias, let path):
            return try answers.setAlias(alias, path, asking: asking)
        default:
            return try ofProperties { properties throws(ServiceError) in
                let paths = try scope.collections().map(\.place.path)
                return properties.map { _ in .paths(paths) }
            }
        }
    }

    private func ofCollection(_ name: CollectionName) throws(ServiceError) -> Outcome {
        let answers = CollectionAnswers(scope: scope, place: try scope.place(name))
        switch request {
        case .deleteCollection: return try answers.delete()
        case .searchCollection(let pairs): return try answers.search(pairs)
        case .createItem(let properties, let sent, let replaces):
            // A path that is not there is told before a session that is not.
            if session == nil { _ = try scope.facts(of: answers.place) }
            return try answers.create(properties, sent, replaces: replaces, named())
        case .set(let change): return try answers.change(change)
        case .introspect:
            _ = try scope.facts(of: answers.place)
            return introspected([])
        default:
            var effects: [Effect] = []
            var outcome = try ofProperties { properties throws(ServiceError) in
                let (values, seen) = try answers.values(properties)
                effects = seen
                return values
            }
            outcome.effects = effects
            return outcome
        }
    }

    private func ofItem(
        _ collection: CollectionName, _ item: ItemName, asking: Bool
    ) throws(ServiceError) -> Outcome {
        let answers = ItemAnswers(scope: scope, place: try scope.place(collection), item: item)
        switch request {
        case .deleteItem: return try answers.delete()
        case .getSecret:
            if session == nil { _ = try answers.values([]) }
            return try answers.secret(named(), asking: asking)
        case .setSecret(let sent):
            if session == nil { _ = try answers.values([]) }
            return try answers.setSecret(sent, named())
        case .set(let change): return try answers.change(change)
        case .introspect:
            _ = try answers.values([])
            return introspected([])
        default:
            var outcome = try ofProperties { properties throws(ServiceError) in
                try answers.values(properties)
            }
            outcome.effects = [.showed(answers.place, items: nil)]
            return outcome
        }
    }

    private func named() throws(ServiceError) -> TransferSession {
        guard let session else { throw .noSession }
        return session
    }

    private func introspected(_ children: [String]) -> Outcome {
        Outcome(.text(Introspection.document(of: object, children: children)))
    }

    private func ofProperties(
        _ values: ([ServiceProperty]) throws(ServiceError) -> [BusValue]
    ) throws(ServiceError) -> Outcome {
        switch request {
        case .get(let property):
            guard let value = try values([property]).first else { throw .unknownProperty }
            return Outcome(.variant(of: property.signature, value))
        case .getAll(let properties):
            let found = zip(properties, try values(properties))
            return Outcome(.properties(found.map { ($0.rawValue, $0.signature, $1) }))
        default: throw .unknownMethod
        }
    }
}

extension ServiceRequest {
    /// The session that a call names.
    var session: String? {
        switch self {
        case .getSecrets(_, let session), .getSecret(let session): session
        case .createItem(_, let sent, _), .setSecret(let sent): sent.session
        default: nil
        }
    }

    /// Whether it may be done once more while the user is asked.
    var mayAsk: Bool {
        switch self {
        case .getSecret, .setAlias: true
        default: false
        }
    }

    /// What a client hears whose user took too long.
    var unanswered: ServiceError {
        switch self {
        case .getSecret: .isLocked
        case .setAlias: .accessDenied
        default: .failed
        }
    }

    /// What of descriptors comes with it.
    var attached: AttachedDescriptors {
        if case .retrieveSecret = self { .one } else { .none }
    }
}
