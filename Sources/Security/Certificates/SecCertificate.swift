// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainCertificates
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
    /// By which an item of this certificate is found.
    var attributes: Attributes { content.itemAttributes }
    /// Those of a new item, which has a name too.
    var attributesOfNewItem: Attributes { content.attributesOfNewItem }
    /// The same as the application label of the key.
    var publicKeyHash: [UInt8] { content.publicKeyHash }
}
