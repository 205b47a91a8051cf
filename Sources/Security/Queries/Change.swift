// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Secrets

/// What the second dictionary of SecItemUpdate changes: attributes and the secret, nothing else.
struct Change {
    private(set) var change = ItemChange()
    let secret: HeldSecret?

    init(_ dictionary: CFDictionary, of itemClass: ItemClass) throws(Refusal) {
        let words = try QueryWords(changes: dictionary)
        let refused = words.attributes.keys.contains {
            itemClass.attributeRules[$0]?.update == .refused
        }
        guard !refused else { throw .badRequest }
        let attributes = try AttributeWords(words.attributes, of: itemClass)
        guard !attributes.wantsTombstones, attributes.synchronizable != .any else {
            throw .badRequest
        }
        secret = try ValueWords(words.values).secret()
        change.attributes = attributes.attributes.withoutComputed
        change.accessGroup = attributes.accessGroup
        change.isSynchronizable = attributes.synchronizable.map { $0 == .yes }
        change.accessControl = try attributes.rights()
        change.accessible = change.accessControl == nil ? attributes.accessible : nil
    }
}
