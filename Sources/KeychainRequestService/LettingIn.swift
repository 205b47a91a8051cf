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
extension KeychainService {
    /// Of more than so many a question could not be understood.
    private static let mostOthers = 8

    /// None where there are more.
    func othersItems(
        with pairs: Attributes, in keychains: [KeychainName], _ prompts: UserPrompts
    ) -> [AttributedMatch] {
        let client = prompts.client
        guard client.caller.via != nil, client.caller.strength != nil,
            pairs.keys.contains(where: { $0 != .schema })
        else { return [] }
        var query = ItemQuery(.attributed)
        query.attributes = pairs
        query.limit = Self.mostOthers + 1
        query.returnFields = .data
        var found: [AttributedMatch] = []
        for name in keychains {
            // A keychain that can't be searched shows none.
            guard let keychain = try? folder.keychain(name.description, of: client.caller.user)
            else { continue }
            let access = Authorization(.read(query), in: keychain, prompts, by: self)
            found += consent.othersItems(query, access).map { item, isOpen in
                AttributedMatch(
                    keychain: name.description, reference: item.reference, isLocked: !isOpen)
            }
            guard found.count <= Self.mostOthers else { return [] }
        }
        let locked = found.filter(\.isLocked).compactMap(\.reference)
        return locked.isEmpty || prompts.wouldAsk(about: locked)
            ? found : found.filter { !$0.isLocked }
    }
}
