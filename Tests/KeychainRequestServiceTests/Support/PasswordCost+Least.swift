// SPDX-License-Identifier: Apache-2.0
import KeychainItemStore

extension PasswordCostChoice {
    /// For the many tests whose keychains no guesses are made at.
    static let least = fixed(passes: 1, memoryKiB: 8)
}
