// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
internal import KeychainModel

extension KeychainService {
    /// What closes a keychain is its user's to say. Any program of the user's may have it closed
    /// sooner; to have it open longer the user is asked.
    func changeSettings(
        _ name: String?, _ change: KeychainSettingsChange, for asker: any Asker
    ) throws(Refusal) -> Answer {
        let keychain = try keychain(name, for: asker.caller)
        guard try isProtected(keychain) else { throw .passcodeNotSet }
        let old = try settings(of: keychain)
        let new = old.changed(by: change)
        var proven = Evidence()
        if new.isLooser(than: old) {
            guard authentication.mayAsk(.allow, for: asker) else { throw .interactionNotAllowed }
            proven = try authentication.satisfy(
                Requirement(.factor(.presence)),
                Question(.keepOpen, names: [], itemCount: 0, reason: asker.context?.reason),
                given: Evidence(), for: asker)
        }
        // Asking takes as long as a person does.
        guard try settings(of: keychain) == old, asker.isUnchanged() else {
            throw .authenticationFailed
        }
        let keys = try vault.keys(of: keychain)
        do { try keychain.file.setSettings(new, keys: keys) } catch { throw Refusal(error) }
        try vault.apply(new, to: keychain)
        audit?.record(.changeSettings, asker, proven, nil)
        return Answer()
    }

    /// Where another program has written them, those that came into force instead.
    private func settings(of keychain: OpenKeychain) throws(Refusal) -> KeychainSettings {
        let keys = try vault.keys(of: keychain)
        guard keys.isUnlocked else { throw .locked }
        return (try? keychain.file.settings(keys)) ?? .strictest
    }
}
