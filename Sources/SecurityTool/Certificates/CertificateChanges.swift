// SPDX-License-Identifier: Apache-2.0
internal import KeychainMessages
internal import KeychainModel
internal import Terminal

/// `add-certificates`, `delete-certificate`, `delete-identity`.
enum CertificateChanges {
    static let add = Command(
        "add-certificates", "[-k keychain] file...", "Add certificates of files.", letters: "k:"
    ) { options, session throws(CommandFailure) in
        guard !options.words.isEmpty else { throw .usage }
        let keychain = options["k"]
        var result: Int32 = 0
        for file in options.words {
            let certificates = try CertificateFile.objects(file, "SecCertificateCreateFromData")
                .filter { $0.itemClass == .certificate }
            if certificates.isEmpty {
                session.output.complain("security: \(file): there is no certificate in it\n")
                result = 1
            }
            for object in certificates {
                do throws(RequestError) {
                    _ = try session.send(NewObject(object, keychain: keychain).add)
                } catch {
                    guard error == .state(.duplicate) else {
                        throw CommandFailure(error, "SecCertificateAddToKeychain")
                    }
                    session.output.complain(
                        "security: \(file): already in \(keychain ?? "default keychain")\n")
                    result = 1
                }
            }
        }
        if result != 0 { throw .said("", exit: result) }
    }

    static let deleteCertificate = Command(
        "delete-certificate", "[-c name | -Z hash] [-t] [keychain...]",
        "Delete a certificate.", letters: "c:Z:t"
    ) { options, session throws(CommandFailure) in
        _ = try delete(options, session, amongIdentities: false)
    }

    static let deleteIdentity = Command(
        "delete-identity", "[-c name | -Z hash] [-t] [keychain...]",
        "Delete a certificate together with its private key.", letters: "c:Z:t"
    ) { options, session throws(CommandFailure) in
        let deleted = try delete(options, session, amongIdentities: true)
        let others = try session.certificates(in: options.words)
        // A key is deleted with its certificate, unless another certificate needs it.
        guard !others.contains(where: { $0.facts.publicKeyHash == deleted.facts.publicKeyHash })
        else { return }
        let label = AttributeValue.data(deleted.facts.publicKeyHash)
        for key in try session.privateKeys(in: options.words)
        where key.item.attributes[.applicationLabel] == label {
            do throws(RequestError) { _ = try session.send(Delete(key.query)) } catch {
                throw CommandFailure(error, CallName.delete)
            }
        }
    }

    private static func delete(
        _ options: Options, _ session: Session, amongIdentities: Bool
    ) throws(CommandFailure) -> StoredCertificate {
        guard let wanted = options["c"] ?? options["Z"] else { throw .usage }
        let hash = options["Z"]?.uppercased().filter { $0 != ":" && $0 != " " }
        var matching = try session.certificates(in: options.words).filter {
            hash == nil
                ? $0.facts.commonName == wanted : $0.facts.sha1.fingerprint == hash
        }
        if amongIdentities {
            let labels = Set(
                try session.privateKeys(in: options.words).compactMap {
                    $0.item.attributes[.applicationLabel]
                })
            matching = matching.filter { labels.contains(.data($0.facts.publicKeyHash)) }
        }
        let kind = amongIdentities ? "identity" : "certificate"
        guard let found = matching.first else {
            throw .said(
                "Unable to delete \(kind) matching \"\(PlainText.line(wanted))\"\n", exit: 1)
        }
        guard matching.count == 1 else {
            throw .said(
                """
                security: "\(PlainText.line(wanted))" is ambiguous, matches more than one \(kind)

                """, exit: 1)
        }
        if options.has("t") {
            session.output.complain("security: -t: trust is the machine's; nothing was changed\n")
        }
        do throws(RequestError) { _ = try session.send(Delete(found.found.query)) } catch {
            throw CommandFailure(error, CallName.delete)
        }
        return found
    }
}

/// A new item for an object of a file.
struct NewObject {
    let object: ObjectsOfFile.Object
    var item: NewItem

    init(_ object: ObjectsOfFile.Object, keychain: String?) {
        self.object = object
        item = NewItem(object.itemClass)
        item.keychain = keychain.map { KeychainWord($0).name }
        item.attributes = object.attributes
        // Certificates are no secret.
        item.accessible = object.itemClass == .certificate ? .always : .whenUnlocked
    }

    var add: Add { Add(item, secret: object.secret, returning: []) }
}
