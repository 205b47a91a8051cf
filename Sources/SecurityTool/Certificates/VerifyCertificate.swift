// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// `verify-cert`: whether a certificate leads to a trusted issuer, without revocation.
enum VerifyCertificate {
    static let command = Command(
        "verify-cert",
        """
        -c certFile [-c certFile]... [-r rootCertFile]... [-p policy] [-s host] [-k keychain]... \
        [-n] [-L] [-l] [-q]
        """,
        "Verify the first certificate by the others, the keychains and the machine's roots.",
        letters: "c:r:p:k:nLlqe:s:d:tC"
    ) { options, session throws(CommandFailure) in
        guard options.words.isEmpty, let first = options.all("c").first, options["s"] != "" else {
            throw .usage
        }
        if let letter = ["e", "d", "t", "C"].first(where: options.has) {
            throw .absent("verify-cert: -\(letter): not looked at here, so nothing was verified")
        }
        let word = options["p"] ?? "basic"
        let purpose: CertificatePurpose =
            try word == "ssl" ? .sslServer : FindIdentity.Policy(word).purpose
        let leaf = try certificates(of: first)
        var question = CertificateQuestion(Array(leaf.prefix(1)))
        question.issuers = Array(leaf.dropFirst())
        for file in options.all("c").dropFirst() { question.issuers += try certificates(of: file) }
        for file in options.all("r") {
            let anchors = try certificates(of: file)
            // Without anchors the machine's own roots would be used.
            guard !anchors.isEmpty else {
                throw .status(-25257, call: "SecCertificateCreateFromData", detail: file)
            }
            question.anchors += anchors
        }
        if !options.has("n") {
            question.issuers += try session.certificates(in: options.all("k")).map {
                StoredCertificate.der($0.found.item)
            }
        }
        question.purpose = purpose
        question.host = options["s"]
        guard let facts = try session.facts(question).first else {
            throw .status(-25257, call: "SecCertificateCreateFromData", detail: first)
        }
        if let error = facts.verdict.error {
            throw .said("Cert Verify Result: \(error)\n", exit: 1)
        }
        if !options.has("q") { session.output.write("...certificate verification successful.\n") }
    }

    private static func certificates(of file: String) throws(CommandFailure) -> [[UInt8]] {
        try CertificateFile.objects(file, "SecCertificateCreateFromData")
            .filter { $0.itemClass == .certificate }
            .map { object in
                object.secret.bytes.withBytes { span in
                    (0..<span.byteCount).map { span.byte($0) }
                }
            }
    }
}
