// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

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
            guard let list = contents(of: place) else { continue }
            return TrustedAnchors(list: String(decoding: list, as: UTF8.self))
        }
        return TrustedAnchors(list: "")
    }()

    /// nil where the file can't be opened. What lies behind the limit is not read.
    private static func contents(of path: String) -> [UInt8]? {
        // Safe: the stream is this function's own, and no more is read than the array has room for.
        guard let file = unsafe fopen(path, "re") else { return nil }
        defer { _ = unsafe fclose(file) }
        return unsafe [UInt8](unsafeUninitializedCapacity: largestList) { buffer, count in
            count = unsafe fread(buffer.baseAddress, 1, buffer.count, file)
        }
    }

    private let certificates: Set<[UInt8]>
    private let bySubject: [[UInt8]: [CertificateContent]]

    /// Of certificates in PEM. What can't be read is not trusted.
    package init(list: String) {
        let parts = list.split(
            separator: "-----BEGIN CERTIFICATE-----", omittingEmptySubsequences: false
        ).dropFirst()
        self.init(
            parts.compactMap { part in
                let end = part.firstRange(of: "-----END CERTIFICATE-----")?.lowerBound
                let text = part[..<(end ?? part.endIndex)]
                return Data(base64Encoded: String(text), options: .ignoreUnknownCharacters)
                    .map(Array.init)
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
