// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets
internal import Terminal

/// `find-certificate`.
enum FindCertificate {
    static let command = Command(
        "find-certificate", "[-a] [-c name] [-e email] [-m] [-p] [-Z] [keychain...]",
        "Show certificates: -p as PEM, -Z with fingerprints, -m with e-mail addresses.",
        letters: "ac:e:mpZ"
    ) { options, session throws(CommandFailure) in
        let matching = try session.certificates(in: options.words).filter { certificate in
            (options["c"].map(certificate.isCalled) ?? true)
                && (options["e"].map(certificate.hasAddress) ?? true)
        }
        let shown = options.has("a") ? matching : Array(matching.prefix(1))
        guard !shown.isEmpty || options.has("a") else {
            throw CommandFailure(.state(.notFound), CallName.search)
        }
        for certificate in shown { show(certificate, options, session) }
    }

    private static func show(
        _ certificate: StoredCertificate, _ options: Options, _ session: Session
    ) {
        let der = StoredCertificate.der(certificate.found.item)
        if options.has("Z") {
            var hash = SHA256()
            hash.update(der)
            session.output.write(
                """
                SHA-256 hash: \(hash.digest().fingerprint)
                SHA-1 hash: \(certificate.facts.sha1.fingerprint)

                """)
        }
        if options.has("m") {
            let addresses = certificate.facts.emailAddresses.joined(separator: ", ")
            session.output.write("email addresses: \(PlainText.line(addresses))\n")
        }
        if options.has("p") {
            session.output.write(pem(of: der))
        } else {
            session.dump(certificate.found)
        }
    }

    static func pem(of der: [UInt8]) -> String {
        PEMText.of(SecretBytes(copying: der), "CERTIFICATE").withBytes { span in
            String(decoding: (0..<span.byteCount).map { span.byte($0) }, as: UTF8.self)
        }
    }
}
