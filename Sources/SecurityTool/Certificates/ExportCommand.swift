// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets

/// `export`: certificates and keys as PEM, or one certificate as DER.
struct ExportCommand {
    private static let call = "SecKeychainItemExport"

    static let command = Command(
        "export",
        """
        [-k keychain] [-t certs|allKeys|pubKeys|privKeys|identities|all] \
        [-f pemseq|x509|pkcs8|openssl] [-w] [-p] [-P passphrase] [-o file]
        """,
        "Write certificates and keys as PEM; keys are not encrypted.", letters: "k:t:f:wpP:o:",
        hiding: "P"
    ) { options, session throws(CommandFailure) in
        try ExportCommand(options, session).run()
    }

    private let options: Options
    private let session: Session
    private let types: Set<ItemClass>
    private let keyClass: Int64?
    private let onlyIdentities: Bool
    /// One certificate as DER.
    private let isRaw: Bool

    private init(_ options: Options, _ session: Session) throws(CommandFailure) {
        guard options.words.isEmpty else { throw .usage }
        self.options = options
        self.session = session
        switch options["t"] ?? "all" {
        case "certs": (types, keyClass) = ([.certificate], nil)
        case "allKeys": (types, keyClass) = ([.key], nil)
        case "pubKeys": (types, keyClass) = ([.key], 0)
        case "privKeys": (types, keyClass) = ([.key], 1)
        case "all", "identities":
            (types, keyClass) = ([.certificate, .key], options["t"] == "identities" ? 1 : nil)
        default: throw .usage
        }
        onlyIdentities = options["t"] == "identities"
        switch options["f"] ?? "pemseq" {
        case "pemseq", "openssl", "pkcs8": isRaw = false
        case "x509": isRaw = !options.has("p")
        case "pkcs7", "pkcs12", "bsafe", "openssh1", "openssh2":
            throw .said(
                """
                security: \(Self.call): \(CommandFailure.message(-25256))
                security: Only PEM is written yet, and one certificate as DER (-f x509).

                """, exit: -25256 & 0xFF)
        default: throw .usage
        }
        guard !options.has("w"), options["P"] == nil else {
            throw .said(
                """
                security: \(Self.call): \(CommandFailure.message(-25256))
                security: Keys are not encrypted yet; openssl pkcs8 -topk8 encrypts one.

                """, exit: -25256 & 0xFF)
        }
    }

    private func run() throws(CommandFailure) {
        let keychains = options["k"].map { [$0] } ?? []
        var certificates =
            try types.contains(.certificate) ? session.certificates(in: keychains) : []
        var keys = try types.contains(.key) ? self.keys(keychains) : []
        if onlyIdentities {
            let labels = keys.compactMap { $0.attributes[.applicationLabel] }
            certificates.removeAll { !labels.contains(.data($0.facts.publicKeyHash)) }
            keys.removeAll { key in
                !certificates.contains {
                    key.attributes[.applicationLabel] == .data($0.facts.publicKeyHash)
                }
            }
        }
        guard !certificates.isEmpty || !keys.isEmpty else {
            throw CommandFailure(.state(.notFound), Self.call)
        }
        try write(certificates.map { StoredCertificate.der($0.found.item) }, keys)
    }

    private func keys(_ keychains: [String]) throws(CommandFailure) -> [Item] {
        var query = ItemQuery(.key)
        query.synchronizable = .any
        query.limit = nil
        query.returnFields = [.data, .attributes]
        if let keyClass { query.attributes = [.keyClass: .number(keyClass)] }
        do throws(RequestError) { return try session.items(query, in: keychains).map(\.item) } catch
        {
            throw CommandFailure(error, Self.call)
        }
    }

    private func write(_ certificates: [[UInt8]], _ keys: [Item]) throws(CommandFailure) {
        var pieces: [HeldSecret] = []
        if isRaw {
            guard certificates.count == 1, keys.isEmpty else {
                throw .said(
                    "security: \(Self.call): -f x509 is for one certificate\n",
                    exit: -25256 & 0xFF)
            }
            pieces = [HeldSecret(SecretBytes(copying: certificates[0]))]
        } else {
            pieces = certificates.map {
                HeldSecret(PEMText.of(SecretBytes(copying: $0), "CERTIFICATE"))
            }
            for key in keys {
                guard let pem = KeyText.pem(key) else {
                    throw .status(-25256, call: Self.call, detail: nil)
                }
                pieces.append(HeldSecret(pem))
            }
        }
        guard let file = options["o"] else {
            try CommandFailure.writing { () throws(SystemError) in
                for piece in pieces { try SecretOutput.standard.write(piece.bytes) }
            }
            return
        }
        let output: SecretOutput
        do { output = try SecretOutput(file) } catch {
            throw .said("security: \(file): can't be written\n", exit: 1)
        }
        try CommandFailure.writing { () throws(SystemError) in
            for piece in pieces { try output.write(piece.bytes) }
        }
        let count = pieces.reduce(0) { $0 + $1.bytes.count }
        session.output.tell("...\(count) bytes written to \(file)\n")
    }
}
