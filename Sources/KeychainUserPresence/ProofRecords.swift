// SPDX-License-Identifier: Apache-2.0
package import KeychainModel
package import KeychainSecrets

/// Storage in which proofs outlive the process, and end with the boot.
package protocol ProofRecords: Sendable {
    /// The users of whom something is kept.
    func users() -> [UInt32]
    /// The names of what is kept for a user.
    func names(of user: UInt32) throws(RequestError) -> [String]
    func read(_ name: String, of user: UInt32) -> SecretBytes?
    /// Whether it is there now.
    func holds(_ name: String, of user: UInt32) -> Bool
    /// Keeps it until that time is over.
    func write(
        _ name: String, _ payload: borrowing SecretBytes, of user: UInt32, timeoutSeconds: UInt32?
    ) throws(RequestError)
    func remove(_ name: String, of user: UInt32)
}
