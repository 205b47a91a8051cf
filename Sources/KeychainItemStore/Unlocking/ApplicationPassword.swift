// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
package import KeychainSecrets

extension KeychainFile {
    /// The key that an application password gives for the items of this keychain. One derivation
    /// serves all of them: each item has a random key of its own, and its class key is needed as
    /// well.
    ///
    /// 19 MiB and two passes, the least that RFC 9106's authors and OWASP recommend: a program that
    /// guesses already has the class key, and the program waits at each request for its user's turn
    /// to derive.
    package func applicationKey(
        _ password: borrowing SecretBytes
    ) throws(KeychainStoreError) -> HeldSecret {
        let salt = KeyedHash.fingerprint(
            Array("application password".utf8) + identifier, count: PasswordParameters.saltBytes)
        do {
            let parameters = try PasswordParameters(passes: 2, memoryKiB: 19 * 1024, salt: salt)
            return try UserTurns.derivations.take(for: owner.user) {
                () throws(SecretsError) in
                HeldSecret(try PasswordKey.derive(password, parameters))
            }
        } catch { throw .outOfMemory }
    }
}
