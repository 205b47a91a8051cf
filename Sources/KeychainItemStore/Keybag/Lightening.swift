// SPDX-License-Identifier: Apache-2.0
internal import KeychainSecrets

/// Decides when a password's protector is made anew at this machine's own cost.
///
/// A keychain from a faster machine costs more here than one made here, and each unlock delays
/// other users for as long. Refusing it would lose the keychain, so the high cost is paid once.
package struct Lightening: Sendable {
    /// The longest processor time of a derivation that is accepted.
    let longest: Duration
    /// Work up to this is accepted, however slow the machine.
    let leastWork: UInt64
    let cost: PasswordCostChoice

    /// Four times the cost of a new password.
    package static let ofThisMachine = Lightening(
        longest: .seconds(1), leastWork: 2 * PasswordCost.leastWork, cost: .calibrated)

    /// The parameters to change to; nil where the keys were not too costly, or there are no cheaper
    /// ones.
    func parameters(insteadOf keys: borrowing PasswordKeys) -> PasswordParameters? {
        guard keys.effort > longest, keys.parameters.work > leastWork,
            let new = try? cost.parameters(), new.work <= keys.parameters.work / 2
        else { return nil }
        return new
    }
}
