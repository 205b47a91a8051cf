// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// A search for identities: certificates, and the private keys that belong to them.
struct IdentityQuery {
    var certificates: ItemQuery
    var keys: ItemQuery

    /// References in the query name certificates.
    init(_ certificates: ItemQuery, _ keys: ItemQuery) {
        self.certificates = certificates
        self.keys = keys
        self.keys.references = nil
    }

    /// Attributes that an identity has from its certificate, although keys have them too.
    private static let ofCertificate: Set<AttributeName> = [.label, .tokenID]

    /// Gives each attribute to the half that has it in an identity, and restricts the keys to
    /// private ones.
    mutating func split() {
        let ofKeys = ItemClass.key.attributeRules
        certificates.attributes = certificates.attributes.filter {
            Self.ofCertificate.contains($0.key) || ofKeys[$0.key] == nil
        }
        keys.attributes = keys.attributes.filter {
            !Self.ofCertificate.contains($0.key) && ofKeys[$0.key] != nil
        }
        keys.attributes[.isPrivate] = .number(1)
        certificates.accessible = nil
    }
}

extension Attributes {
    /// Throws for an attribute that only certificates or only keys have: a change of identities
    /// changes both.
    func refuseUnlessShared() throws(RequestError) {
        let isShared = keys.allSatisfy {
            ItemClass.certificate.attributeRules[$0] != nil
                && ItemClass.key.attributeRules[$0] != nil
        }
        guard isShared else { throw .invalid(.noSuchAttribute) }
    }
}
