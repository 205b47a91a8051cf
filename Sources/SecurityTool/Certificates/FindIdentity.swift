// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import Terminal

/// `find-identity`: certificates with their private keys.
enum FindIdentity {
    static let command = Command(
        "find-identity", "[-p policy]... [-s string] [-v] [keychain...]",
        """
        Show identities. Policies: basic (the default), ssl-client, ssl-server, smime, eap, ipsec, \
        codesigning.
        """, letters: "p:s:v"
    ) { options, session throws(CommandFailure) in
        let words = options.all("p").isEmpty ? ["basic"] : options.all("p")
        let policies = try words.map { word throws(CommandFailure) in try Policy(word) }
        let keys = try session.privateKeys(in: options.words)
        let labels = Set(keys.compactMap { $0.item.attributes[.applicationLabel] })
        for policy in policies {
            let identities = try session.certificates(in: options.words, for: policy.purpose)
                .filter { certificate in
                    labels.contains(.data(certificate.facts.publicKeyHash))
                        && options["s"].map { text in
                            certificate.isCalled(like: text) || certificate.hasAddress(text)
                        } ?? true
                }
            session.output.write(
                text(identities.map(\.facts), policy, options["s"], onlyValid: options.has("v")))
        }
    }

    struct Policy {
        let title: String
        let purpose: CertificatePurpose

        private static let known: [(word: String, title: String, purpose: CertificatePurpose)] = [
            ("basic", "X.509 Basic", .basic), ("ssl-client", "SSL (client)", .sslClient),
            ("ssl-server", "SSL (server)", .sslServer), ("smime", "S/MIME", .emailProtection),
            ("eap", "EAP", .eap), ("ipsec", "IPSec", .ipsec),
            ("codesigning", "Code Signing", .codeSigning),
        ]
        private static let ofApple = [
            "ichat", "sys-default", "sys-kerberos-kdc", "macappstore", "appleID",
        ]

        init(_ word: String) throws(CommandFailure) {
            guard let found = Self.known.first(where: { $0.word == word }) else {
                guard Self.ofApple.contains(word) else { throw .usage }
                throw .absent("the policy \(word) is for Apple's services")
            }
            title = found.title
            purpose = found.purpose
        }
    }

    static func text(
        _ identities: [CertificateFacts], _ policy: Policy, _ string: String?, onlyValid: Bool
    ) -> String {
        let valid = identities.filter { $0.verdict == .valid }
        var text =
            string.map { "Looking for identities matching \"\(PlainText.line($0))\"\n" } ?? ""
        guard !onlyValid else { return text + list(valid, "valid identities found") }
        text += "\nPolicy: \(policy.title)\n  Matching identities\n"
        text += list(identities, "identities found")
        text += "\n  Valid identities only\n"
        return text + list(valid, "valid identities found")
    }

    private static func list(_ identities: [CertificateFacts], _ found: String) -> String {
        var text = ""
        for (number, facts) in identities.enumerated() {
            let place = String(number + 1)
            text += String(repeating: " ", count: max(0, 3 - place.utf8.count)) + place
            text += ") \(facts.sha1.fingerprint) \"\(PlainText.line(facts.commonName ?? ""))\""
            text += facts.verdict.error.map { " (\($0))" } ?? ""
            text += "\n"
        }
        return text + "     \(identities.count) \(found)\n"
    }
}

extension CertificateFacts.Verdict {
    /// The error's name for scripts; nil for a valid identity.
    var error: String? {
        switch self {
        case .valid: nil
        case .unreadable: "CSSMERR_TP_INVALID_CERTIFICATE"
        case .expired: "CSSMERR_TP_CERT_EXPIRED"
        case .notYetValid: "CSSMERR_TP_CERT_NOT_VALID_YET"
        case .notTrusted: "CSSMERR_TP_NOT_TRUSTED"
        case .wrongPurpose: "CSSMERR_APPLETP_INVALID_EXTENDED_KEY_USAGE"
        case .wrongHost: "CSSMERR_APPLETP_HOSTNAME_MISMATCH"
        }
    }
}
