// SPDX-License-Identifier: Apache-2.0
internal import KeychainModel
internal import KeychainSecrets

/// A certificate of a keychain, with the worker's facts about it.
struct StoredCertificate {
    let found: FoundItem
    let facts: CertificateFacts

    /// The stored bytes of a certificate's item, which are no secret.
    static func der(_ item: Item) -> [UInt8] {
        item.secret?.bytes.withBytes { span in
            (0..<span.byteCount).map { span.byte($0) }
        } ?? []
    }

    /// Whether the text is a part of the common name, ignoring case; false for an empty text.
    func isCalled(like text: String) -> Bool {
        guard let name = facts.commonName?.lowercased() else { return text.isEmpty }
        return text.isEmpty || name.contains(text.lowercased())
    }

    func hasAddress(_ address: String) -> Bool {
        facts.emailAddresses.contains { $0.lowercased() == address.lowercased() }
    }
}

extension Session {
    /// All certificates of the keychains.
    func certificates(
        in keychains: [String], for purpose: CertificatePurpose = .basic
    ) throws(CommandFailure) -> [StoredCertificate] {
        var query = ItemQuery(.certificate)
        query.synchronizable = .any
        query.limit = nil
        query.returnFields = [.data, .attributes]
        let found: [FoundItem]
        do throws(RequestError) { found = try items(query, in: keychains) } catch {
            throw CommandFailure(error, CallName.search)
        }
        var question = CertificateQuestion(found.map { StoredCertificate.der($0.item) })
        question.purpose = purpose
        let facts = try self.facts(question)
        return zip(found, facts).map { StoredCertificate(found: $0, facts: $1) }
    }

    func facts(_ question: CertificateQuestion) throws(CommandFailure) -> [CertificateFacts] {
        do { return try CertificateWorker.facts(question) } catch {
            throw CertificateFile.broken
        }
    }

    /// The private keys of the keychains, without their secrets.
    func privateKeys(in keychains: [String]) throws(CommandFailure) -> [FoundItem] {
        var query = ItemQuery(.key)
        query.synchronizable = .any
        query.limit = nil
        query.returnFields = .attributes
        query.attributes = [.keyClass: .number(1)]
        do throws(RequestError) { return try items(query, in: keychains) } catch {
            throw CommandFailure(error, CallName.search)
        }
    }
}

/// Reads files with certificates and keys for commands.
enum CertificateFile {
    static let broken = CommandFailure.said(
        "security: security-certificates, which is installed together with security, failed\n",
        exit: 1)

    static func objects(
        _ path: String, _ call: String
    ) throws(CommandFailure) -> [ObjectsOfFile.Object] {
        let read: ObjectsOfFile
        do { read = try CertificateWorker.objects(ofFile: path) } catch {
            switch error {
            case .broken: throw broken
            case .file: throw .said("security: \(call): \(path): can't be read\n", exit: 1)
            }
        }
        switch read.problem {
        case .none: return read.objects
        case .unknownFormat: throw .status(-25257, call: call, detail: nil)
        case .tooLarge: throw .status(-25302, call: call, detail: nil)
        case .unreadable:
            throw .said("security: \(call): \(path): can't be read\n", exit: 1)
        case .encrypted:
            throw .said(
                """
                security: \(call): \(CommandFailure.message(-25257))
                security: Encrypted keys and PKCS#12 are not read yet; openssl makes PEM of them.

                """, exit: -25257 & 0xFF)
        case .unsupported:
            throw .said(
                """
                security: \(call): \(CommandFailure.message(-25257))
                security: Only PEM and DER of X.509, PKCS#1, SEC 1 and PKCS#8 are read.

                """, exit: -25257 & 0xFF)
        }
    }
}
