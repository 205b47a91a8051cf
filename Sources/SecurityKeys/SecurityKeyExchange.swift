// SPDX-License-Identifier: Apache-2.0
package import KeychainSecrets

/// What is asked of the keys that are plugged in, and their answer, as bytes.
package enum SecurityKeyExchange {
    /// A new credential. The question is a PIN, or nothing; the answer is the key, then the
    /// credential.
    case make
    /// The key of a credential. The question is the credential's length in two bytes
    /// (little-endian), the credential, and the PIN where it wants one.
    case open

    package func answer(
        to question: borrowing SecretBytes, by keys: [SecurityKey]
    ) throws(SecurityKeyError) -> SecretBytes {
        switch self {
        case .make:
            // Which of two is meant can't be told.
            guard let key = keys.first, keys.count == 1 else { throw .notThere }
            let (credential, secret) = try key.make(pin: question)
            return secret.bytes.appending(SecretBytes(copying: credential.bytes))
        case .open:
            let length = question.count < 2 ? 0 : Self.length(question)
            guard length > 0, 2 + length <= question.count,
                let credential = KeyCredential(
                    bytes: question.part(2..<2 + length).releasedFromLockedMemory())
            else { throw .otherKey }
            guard !keys.isEmpty else { throw .notThere }
            guard let key = keys.first(where: { $0.knows(credential) }) else { throw .otherKey }
            return try key.secret(of: credential, pin: question.part(2 + length..<question.count))
        }
    }

    private static func length(_ question: borrowing SecretBytes) -> Int {
        let bytes = question.part(0..<2).releasedFromLockedMemory()
        return Int(bytes[0]) | Int(bytes[1]) << 8
    }
}
