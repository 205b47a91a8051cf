// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials
package import KeychainModel

/// The chain from a certificate up to a trusted issuer (RFC 5280, without revocation).
package struct CertificateChain {
    private static let longest = 10
    /// Limited, as a keychain may be full of certificates that name each other.
    private static let mostSignatures = 100

    private let anchors: TrustedAnchors
    private let date: Date
    private let stored: ([UInt8]) throws(RequestError) -> [CertificateContent]

    /// `stored` returns the keychain's certificates whose subject has the normalised name.
    package init(
        anchors: TrustedAnchors, date: Date,
        stored: @escaping ([UInt8]) throws(RequestError) -> [CertificateContent]
    ) {
        self.anchors = anchors
        self.date = date
        self.stored = stored
    }

    private final class Budget { var signatures = CertificateChain.mostSignatures }

    package func isTrusted(_ certificate: CertificateContent) throws(RequestError) -> Bool {
        try isTrusted(certificate, below: 0, Budget())
    }

    /// `below` is the number of certificates between this one and the first one.
    private func isTrusted(
        _ certificate: CertificateContent, below count: Int, _ budget: Budget
    ) throws(RequestError) -> Bool {
        guard count < Self.longest, certificate.isValid(on: date),
            !certificate.extensions.hasUnknownCritical
        else { return false }
        if anchors.contains(certificate) { return true }
        guard let name = certificate.issuer.normalizedContent else { return false }
        let issuers = try anchors.issuers(name) + stored(name)
        for issuer in issuers where issuer.der != certificate.der {
            // An anchor is trusted because it is in the list, whatever its extensions say.
            guard issuer.extensions.maySignCertificates(above: count) || anchors.contains(issuer),
                budget.signatures > 0
            else { continue }
            budget.signatures -= 1
            guard certificate.isSigned(by: issuer) else { continue }
            if try isTrusted(issuer, below: count + 1, budget) { return true }
        }
        return false
    }
}
