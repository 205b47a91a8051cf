// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// Storage in which proofs outlive the process: the daemon's part of the kernel's keyring, with a
/// keyring for each user.
package protocol ProofKeyring: Sendable {
    /// The users who have a keyring.
    func users() -> [UInt32]
    /// The names of the keys kept for a user.
    func names(of user: UInt32) throws(RequestError) -> [String]
    func read(_ name: String, of user: UInt32) -> SecretBytes?
    /// Whether the key exists now.
    func holds(_ name: String, of user: UInt32) -> Bool
    /// The kernel removes the key after the timeout.
    func write(
        _ name: String, _ payload: borrowing SecretBytes, of user: UInt32, timeoutSeconds: UInt32?
    ) throws(RequestError)
    func remove(_ name: String, of user: UInt32)
}
