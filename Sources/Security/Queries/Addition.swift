// SPDX-License-Identifier: Apache-2.0
internal import KeychainCertificates
internal import KeychainEndpoints
internal import KeychainMessages
internal import KeychainModel
internal import KeychainSecrets

/// The item that a dictionary for SecItemAdd describes, or the two items of an identity.
struct Addition {
    /// One item with its secret.
    struct Part {
        var item: NewItem
        let secret: HeldSecret?
    }

    enum Target {
        case item(Part)
        case identity(SecIdentity, certificate: Part, key: Part)
    }

    let target: Target
    let returnFields: ReturnFields
    let context: CallContext?
    /// nil means the default keychain.
    let keychain: String?

    init(_ dictionary: CFDictionary) throws(RequestError) {
        let parameters = try QueryParameters(dictionary)
        guard parameters.match.isEmpty else { throw .invalid(.badRequest) }
        let (use, values) = (parameters.use, parameters.values)
        // A reference to a stored item can't be added.
        if case .password? = values.reference { throw .invalid(.badRequest) }
        let queryClass = try parameters.queryClass()
        let attributes = try AttributeParameters(parameters.attributes, of: queryClass)
        context = try use.context()
        guard use.authenticationUI != .skip, !use.hasItemList else { throw .invalid(.badRequest) }
        guard !attributes.wantsTombstones else { throw .invalid(.badRequest) }
        returnFields = parameters.returns
        keychain = use.keychain
        let given = try values.secret()
        let rights = try attributes.rights()
        let trusted = try attributes.trusted()
        func part(_ itemClass: ItemClass) -> Part {
            var item = NewItem(itemClass)
            item.keychain = use.keychain
            let rules = itemClass.attributeRules
            let own = values.reference?.attributesOfNewItem(for: itemClass) ?? [:]
            item.attributes = own.merging(attributes.attributes.withoutComputed)
                .filter { rules[$0.key] != nil }
            item.accessGroup = attributes.accessGroup
            item.isSynchronizable = attributes.synchronizable == .yes
            item.accessControl = rights
            item.trusted = trusted
            item.accessible =
                rights?.protection ?? attributes.accessible ?? itemClass.defaultAccessibility
            item.authenticationUI = use.authenticationUI
            item.reason = use.reason
            return Part(item: item, secret: given ?? values.reference?.secret(for: itemClass))
        }
        switch (queryClass, values.reference) {
        case (.items(let itemClass), _): target = .item(part(itemClass))
        case (.identities, .identity(let identity)?):
            // One secret can't belong to both items.
            guard given == nil else { throw .invalid(.badRequest) }
            target = .identity(identity, certificate: part(.certificate), key: part(.key))
        case (.identities, _): throw .invalid(.badRequest)
        }
    }
}

extension ValueReference {
    fileprivate func attributesOfNewItem(for itemClass: ItemClass) -> Attributes {
        switch (self, itemClass) {
        case (.certificate(let certificate), .certificate): certificate.attributesOfNewItem
        case (.key(let key), .key): key.attributesOfNewItem
        case (.identity(let identity), .certificate): identity.certificate.attributesOfNewItem
        case (.identity(let identity), .key): identity.privateKey.attributesOfNewItem
        default: [:]
        }
    }

    fileprivate func secret(for itemClass: ItemClass) -> HeldSecret? {
        switch (self, itemClass) {
        case (.certificate(let certificate), .certificate): certificate.secret
        case (.key(let key), .key): key.secret
        case (.identity(let identity), .certificate): identity.certificate.secret
        case (.identity(let identity), .key): identity.privateKey.secret
        default: nil
        }
    }
}

extension SecCertificate {
    fileprivate var secret: HeldSecret { HeldSecret(SecretBytes(copying: content.der)) }
}

extension Attributes {
    /// The attributes without those that the store computes.
    var withoutComputed: Attributes { filter { $0.key != .digest } }
}
