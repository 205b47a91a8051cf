// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// The secret of one application: made at random when it is asked for first, and the same ever after.
/// The application encrypts with it what it keeps in files of its own.
struct PortalSecret {
    /// Tries of a request that another one is in the way of.
    private static let mostTurns = 4

    let application: PortalApplication
    /// The keychains as the application may use them.
    let endpoint: any KeychainEndpoint
    let context: AuthenticationContext
    let cancellation: Cancellation

    func value() throws(RequestError) -> HeldSecret {
        for _ in 0..<Self.mostTurns {
            if let kept = try kept() { return kept }
            do throws(RequestError) { return try made() } catch {
                // Another request has made it meanwhile.
                guard error == .state(.duplicate) else { throw error }
            }
        }
        throw .state(.duplicate)
    }

    /// The one that a keychain of the user's has. A keychain that can't tell is opened first: an
    /// application that gets another secret can't read its files any more.
    private func kept() throws(RequestError) -> HeldSecret? {
        for match in try found() {
            if match.reference == nil { try unlock(match.keychain) }
            let open = match.reference == nil ? try found(in: match.keychain) : [match]
            for item in open.compactMap(\.reference) {
                if let secret = try secret(of: item, in: match.keychain) { return secret }
            }
        }
        return nil
    }

    private func found(in keychain: String? = nil) throws(RequestError) -> [AttributedMatch] {
        let pairs: Attributes = [PortalApplication.nameOfApplication: .string(application.name)]
        do throws(RequestError) {
            return try send(FindAttributed(keychain: keychain, pairs: pairs))
        } catch {
            guard error == .state(.notFound) else { throw error }
            return []
        }
    }

    /// nil for an item of another's, which any program can give the same attributes.
    private func secret(
        of item: ItemReference, in keychain: String
    ) throws(RequestError) -> HeldSecret? {
        var query = ItemQuery(.attributed)
        query.keychain = keychain
        query.references = [item]
        query.accessGroup = application.identifier
        query.returnFields = [.data]
        do throws(RequestError) {
            return try opening(keychain) { () throws(RequestError) in
                try send(CopyMatching(query)).first?.secret
            }
        } catch {
            guard error == .state(.notFound) else { throw error }
            return nil
        }
    }

    private func made() throws(RequestError) -> HeldSecret {
        var item = NewItem(.attributed)
        item.attributes = [
            PortalApplication.nameOfApplication: .string(application.name),
            .schema: .string(PortalApplication.schema),
            .label: .string("Secret of \(application.name)"),
        ]
        item.whenSame = .refuse
        let secret = HeldSecret(SecretBytes(random: PortalApplication.secretBytes))
        let add = Add(item, secret: secret, returning: [])
        _ = try opening(nil) { () throws(RequestError) in try send(add) }
        return secret
    }

    /// Does it once more where the keychain was locked and its user opens it; nil is the default one.
    private func opening<R>(
        _ keychain: String?, _ work: () throws(RequestError) -> R
    ) throws(RequestError) -> R {
        do throws(RequestError) { return try work() } catch {
            guard error == .state(.locked) else { throw error }
        }
        if let keychain {
            try unlock(keychain)
        } else if let keychain = try send(Preferences(nil)).defaultKeychain {
            try unlock(keychain.description)
        }
        return try work()
    }

    private func unlock(_ keychain: String) throws(RequestError) {
        _ = try send(Unlock(keychain: keychain, password: nil))
    }

    private func send<V: Verb>(_ verb: V) throws(RequestError) -> V.Answer {
        try endpoint.send(verb, in: context, cancellation: cancellation)
    }
}
