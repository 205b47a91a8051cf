// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import KeychainCertificates
internal import KeychainModel
internal import KeychainSecrets
internal import SecurityTool
internal import Terminal

/// The facts about certificates, and whether their chains lead to a trusted issuer (RFC 5280,
/// without revocation).
struct CertificateJudging {
    private static let largestQuestion = 32 * 1024 * 1024

    static func answer() throws -> SecretBytes {
        let input = try StandardInput.read(limit: largestQuestion)
        let bytes = input.withBytes { span in (0..<span.byteCount).map { span.byte($0) } }
        let judging = CertificateJudging(try CertificateQuestion(bytes))
        return SecretBytes(copying: CertificateFacts.bytes(of: judging.facts()))
    }

    private let question: CertificateQuestion
    private let issuers: [[UInt8]: [CertificateContent]]
    private let anchors: TrustedAnchors
    private let now = Date()

    private init(_ question: CertificateQuestion) {
        self.question = question
        var issuers: [[UInt8]: [CertificateContent]] = [:]
        for certificate in (question.issuers + question.certificates).compactMap({
            CertificateContent($0)
        }) {
            guard let name = certificate.subject.normalizedContent else { continue }
            issuers[name, default: []].append(certificate)
        }
        self.issuers = issuers
        anchors = question.anchors.isEmpty ? .ofMachine : TrustedAnchors(question.anchors)
    }

    private func facts() -> [CertificateFacts] {
        question.certificates.map { der in
            guard let certificate = CertificateContent(der) else {
                return CertificateFacts(.unreadable)
            }
            var facts = CertificateFacts(verdict(of: certificate))
            facts.commonName = certificate.subject.texts(of: DistinguishedName.commonName).last
            facts.emailAddresses = certificate.emailAddresses
            facts.sha1 = KeyLabel.of(der)
            facts.publicKeyHash = certificate.publicKeyHash
            facts.attributes = certificate.attributesOfNewItem
            return facts
        }
    }

    private func verdict(of certificate: CertificateContent) -> CertificateFacts.Verdict {
        if let notBefore = certificate.notBefore, now < notBefore { return .notYetValid }
        guard certificate.isValid(on: now) else { return .expired }
        if let purpose, !certificate.extensions.allowsPurpose(purpose) { return .wrongPurpose }
        if let host = question.host, !certificate.isFor(host: host) { return .wrongHost }
        let chain = CertificateChain(anchors: anchors, date: now) { name in issuers[name] ?? [] }
        return (try? chain.isTrusted(certificate)) == true ? .valid : .notTrusted
    }

    private var purpose: CertificateExtensions.Purpose? {
        switch question.purpose {
        case .basic: nil
        case .sslServer: .serverAuthentication
        case .sslClient: .clientAuthentication
        case .codeSigning: .codeSigning
        case .emailProtection: .emailProtection
        case .ipsec: .ipsec
        case .eap: .eap
        }
    }
}
