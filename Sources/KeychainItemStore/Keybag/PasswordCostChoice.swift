// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// How much work each guess at a new password costs.
package enum PasswordCostChoice: Sendable, Equatable {
    /// About a quarter of a second on this machine.
    case calibrated
    case fixed(passes: UInt32, memoryKiB: UInt32)

    /// Parameters with a new salt.
    func parameters() throws(SecretsError) -> PasswordParameters {
        switch self {
        case .calibrated: try PasswordCost.calibrated()
        case .fixed(let passes, let memoryKiB):
            try PasswordParameters(
                passes: passes, memoryKiB: memoryKiB,
                salt: RandomBytes.make(PasswordParameters.saltBytes))
        }
    }
}
