// SPDX-License-Identifier: Apache-2.0
internal import KeychainLinuxSystem
internal import KeychainSecrets

extension KeychainFile {
    /// Wraps the master key anew, and akpu where it is open, under the same password at a lower
    /// cost. A file that can't be written stays as it is, and opens as before.
    func lighten(
        _ keys: borrowing PasswordKeys, _ opened: borrowing OpenedKeybag,
        _ password: borrowing SecretBytes, _ deviceSecret: HeldSecret?, _ lightening: Lightening
    ) {
        let lighter = UserTurns.derivations.take(for: owner.user) {
            lightening.parameters(insteadOf: keys)
        }
        guard let parameters = lighter, let present = try? keybag().protectors,
            let place = present.firstIndex(where: { keys.belong(to: $0) })
        else { return }
        let hasPasscode = !present[place].wrappedPasscode.isEmpty
        // akpu would be lost where it can't be opened now, as without the device secret.
        guard !hasPasscode || opened.hasPasscode,
            let lighter = try? PasswordKeys(password, parameters, for: owner)
        else { return }
        var after = present
        after[place] = lighter.protector(
            present[place].state, master: opened.master, passcode: opened.passcodeOrNew(),
            hasPasscode ? deviceSecret : nil, wrap)
        try? replace(present, with: after)
    }
}
