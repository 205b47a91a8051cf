// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// Whom this machine trusts to issue certificates: what its administrator put into its list, and
/// nothing that a program, its environment or a keychain says.
package struct TrustedAnchors: Sendable {
    /// Where distributions keep the list; the first that is there counts.
    private static let places = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
    ]
    private static let largestList = 16 * 1024 * 1024

    /// Read once in a process.
    package static let ofMachine: TrustedAnchors = {
        for place in places {
            guard let file = FileHandle(forReadingAtPath: place),
                let list = try? file.read(upToCount: largestList)
            else { continue }
            return TrustedAnchors(list: String(decoding: list, as: UTF8.self))
        }
        return TrustedAnchors(list: "")
    }()

    private let certificates: Set<[UInt8]>
    private let bySubject: [[UInt8]: [CertificateContent]]

    /// Of certificates in PEM. What can't be read is not trusted.
    package init(list: String) {
        let parts = list.components(separatedBy: "-----BEGIN CERTIFICATE-----").dropFirst()
        self.init(
            parts.compactMap { part in
                let text = part.components(separatedBy: "-----END CERTIFICATE-----")[0]
                return Data(base64Encoded: text, options: .ignoreUnknownCharacters).map(Array.init)
            })
    }

    /// Of certificates in DER.
    package init(_ list: [[UInt8]]) {
        var certificates: Set<[UInt8]> = []
        var bySubject: [[UInt8]: [CertificateContent]] = [:]
        for der in list {
            guard let certificate = CertificateContent(der),
                let name = certificate.subject.normalizedContent
            else { continue }
            certificates.insert(certificate.der)
            bySubject[name, default: []].append(certificate)
        }
        self.certificates = certificates
        self.bySubject = bySubject
    }

    package func contains(_ certificate: CertificateContent) -> Bool {
        certificates.contains(certificate.der)
    }

    package func issuers(_ name: [UInt8]) -> [CertificateContent] { bySubject[name] ?? [] }
}
