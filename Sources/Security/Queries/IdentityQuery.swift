// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel

/// A search for identities: certificates, and the private keys that belong to them.
struct IdentityQuery {
    var certificates: ItemQuery
    var keys: ItemQuery

    /// References name certificates.
    init(_ certificates: ItemQuery, _ keys: ItemQuery) {
        self.certificates = certificates
        self.keys = keys
        self.keys.references = nil
    }

    /// What an identity has of its certificate, although keys have it too.
    private static let ofCertificate: Set<AttributeName> = [.label, .tokenID]

    /// Leaves each attribute with the half that has it in an identity, and the keys with the private
    /// ones.
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
    /// Where identities are changed or deleted, certificates and keys both are.
    func refuseUnlessShared() throws(RequestError) {
        let isShared = keys.allSatisfy {
            ItemClass.certificate.attributeRules[$0] != nil
                && ItemClass.key.attributeRules[$0] != nil
        }
        guard isShared else { throw .invalid(.noSuchAttribute) }
    }
}
