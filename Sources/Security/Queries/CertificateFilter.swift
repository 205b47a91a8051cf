// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainCertificates
internal import KeychainModel

/// The conditions of a search on certificates beyond their items' attributes (docs/secitem.md,
/// Matching rules).
struct CertificateFilter {
    /// How the subject's common name is compared with a text.
    enum SubjectTest { case contains, starts, ends, whole }

    /// Normalised names, one of which must be in the certificate's chain of issuers.
    var issuers: [[UInt8]] = []
    var emailAddress: String?
    var subjects: [SubjectTest: String] = [:]
    var validOn: Date?
    var folding: ItemQuery.Folding = []
    /// Whether the certificate must lead to an issuer that this machine trusts.
    var isTrustedOnly = false
    /// The purpose that the certificate must be valid for.
    var purpose: SecPolicy.Purpose?

    private static let longestChain = 10

    var isEmpty: Bool {
        issuers.isEmpty && emailAddress == nil && subjects.isEmpty && validOn == nil
            && !needsChain && purpose == nil
    }

    var needsChain: Bool { isTrustedOnly || purpose == .basic }
    /// The date at which the certificate must be valid: the query's, or now.
    var date: Date { validOn ?? Date() }

    /// Whether the certificate itself matches, whatever its issuers.
    func matches(_ certificate: CertificateContent) -> Bool {
        if let validOn, !certificate.isValid(on: validOn) { return false }
        if let emailAddress, !certificate.hasEmailAddress(emailAddress) { return false }
        if case .ssl(let isServer, let host) = purpose,
            !certificate.isForSSL(isServer: isServer, host: host, on: date)
        {
            return false
        }
        guard !subjects.isEmpty else { return true }
        let names = certificate.subject.texts(of: DistinguishedName.commonName)
        return names.contains { name in subjects.allSatisfy { test($0.key, $0.value, name) } }
    }

    private func test(_ test: SubjectTest, _ text: String, _ name: String) -> Bool {
        let options = folding.options
        switch test {
        case .whole: return name.compare(text, options: options) == .orderedSame
        case .contains: return text.isEmpty || name.range(of: text, options: options) != nil
        case .starts:
            return text.isEmpty
                || name.range(of: text, options: options.union(.anchored)) != nil
        case .ends:
            let atEnd = options.union([.anchored, .backwards])
            return text.isEmpty || name.range(of: text, options: atEnd) != nil
        }
    }

    /// Whether one of the wanted issuers is in the chain of a certificate that `issuer` issued.
    /// `above` returns the issuers of the stored certificates of a subject.
    func isIssued(
        by issuer: [UInt8], above: ([UInt8]) throws(RequestError) -> [[UInt8]]
    ) throws(RequestError) -> Bool {
        guard !issuers.isEmpty else { return true }
        var seen: Set<[UInt8]> = [issuer]
        var level = [issuer]
        for _ in 0...Self.longestChain where !level.isEmpty {
            if level.contains(where: { issuers.contains($0) }) { return true }
            var next: [[UInt8]] = []
            for name in level {
                for issuer in try above(name) where seen.insert(issuer).inserted {
                    next.append(issuer)
                }
            }
            level = next
        }
        return false
    }
}

extension CertificateContent {
    fileprivate func hasEmailAddress(_ wanted: String) -> Bool {
        emailAddresses.contains { $0.compare(wanted, options: .caseInsensitive) == .orderedSame }
    }
}

extension ItemQuery.Folding {
    fileprivate var options: String.CompareOptions {
        // Texts are compared literally, except for the differences to ignore.
        var options: String.CompareOptions = self == [] ? .literal : []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        if contains(.widthInsensitive) { options.insert(.widthInsensitive) }
        return options
    }
}
