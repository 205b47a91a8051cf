// SPDX-License-Identifier: Apache-2.0
internal import SwiftASN1

/// What a certificate says beyond the fields that all have.
struct CertificateExtensions {
    private(set) var subjectKeyIdentifier: [UInt8]?
    private(set) var emailAddresses: [String] = []
    private(set) var hostNames: [String] = []

    private static let subjectKeyIdentifierType: [UInt] = [2, 5, 29, 14]
    private static let subjectAlternativeNameType: [UInt] = [2, 5, 29, 17]
    private static let tag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)

    /// Of the fields behind the public key. nil where they are no extensions; one whose own content
    /// makes no sense says nothing.
    init?(_ fields: some Sequence<ASN1Node>) {
        guard let field = fields.first(where: { $0.identifier == Self.tag }) else { return }
        guard let list = field.children?.first?.children else { return nil }
        for item in list {
            guard let parts = item.children, let name = parts.first, let last = parts.last,
                let type = try? ASN1ObjectIdentifier(derEncoded: name),
                let value = try? ASN1OctetString(derEncoded: last)
            else { return nil }
            read(type.oidComponents, value.bytes)
        }
    }

    private mutating func read(_ type: [UInt], _ value: ArraySlice<UInt8>) {
        guard let content = try? DER.parse(value) else { return }
        if type == Self.subjectKeyIdentifierType { subjectKeyIdentifier = content.bytes }
        guard type == Self.subjectAlternativeNameType else { return }
        for name in content.children ?? [] where name.identifier.tagClass == .contextSpecific {
            guard let bytes = name.bytes, let text = String(validating: bytes, as: UTF8.self)
            else { continue }
            if name.identifier.tagNumber == 1 { emailAddresses.append(text) }
            if name.identifier.tagNumber == 2 { hostNames.append(text) }
        }
    }
}
