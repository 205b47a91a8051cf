// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials
internal import SwiftASN1

/// The content of an X.509 certificate (RFC 5280). Its claims are not checked here.
package struct CertificateContent {
    package let der: [UInt8]
    /// 1, 2 or 3.
    package let version: Int
    /// The number as it is encoded, with a zero before a high bit.
    package let serialNumber: [UInt8]
    package let issuer: DistinguishedName
    package let subject: DistinguishedName
    /// nil where it can't be read as a date.
    package let notBefore: Date?
    package let notAfter: Date?
    package let publicKey: SubjectPublicKey
    package let extensions: CertificateExtensions
    /// The signed bytes, the algorithm, and the signature.
    let signed: [UInt8]
    let signatureAlgorithm: [UInt]
    let signature: [UInt8]

    /// nil for bytes that are not exactly one certificate.
    package init?(_ der: [UInt8]) {
        guard let root = try? DER.parse(der), root.identifier == .sequence,
            let parts = root.children, parts.count == 3, parts[2].identifier == .bitString,
            parts[0].identifier == .sequence, var fields = parts[0].children?[...]
        else { return nil }
        version = Self.version(&fields)
        guard fields.count >= 6, (1...3).contains(version),
            fields[fields.startIndex].identifier == .integer,
            let serialNumber = fields.popFirst()?.bytes, !serialNumber.isEmpty,
            fields.popFirst()?.identifier == .sequence,
            let issuer = fields.popFirst().flatMap(DistinguishedName.init),
            let validity = fields.popFirst()?.children, validity.count == 2,
            let subject = fields.popFirst().flatMap(DistinguishedName.init),
            let publicKey = fields.popFirst().flatMap(SubjectPublicKey.init),
            let extensions = CertificateExtensions(fields),
            let algorithm = parts[1].children?.first,
            let signatureType = try? ASN1ObjectIdentifier(derEncoded: algorithm),
            let signature = try? ASN1BitString(derEncoded: parts[2])
        else { return nil }
        self.der = der
        signed = Array(parts[0].encodedBytes)
        signatureAlgorithm = signatureType.oidComponents
        self.signature = Array(signature.bytes)
        self.serialNumber = serialNumber
        self.issuer = issuer
        self.subject = subject
        notBefore = Date(validity[0])
        notAfter = Date(validity[1])
        self.publicKey = publicKey
        self.extensions = extensions
    }

    /// The version in the first field, if there is one; 0 for a senseless one.
    private static func version(_ fields: inout ArraySlice<ASN1Node>) -> Int {
        let tag = ASN1Identifier(tagWithNumber: 0, tagClass: .contextSpecific)
        guard fields.first?.identifier == tag else { return 1 }
        guard let bytes = fields.popFirst()?.children?.first?.bytes, bytes.count == 1 else {
            return 0
        }
        return Int(bytes[0]) + 1
    }

    /// The name of its person or machine: the common name, or else the next most telling one.
    package var summary: String? {
        subject.texts(of: DistinguishedName.commonName).last
            ?? subject.texts(of: DistinguishedName.organizationalUnit).last
            ?? subject.texts(of: DistinguishedName.organization).last
            ?? emailAddresses.first ?? extensions.hostNames.first
    }

    package var emailAddresses: [String] {
        extensions.emailAddresses + subject.texts(of: DistinguishedName.emailAddress)
    }

    /// Certificates without two dates that differ are never valid.
    package func isValid(on date: Date) -> Bool {
        guard let notBefore, let notAfter, notBefore != notAfter else { return false }
        return notBefore <= date && date <= notAfter
    }
}

extension Date {
    fileprivate init?(_ node: ASN1Node) {
        var parts = DateComponents()
        if let time = try? UTCTime(derEncoded: node) {
            (parts.year, parts.month, parts.day) = (time.year, time.month, time.day)
            (parts.hour, parts.minute, parts.second) = (time.hours, time.minutes, time.seconds)
        } else if let time = try? GeneralizedTime(derEncoded: node) {
            (parts.year, parts.month, parts.day) = (time.year, time.month, time.day)
            (parts.hour, parts.minute, parts.second) = (time.hours, time.minutes, time.seconds)
        } else {
            return nil
        }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        guard let date = calendar.date(from: parts) else { return nil }
        self = date
    }
}
