// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// A call that takes one request to the keychain, which is on its way. The thread that has the
/// connection sent it, goes on with other calls, and reads the answer when it comes: to hand such a
/// call to another thread costs more than to do it.
struct BegunCall: Sendable {
    let work: CallWork
    /// Readable once the answer begins to come.
    let descriptor: Int32
    /// Asked once the descriptor is readable: whether `outcome` waits for nothing.
    let isWhole: @Sendable () -> Bool
    /// nil where the work must be done as any other: the keychain has hung up, or does not know the
    /// program any more.
    let outcome: @Sendable () throws(ServiceError) -> Outcome?
}

extension CallWork {
    /// nil for what takes another number of requests, a question, or an alias that must be looked up.
    func begun() -> BegunCall? {
        switch (object, request) {
        case (.service, .searchItems(let pairs)):
            return begun(KeychainItems.searching(pairs, in: nil), in: nil) {
                answer throws(ServiceError) in
                let found = try Self.matches(answer)
                return try ServiceAnswers(scope: scope).answer(
                    pairs, KeychainItems.found(found, pairs, scope.standIns))
            }
        case (.collection(let name), .searchCollection(let pairs)):
            guard let keychain = keychain(name) else { return nil }
            return begun(KeychainItems.searching(pairs, in: keychain), in: nil) {
                answer throws(ServiceError) in
                let found = try Self.matches(answer)
                // Whether the collection is there is another question.
                guard !found.isEmpty else { return nil }
                return CollectionAnswers(scope: scope, place: .keychain(keychain)).answer(
                    KeychainItems.found(found, pairs, scope.standIns).map(\.found))
            }
        case (.item(let name, let item), .getSecret):
            guard let session, let keychain = keychain(name),
                let reading = KeychainItems.reading(item, in: keychain)
            else { return nil }
            return begun(reading, in: scope.context) { answer throws(ServiceError) in
                guard let item = try Self.items(answer).first else { throw .noSuchObject }
                return try ItemAnswers.answer(OpenedSecret(item), session)
            }
        case (.collection(let name), .createItem(let properties, let sent, let replaces)):
            // A long secret may have to wait until it is sent.
            guard let session, let keychain = keychain(name),
                sent.value.bytes.count <= Self.shortSecret,
                let new = try? NewSecretItem(properties, sent, replaces: replaces, session)
            else { return nil }
            return begun(
                KeychainItems.adding(new, to: keychain), in: scope.context, changes: true
            ) { answer throws(ServiceError) in
                CollectionAnswers(scope: scope, place: .keychain(keychain))
                    .created(new, KeychainItems.added(try Self.items(answer)))
            }
        default: return nil
        }
    }

    private static let shortSecret = 4096

    /// nil for what lies in memory, and for names that must be looked up or are refused.
    private func keychain(_ name: CollectionName) -> String? {
        guard !name.isAlias, case .keychain(let keychain)? = try? scope.place(name) else {
            return nil
        }
        return keychain
    }

    private func begun<V: Verb>(
        _ verb: V, in context: AuthenticationContext?, changes: Bool = false,
        _ outcome:
            @escaping @Sendable (Result<V.Answer, RequestError>) throws(ServiceError)
            -> Outcome?
    ) -> BegunCall? {
        let sent = scope.keychains.begin(
            verb, of: scope.peer, transfer: scope.transfer, in: context)
        return sent.map { sent in
            BegunCall(work: self, descriptor: sent.descriptor, isWhole: sent.isWhole) {
                () throws(ServiceError) -> Outcome? in
                let answer: Result<V.Answer, RequestError>
                do throws(RequestError) { answer = .success(try sent.take()) } catch {
                    // A keychain that has gone may have made a change, which must not be made twice.
                    let mayBeDone = changes && error == .failed(.notAvailable)
                    guard
                        mayBeDone
                            || error != .failed(.notAvailable) && error != .state(.noSuchPeer)
                    else { return nil }
                    answer = .failure(error)
                }
                return try outcome(answer)
            }
        }
    }

    private static func matches(
        _ answer: Result<[AttributedMatch], RequestError>
    ) throws(ServiceError) -> [AttributedMatch] {
        if case .failure(.state(.notFound)) = answer { return [] }
        return try items(answer)
    }

    private static func items<R>(
        _ answer: Result<R, RequestError>
    ) throws(ServiceError) -> R {
        switch answer {
        case .success(let found): return found
        case .failure(let error): throw ServiceError(error)
        }
    }
}
