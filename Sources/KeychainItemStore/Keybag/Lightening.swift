// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// When a password's protector is made anew at this machine's own cost.
///
/// A backup of a faster machine costs more here than a keychain that was made here, and each unlock
/// keeps others waiting for as long. Refusing it would lose it, so that it is paid for once.
package struct Lightening: Sendable {
    /// The processor's time beyond which a derivation is too long.
    let longest: Duration
    /// No less work than that is too much, however slow the machine.
    let leastWork: UInt64
    let cost: PasswordCostChoice

    /// Four times of what a new password costs.
    package static let ofThisMachine = Lightening(
        longest: .seconds(1), leastWork: 2 * PasswordCost.leastWork, cost: .calibrated)

    /// The cost to go on with; nil where the keys were not too costly, or no cheaper ones are.
    func parameters(insteadOf keys: borrowing PasswordKeys) -> PasswordParameters? {
        guard keys.effort > longest, keys.parameters.work > leastWork,
            let new = try? cost.parameters(), new.work <= keys.parameters.work / 2
        else { return nil }
        return new
    }
}
