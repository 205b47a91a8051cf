// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import Secrets

/// The item that a dictionary describes: what SecItemAdd reads.
struct Addition {
    private(set) var item: NewItem
    let secret: HeldSecret?
    let parts: ItemQuery.Parts
    let context: AuthenticationContext?

    init(_ dictionary: CFDictionary) throws(Refusal) {
        let words = try QueryWords(dictionary)
        guard words.match.isEmpty else { throw .badRequest }
        let values = try ValueWords(words.values)
        // An item that is there already can't be added.
        guard values.item == nil else { throw .badRequest }
        let itemClass = try ItemClass(words, values)
        let attributes = try AttributeWords(words.attributes, of: itemClass)
        let use = try UseWords(words.use)
        guard use.authenticationUI != .skip, !use.hasItemList else { throw .badRequest }
        guard !attributes.wantsTombstones else { throw .badRequest }
        parts = try ItemQuery.Parts(words.returns)
        context = use.context
        secret = try values.secret()
        item = NewItem(itemClass)
        item.attributes = attributes.attributes.withoutComputed
        item.accessGroup = attributes.accessGroup
        item.isSynchronizable = attributes.synchronizable == .yes
        item.accessControl = try attributes.rights()
        item.accessible =
            item.accessControl?.protection ?? attributes.accessible ?? .whenUnlocked
        item.authenticationUI = use.authenticationUI
        item.reason = use.reason
    }
}

extension Attributes {
    /// Without what the store knows better than any caller.
    var withoutComputed: Attributes { filter { $0.key != .digest } }
}
