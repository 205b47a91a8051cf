// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension CertificateContent {
    private static let encodedAsDER: Int64 = 3

    /// The attributes by which an item of this certificate is found (docs/secitem.md,
    /// kSecClassCertificate).
    package var itemAttributes: Attributes {
        var attributes: Attributes = [
            .certificateType: .number(Int64(version)),
            .certificateEncoding: .number(Self.encodedAsDER),
            .serialNumber: .data(serialNumber),
            .publicKeyHash: .data(publicKeyHash),
        ]
        attributes[.subject] = subject.normalizedContent.map(AttributeValue.data)
        attributes[.issuer] = issuer.normalizedContent.map(AttributeValue.data)
        attributes[.subjectKeyID] = extensions.subjectKeyIdentifier.map(AttributeValue.data)
        return attributes
    }

    /// The attributes of a new item, which also has a name.
    package var attributesOfNewItem: Attributes {
        var attributes = itemAttributes
        attributes[.label] = summary.map(AttributeValue.string)
        return attributes
    }

    /// The same as the application label of the key.
    package var publicKeyHash: [UInt8] { KeyLabel.of(publicKey.bits) }
}
