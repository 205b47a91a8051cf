// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainModel

/// An X.509 certificate. That it could be read says nothing of whether it is to be trusted.
public final class SecCertificate: NSObject, @unchecked Sendable {
    let content: CertificateContent

    init?(_ der: [UInt8]) {
        guard let content = CertificateContent(der) else { return nil }
        self.content = content
    }

    public override var hash: Int { content.der.hashValue }
    public override func isEqual(_ other: Any?) -> Bool {
        (other as? SecCertificate)?.content.der == content.der
    }
    public override var description: String {
        "<SecCertificate: \(content.summary ?? "without a name")>"
    }
}

extension SecCertificate {
    private static let encodedAsDER: Int64 = 3

    /// By which an item of this certificate is found (docs/secitem.md, kSecClassCertificate).
    var attributes: Attributes {
        var attributes: Attributes = [
            .certificateType: .number(Int64(content.version)),
            .certificateEncoding: .number(Self.encodedAsDER),
            .serialNumber: .data(content.serialNumber),
            .publicKeyHash: .data(publicKeyHash),
        ]
        attributes[.subject] = content.subject.normalizedContent.map(AttributeValue.data)
        attributes[.issuer] = content.issuer.normalizedContent.map(AttributeValue.data)
        attributes[.subjectKeyID] = content.extensions.subjectKeyIdentifier.map(
            AttributeValue.data)
        return attributes
    }

    /// Those of a new item, which has a name too.
    var attributesOfNewItem: Attributes {
        var attributes = attributes
        attributes[.label] = content.summary.map(AttributeValue.string)
        return attributes
    }

    /// The same as the application label of the key.
    var publicKeyHash: [UInt8] { KeyLabel.of(content.publicKey.bits) }
}
