// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem

extension UserTurns {
    /// The key derivations of the process. Each takes 64 MiB at most, and about a quarter of a
    /// second of one core, or more if a file asks for it. So all of them take 128 MiB, and one user
    /// alone never takes every turn.
    ///
    /// A turn is one derivation and nothing else: a file that is slow to write holds no turn.
    package static let derivations = UserTurns(atOnce: 2)
}
