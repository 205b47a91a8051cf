// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainUserPresence
internal import KeychainVaults

/// Items of other programs that a search lists: those that let the client in, and where it found
/// nothing of the client's own, as locked those about which its user could be asked
/// (docs/design/letting-in.md).
///
/// That there are such items is told to a program that names a pair of theirs. So the search must
/// name one that says more than what kind of item it is, and meet few; and a question must be one
/// that would be put now: a program whose user said no hears what it would hear with no user there.
///
/// While the keychain is locked the search finds the same items by the index. A program that is
/// told of none makes a new secret, and from then on finds that one instead of the old.
extension KeychainService {
    /// Of more than so many a question could not be understood.
    private static let mostStrangers = 8

    /// The items of other programs of which a search tells the client. Strangers' items are left
    /// out where there are more than `mostStrangers`.
    func othersItems(
        with pairs: Attributes, in keychains: [KeychainName], withStrangers: Bool,
        _ prompts: UserPrompts
    ) -> [RankedMatch] {
        var query = ItemQuery(.attributed)
        query.attributes = pairs
        let strangers = withStrangers && pairs.nameMoreThanSchema ? Self.mostStrangers + 1 : 0
        var (told, asked): ([RankedMatch], [RankedMatch]) = ([], [])
        for name in keychains {
            // A keychain that can't be searched shows none.
            guard
                let keychain = try? folder.keychain(
                    name.description, of: prompts.client.caller.user)
            else { continue }
            for item in othersItems(query, in: keychain, prompts, strangers: strangers) {
                let match = RankedMatch(
                    keychain: name.description, order: item.order, isLocked: item.missing != nil)
                if item.isStrangers { asked.append(match) } else { told.append(match) }
            }
        }
        let items = asked.compactMap { $0.order?.reference }
        guard (1...Self.mostStrangers).contains(items.count), prompts.wouldAsk(about: items) else {
            return told
        }
        return told + asked
    }

    private func othersItems(
        _ query: ItemQuery, in keychain: OpenKeychain, _ prompts: UserPrompts, strangers: Int
    ) -> [OthersItem] {
        let caller = prompts.client.caller
        guard caller.via != nil, caller.strength != nil else { return [] }
        var query = query
        query.returnFields = .data
        return consent.othersItems(
            query, Authorization(.read(query), in: keychain, prompts, by: self),
            strangers: strangers)
    }

    /// What the client lacks before it may read another program's item; nil where no search would
    /// list the item. The client has learnt the item's name from such a search: it is 128 random
    /// bits.
    fileprivate func missing(
        of item: ItemReference, in keychain: OpenKeychain, _ prompts: UserPrompts
    ) -> OthersItem.Missing? {
        var query = ItemQuery(.attributed)
        query.references = [item]
        let found = othersItems(query, in: keychain, prompts, strangers: 1).first
        guard let found, !found.isStrangers || prompts.wouldAsk(about: [item]) else { return nil }
        return found.missing
    }

    /// Runs `body`, which changes items. A relayed program that names an item which it may know of
    /// and not change is refused, instead of being told that the item does not exist: a search
    /// listed it.
    func changing<R>(
        _ query: ItemQuery, for client: any Client, _ body: () throws(RequestError) -> R
    ) throws(RequestError) -> R {
        do throws(RequestError) { return try body() } catch {
            guard error == .state(.notFound), try mayKnow(of: query, client) else { throw error }
        }
        throw .refused(.notEntitled)
    }

    private func mayKnow(
        of query: ItemQuery, _ client: any Client
    ) throws(RequestError) -> Bool {
        guard client.caller.via != nil, query.references?.count == 1 else { return false }
        var reading = ItemQuery(.attributed)
        reading.keychain = query.keychain
        reading.references = query.references
        reading.returnFields = .attributes
        reading.authenticationUI = .fail
        do throws(RequestError) {
            _ = try copyMatching(reading, for: client) { _ in }
            return true
        } catch {
            // The lock is told before the rights.
            guard error != .state(.locked) else { throw error }
            return error != .state(.notFound)
        }
    }
}

extension Authorization {
    /// Refuses a request for one item that was not found and that a search would list as locked:
    /// the client is told what a search says of it.
    func refuseLocked(_ query: ItemQuery) throws(RequestError) {
        guard client.caller.via != nil, let item = query.references?.first,
            query.references?.count == 1
        else { return }
        switch service.missing(of: item, in: keychain, prompts) {
        case nil: return
        case .unlock: throw .state(.locked)
        case .consent, .proof:
            guard prompts.mayAsk(intent.ui) else { throw .refused(.interactionNotAllowed) }
        }
    }
}

extension Attributes {
    /// Whether an attribute besides the schema is among them, so that they may single out an item.
    var nameMoreThanSchema: Bool { keys.contains { $0 != .schema } }
}
