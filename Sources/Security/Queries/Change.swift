// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// The changes in the second dictionary of SecItemUpdate: attributes and the secret.
struct Change {
    private(set) var change = ItemChange()
    let secret: HeldSecret?

    init(_ dictionary: CFDictionary, of queryClass: QueryClass) throws(RequestError) {
        let parameters = try QueryParameters(changes: dictionary)
        let refused = parameters.attributes.contains {
            queryClass.rule(for: $0.name)?.update == .refused
        }
        guard !refused else { throw .invalid(.badRequest) }
        let attributes = try AttributeParameters(parameters.attributes, of: queryClass)
        guard !attributes.wantsTombstones, attributes.synchronizable != .any else {
            throw .invalid(.badRequest)
        }
        secret = try parameters.values.secret()
        if queryClass == .identities {
            // One secret can't belong to both items.
            guard secret == nil else { throw .invalid(.badRequest) }
            try attributes.attributes.refuseUnlessShared()
        }
        change.attributes = attributes.attributes.withoutComputed
        change.accessGroup = attributes.accessGroup
        change.isSynchronizable = attributes.synchronizable.map { $0 == .yes }
        change.accessControl = try attributes.rights()
        change.trust = try attributes.trusted().map(TrustChange.replace)
        change.accessible = change.accessControl == nil ? attributes.accessible : nil
    }
}
