// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainSecrets

/// `security-certificates`: reads foreign files and certificates, in a process without a keychain.
enum CertificateWorker {
    private static let program = "security-certificates"
    private static let largestAnswer = 32 * 1024 * 1024
    private static let deadline = 60.0

    enum Trouble: Error {
        /// It is not installed, or it failed.
        case broken
        case file(Int32)
    }

    static func objects(ofFile path: String) throws(Trouble) -> ObjectsOfFile {
        let answer = HeldSecret(try ask("read", .file(path)))
        do { return try ObjectsOfFile(answer.bytes) } catch { throw .broken }
    }

    static func facts(_ question: CertificateQuestion) throws(Trouble) -> [CertificateFacts] {
        guard !question.certificates.isEmpty else { return [] }
        let answer = HeldSecret(try ask("judge", .bytes(question.bytes)))
        let bytes = answer.bytes.withBytes { span in
            (0..<span.byteCount).map { span.byte($0) }
        }
        do {
            let facts = try CertificateFacts.list(bytes)
            guard facts.count == question.certificates.count else { throw MalformedBytes() }
            return facts
        } catch { throw .broken }
    }

    private static func ask(
        _ what: String, _ input: ChildFilter.Input
    ) throws(Trouble) -> SecretBytes {
        guard let path = InstalledProgram.companion(program) else { throw .broken }
        do {
            return try ChildFilter.answer(
                of: path, [what], to: input, limit: largestAnswer, deadlineSeconds: deadline)
        } catch {
            if case .file = input, case .system(let code) = error { throw .file(code) }
            throw .broken
        }
    }
}
