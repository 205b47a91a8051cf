// SPDX-License-Identifier: Apache-2.0
internal import SwiftASN1

/// The extensions of a certificate.
package struct CertificateExtensions {
    package private(set) var subjectKeyIdentifier: [UInt8]?
    package private(set) var emailAddresses: [String] = []
    package private(set) var hostNames: [String] = []
    /// Whether it is an issuer's certificate, and the most certificates below it.
    private(set) var isAuthority = false
    private(set) var mostBelow: Int?
    /// nil where the key may be used for anything.
    private(set) var keyUsage: [UInt8]?
    private(set) var purposes: [[UInt]]?
    /// Whether there is a critical extension that is unknown here.
    package private(set) var hasUnknownCritical = false

    package enum Purpose: UInt8, Sendable {
        case serverAuthentication = 1
        case clientAuthentication = 2
        case codeSigning = 3
        case emailProtection = 4
        case ipsec = 5
        case eap = 6
    }

    private static let basicConstraintsType: [UInt] = [2, 5, 29, 19]
    private static let keyUsageType: [UInt] = [2, 5, 29, 15]
    private static let purposesType: [UInt] = [2, 5, 29, 37]
    private static let anyPurpose: [UInt] = [2, 5, 29, 37, 0]
    private static let subjectKeyIdentifierType: [UInt] = [2, 5, 29, 14]
    private static let subjectAlternativeNameType: [UInt] = [2, 5, 29, 17]
    private static let tag = ASN1Identifier(tagWithNumber: 3, tagClass: .contextSpecific)

    /// Reads the fields after the public key. nil where they are no extensions; an extension whose
    /// own content makes no sense is ignored.
    init?(_ fields: some Sequence<ASN1Node>) {
        guard let field = fields.first(where: { $0.identifier == Self.tag }) else { return }
        guard let list = field.children?.first?.children else { return nil }
        for item in list {
            guard let parts = item.children, let name = parts.first, let last = parts.last,
                let type = try? ASN1ObjectIdentifier(derEncoded: name),
                let value = try? ASN1OctetString(derEncoded: last)
            else { return nil }
            let isCritical = parts.count == 3 && (try? Bool(derEncoded: parts[1])) == true
            read(type.oidComponents, value.bytes, isCritical: isCritical)
        }
    }

    private mutating func read(
        _ type: [UInt], _ value: ArraySlice<UInt8>, isCritical: Bool
    ) {
        guard let content = try? DER.parse(value) else {
            hasUnknownCritical = hasUnknownCritical || isCritical
            return
        }
        switch type {
        case Self.basicConstraintsType: readBasicConstraints(content)
        case Self.keyUsageType:
            keyUsage = (try? ASN1BitString(derEncoded: content)).map { Array($0.bytes) } ?? []
        case Self.purposesType:
            purposes = (content.children ?? []).compactMap {
                try? ASN1ObjectIdentifier(derEncoded: $0).oidComponents
            }
        case Self.subjectKeyIdentifierType, Self.subjectAlternativeNameType: break
        default: hasUnknownCritical = hasUnknownCritical || isCritical
        }
        if type == Self.subjectKeyIdentifierType { subjectKeyIdentifier = content.bytes }
        guard type == Self.subjectAlternativeNameType else { return }
        for name in content.children ?? [] where name.identifier.tagClass == .contextSpecific {
            guard let bytes = name.bytes, let text = String(validating: bytes, as: UTF8.self)
            else { continue }
            if name.identifier.tagNumber == 1 { emailAddresses.append(text) }
            if name.identifier.tagNumber == 2 { hostNames.append(text) }
        }
    }

    private mutating func readBasicConstraints(_ content: ASN1Node) {
        for part in content.children ?? [] {
            if let isAuthority = try? Bool(derEncoded: part) { self.isAuthority = isAuthority }
            if let most = try? Int(derEncoded: part) { mostBelow = most }
        }
    }

    /// Whether its key may sign a certificate that has `count` more below it.
    package func maySignCertificates(above count: Int) -> Bool {
        let signsCertificates: UInt8 = 0x04
        return isAuthority && mostBelow.map { count <= $0 } ?? true
            && keyUsage.map { ($0.first ?? 0) & signsCertificates != 0 } ?? true
    }

    package func allowsPurpose(_ purpose: Purpose) -> Bool {
        let named: [[UInt]] =
            switch purpose {
            case .serverAuthentication: [Self.keyPurpose(1)]
            case .clientAuthentication: [Self.keyPurpose(2)]
            case .codeSigning: [Self.keyPurpose(3)]
            case .emailProtection: [Self.keyPurpose(4)]
            case .ipsec: [Self.keyPurpose(17)]
            case .eap: [Self.keyPurpose(13), Self.keyPurpose(14)]
            }
        return purposes.map { $0.contains(Self.anyPurpose) || $0.contains(where: named.contains) }
            ?? true
    }

    private static func keyPurpose(_ number: UInt) -> [UInt] { [1, 3, 6, 1, 5, 5, 7, 3, number] }
}
