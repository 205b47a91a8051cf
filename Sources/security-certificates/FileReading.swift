// SPDX-License-Identifier: Apache-2.0
internal import KeychainCertificates
internal import KeychainModel
internal import KeychainSecrets
internal import SecurityTool
internal import Terminal

/// The certificates and keys of a file: PEM, or one of them as DER.
enum FileReading {
    static func answer() -> SecretBytes {
        do {
            let file = try StandardInput.read(limit: ObjectsOfFile.largestFile)
            return objects(HeldSecret(file)).encoded()
        } catch {
            return ObjectsOfFile(error == .tooLong ? .tooLarge : .unreadable).encoded()
        }
    }

    private static func objects(_ file: HeldSecret) -> ObjectsOfFile {
        guard let blocks = PEMBlocks.of(file.bytes) else { return ObjectsOfFile(.unknownFormat) }
        guard !blocks.isEmpty else {
            if let object = object(der: file) { return ObjectsOfFile(.none, [object]) }
            return ObjectsOfFile(isPKCS12(file) ? .encrypted : .unknownFormat)
        }
        var objects: [ObjectsOfFile.Object] = []
        for block in blocks {
            if block.hasHeaders || block.label == "ENCRYPTED PRIVATE KEY" {
                return ObjectsOfFile(.encrypted)
            }
            switch object(block) {
            case .success(let object): if let object { objects.append(object) }
            case .failure(let problem): return ObjectsOfFile(problem.value)
            }
        }
        return objects.isEmpty ? ObjectsOfFile(.unknownFormat) : ObjectsOfFile(.none, objects)
    }

    private struct Problem: Error { let value: ObjectsOfFile.Problem }

    /// nil for a block without a certificate or key, such as a curve's parameters.
    private static func object(
        _ block: PEMBlocks.Block
    ) -> Result<ObjectsOfFile.Object?, Problem> {
        let found: ObjectsOfFile.Object?
        switch block.label {
        case "CERTIFICATE", "X509 CERTIFICATE", "TRUSTED CERTIFICATE":
            found = certificate(block.der)
        case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY":
            found = KeyFile.privateKey(block.der).map(key)
        case "PUBLIC KEY", "RSA PUBLIC KEY": found = KeyFile.publicKey(block.der).map(key)
        case "EC PARAMETERS": return .success(nil)
        default: return .failure(Problem(value: .unsupported))
        }
        guard let found else { return .failure(Problem(value: .unknownFormat)) }
        return .success(found)
    }

    private static func object(der: HeldSecret) -> ObjectsOfFile.Object? {
        // A private key is tried first, since the other forms are read into ordinary memory.
        KeyFile.privateKey(der).map(key) ?? certificate(der) ?? KeyFile.publicKey(der).map(key)
    }

    private static func certificate(_ der: HeldSecret) -> ObjectsOfFile.Object? {
        let bytes = der.bytes.withBytes { span in (0..<span.byteCount).map { span.byte($0) } }
        return CertificateContent(bytes).map {
            ObjectsOfFile.Object(.certificate, $0.attributesOfNewItem, der)
        }
    }

    private static func key(_ key: KeyContent) -> ObjectsOfFile.Object {
        ObjectsOfFile.Object(.key, key.attributesOfNewItem, key.secret)
    }

    /// PKCS #12 is a sequence that begins with the number 3.
    private static func isPKCS12(_ file: HeldSecret) -> Bool {
        file.bytes.withBytes { bytes in
            guard bytes.byteCount > 8, bytes.byte(0) == 0x30 else { return false }
            let length = bytes.byte(1) < 0x80 ? 0 : Int(bytes.byte(1) & 0x7F)
            return length <= 4
                && [0x02, 0x01, 0x03].enumerated().allSatisfy {
                    bytes.byte(2 + length + $0.offset) == $0.element
                }
        }
    }
}
