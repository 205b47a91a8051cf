// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import Glibc

/// The issuers that this machine trusts: those of the administrator's list. A program, its
/// environment or a keychain can't add any.
package struct TrustedAnchors: Sendable {
    /// The distributions' places of the list; the first that exists is used.
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

    /// nil where the file can't be opened. Bytes beyond the limit are not read.
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

    /// Reads certificates in PEM. A certificate that can't be read is not trusted.
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

    /// Reads certificates in DER.
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
