// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainMessages
package import KeychainModel
internal import KeychainRequestAudit
package import KeychainUserPresence
internal import KeychainVaults

extension KeychainManagement {
    /// Changes when a keychain locks. Any program of its user may have it lock sooner; the user is
    /// asked before it stays unlocked longer, unless the program gave the keychain's own password.
    package func changeSettings(
        _ name: String?, _ change: KeychainSettingsChange, for client: any Client
    ) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        if let label = change.label {
            try setLabel(label, of: keychain, for: client)
            if change.isOfLabelAlone { return }
        }
        // The own process locks nothing by itself.
        guard isDaemon else { throw .invalid(.notImplemented) }
        guard try isProtected(keychain) else { throw .state(.passcodeNotSet) }
        let asked = try settings(of: keychain)
        let new = try prompts(client).authorize {
            proven throws(RequestError) -> Ruling<KeychainSettings> in
            let old = try settings(of: keychain)
            guard old == asked else { throw .refused(.authenticationFailed) }
            let new = old.changed(by: change)
            if new.isLooser(than: old), proven.isEmpty,
                !givenPasswords.has(
                    keychain.id, by: client.caller, in: vault.locks.now(keychain.id))
            {
                return .allowAfter(
                    Requirement(.factor(.presence)),
                    Question(.keepOpen, names: [], itemCount: 0, reason: client.context?.reason))
            }
            return .allow(new)
        }
        let keys = try vault.keys(of: keychain)
        do throws(KeychainStoreError) { try keychain.file.setSettings(new, keys: keys) } catch {
            throw RequestError(error)
        }
        try vault.apply(new, to: keychain)
    }

    /// No question shows a label in place of the keychain's name, so any program of its user may
    /// set it while the keychain is unlocked.
    private func setLabel(
        _ label: String, of keychain: OpenKeychain, for client: any Client
    ) throws(RequestError) {
        guard label.utf8.count <= KeychainSettingsChange.longestLabel else {
            throw .invalid(.dataTooLarge)
        }
        guard try vault.keys(of: keychain).isUnlocked else { throw .state(.locked) }
        try prompts(client).checkClient()
        do throws(KeychainStoreError) { try keychain.file.setLabel(label) } catch {
            throw RequestError(error)
        }
        tell(.labelled(label), of: keychain.id, by: client)
    }

    /// The settings in force, where another program has tampered with those in the file.
    private func settings(of keychain: OpenKeychain) throws(RequestError) -> KeychainSettings {
        let keys = try vault.keys(of: keychain)
        guard keys.isUnlocked else { throw .state(.locked) }
        return (try? keychain.file.settings(keys)) ?? .strictest
    }
}
