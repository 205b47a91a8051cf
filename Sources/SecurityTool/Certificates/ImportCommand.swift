// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel

/// `import`: the certificates and keys of a file.
enum ImportCommand {
    private static let call = "SecKeychainItemImport"

    static let command = Command(
        "import",
        """
        file [-k keychain] [-t pub|priv|session|cert|agg] [-f openssl|bsafe|pkcs8|x509|pemseq] \
        [-w] [-x] [-P passphrase] [-A] [-T application]...
        """,
        "Import certificates and keys: PEM or DER of X.509, PKCS#1, SEC 1 and PKCS#8.",
        letters: "k:t:f:wxP:AT:", takesWordFirst: true, hiding: "P"
    ) { options, session throws(CommandFailure) in
        guard options.words.count == 1 else { throw .usage }
        let kinds = try wanted(options["t"])
        if let format = options["f"] { try check(format, options) }
        guard !options.has("w") else {
            throw .said("security: \(call): -w: wrapped keys are not read yet\n", exit: 87)
        }
        let trusted = try TrustedPrograms(options, session).named
        let objects = try CertificateFile.objects(options.words[0], call).filter(kinds)
        guard !objects.isEmpty else { throw .status(-25257, call: call, detail: nil) }
        if options.has("x") {
            session.output.complain(
                "security: -x: kept with the key; export does not ask for it yet\n")
        }
        var added: [ObjectsOfFile.Object] = []
        var refusal: RequestError?
        for object in objects {
            var new = NewObject(object, keychain: options["k"])
            new.item.trusted = object.itemClass == .key ? trusted : nil
            if options.has("x"), object.itemClass == .key {
                new.item.attributes[.isExtractable] = .number(0)
            }
            do throws(RequestError) {
                _ = try session.send(new.add)
                added.append(object)
            } catch {
                // An object that exists already must not prevent the import of the others.
                guard error == .state(.duplicate) else { throw CommandFailure(error, call) }
                refusal = error
            }
        }
        if added.isEmpty, let refusal { throw CommandFailure(refusal, call) }
        session.output.write(report(added, of: objects))
    }

    private static func wanted(
        _ kind: String?
    ) throws(CommandFailure) -> (ObjectsOfFile.Object) -> Bool {
        switch kind {
        case nil, "agg": return { _ in true }
        case "cert": return { $0.itemClass == .certificate }
        case "pub": return { $0.attributes[.keyClass] == .number(0) }
        case "priv": return { $0.attributes[.keyClass] == .number(1) }
        case "session": throw .absent("import: symmetric keys are not read yet")
        default: throw .usage
        }
    }

    private static func check(_ format: String, _ options: Options) throws(CommandFailure) {
        switch format {
        case "openssl", "bsafe", "pkcs8", "x509", "pemseq": return
        case "raw", "pkcs7", "pkcs12", "netscape", "openssh1", "openssh2":
            throw .said(
                """
                security: \(call): \(CommandFailure.message(-25257))
                security: \(format) is not read yet; openssl or ssh-keygen makes PEM of it.

                """, exit: -25257 & 0xFF)
        default: throw .usage
        }
    }

    /// Reports the import; a certificate and its private key count as one identity.
    static func report(
        _ added: [ObjectsOfFile.Object], of all: [ObjectsOfFile.Object]
    ) -> String {
        let keys = added.filter { $0.itemClass == .key }
        let certificates = added.filter { $0.itemClass == .certificate }
        let labels = Set(
            all.filter { $0.attributes[.keyClass] == .number(1) }
                .compactMap { $0.attributes[.applicationLabel] })
        let hashes = Set(
            all.filter { $0.itemClass == .certificate }
                .compactMap { $0.attributes[.publicKeyHash] })
        func isOfIdentity(_ object: ObjectsOfFile.Object) -> Bool {
            object.itemClass == .certificate
                ? object.attributes[.publicKeyHash].map(labels.contains) ?? false
                : object.attributes[.keyClass] == .number(1)
                    && object.attributes[.applicationLabel].map(hashes.contains) ?? false
        }
        let ofCertificates = certificates.filter(isOfIdentity).count
        let identities = max(ofCertificates, keys.filter(isOfIdentity).count)
        return line(identities, "identity", "identities")
            + line(keys.filter { !isOfIdentity($0) }.count, "key", "keys")
            + line(certificates.filter { !isOfIdentity($0) }.count, "certificate", "certificates")
    }

    private static func line(_ count: Int, _ one: String, _ many: String) -> String {
        count == 0 ? "" : "\(count) \(count == 1 ? one : many) imported.\n"
    }
}
