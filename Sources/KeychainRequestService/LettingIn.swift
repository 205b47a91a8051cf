// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel
internal import KeychainUserPresence
internal import KeychainVaults

/// Items of other programs that a search lists which found nothing of the client's own: those that let
/// the client in, and as locked those about which its user could be asked (docs/design/proofs.md,
/// Letting in).
///
/// That there are such items is told to a program that names a pair of theirs. So the search must name
/// one that says more than what kind of item it is, and meet few; and a question must be one that would
/// be put now: a program whose user said no hears what it would hear with no user there.
///
/// While the keychain is locked the index tells the same items: a program that hears of none makes a new
/// secret, and does not find the old one any more.
extension KeychainService {
    /// Of more than so many a question could not be understood.
    private static let mostStrangers = 8

    /// Strangers' are none where there are more.
    func othersItems(
        with pairs: Attributes, in keychains: [KeychainName], _ prompts: UserPrompts
    ) -> [RankedMatch] {
        var query = ItemQuery(.attributed)
        query.attributes = pairs
        let strangers = pairs.nameMoreThanSchema ? Self.mostStrangers + 1 : 0
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

    /// What is missing before the client may read the item of another program's, where a search would
    /// list it: who names it has it from one.
    fileprivate func missing(
        of item: ItemReference, in keychain: OpenKeychain, _ prompts: UserPrompts
    ) -> OthersItem.Missing? {
        var query = ItemQuery(.attributed)
        query.references = [item]
        let found = othersItems(query, in: keychain, prompts, strangers: 1).first
        guard let found, !found.isStrangers || prompts.wouldAsk(about: [item]) else { return nil }
        return found.missing
    }

    /// Does what changes items. A program of a deputy's that names an item which it may know of, and
    /// not change, is refused: what a search listed is not missing all at once.
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
            // Before the rights comes the lock.
            guard error != .state(.locked) else { throw error }
            return error != .state(.notFound)
        }
    }
}

extension Authorization {
    /// Of an item that was not found, and that a search would list as locked, the client hears that it
    /// is locked.
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
    /// Whether one of them says more of an item than what kind it is.
    var nameMoreThanSchema: Bool { keys.contains { $0 != .schema } }
}
