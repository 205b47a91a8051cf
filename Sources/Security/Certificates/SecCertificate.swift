// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// An X.509 certificate. That it could be read does not mean that it can be trusted.
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
    /// The attributes by which an item of this certificate is found.
    var attributes: Attributes { content.itemAttributes }
    /// The attributes of a new item, which include a label.
    var attributesOfNewItem: Attributes { content.attributesOfNewItem }
    /// The hash of the public key, which is also the key's application label.
    var publicKeyHash: [UInt8] { content.publicKeyHash }
}
