// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainMessages
package import KeychainModel
internal import KeychainRequestAudit
package import KeychainSecrets
package import KeychainUserPresence
internal import KeychainVaults

/// Requests about the protectors of a user's keychains.
extension KeychainManagement {
    package func listProtectors(
        _ name: String?, for client: any Client
    ) throws(RequestError) -> [Protector] {
        try protectors.list(try keychain(name, for: client.caller))
    }

    package func addProtector(
        _ new: NewProtector, _ name: String?, from opener: KeychainOpener, for client: any Client
    ) throws(RequestError) -> Protector {
        let keychain = try keychain(name, for: client.caller)
        try checkLength(opener.secret)
        let grant = try grant(.add, keychain, for: client)
        let added = try guesses.attempt(keychain.id) { () throws(RequestError) in
            try protectors.add(new, to: keychain, from: opener, grant)
        }
        if keychain.isSystem { openAtOnce(keychain, for: client.caller) }
        return added
    }

    package func removeProtector(
        _ identifier: String, _ name: String?, for client: any Client
    ) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        let grant = try grant(.remove, keychain, for: client)
        let hadPassword = try isProtected(keychain)
        try protectors.remove(identifier, from: keychain, grant)
        let hasPassword = try isProtected(keychain)
        if hadPassword, !hasPassword { try forgetPassword(of: keychain) }
    }

    package func testProtector(
        _ identifier: String, _ name: String?, typed: HeldSecret?, for client: any Client
    ) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        try checkLength(typed)
        let kind = try protectors.list(keychain).first { $0.identifier == identifier }?.kind
        let shows: UnlockThrottle.Outcome = kind == .password ? .right : .undecided
        try guesses.attempt(keychain.id, shows: shows) { () throws(RequestError) in
            try protectors.test(identifier, typed, of: keychain)
        }
    }

    /// Ends the unlocks and proofs that the password has given.
    private func forgetPassword(of keychain: OpenKeychain) throws(RequestError) {
        vault.endRenewal(of: keychain)
        authentication.forget(keychain.user)
        try vault.lock(keychain)
    }

    /// Unlocks the machine's keychain at once, so that waiting services need not try by themselves.
    private func openAtOnce(_ keychain: OpenKeychain, for caller: Caller) {
        let begun = vault.locks.now(keychain.id)
        guard vault.lockState(of: keychain) != .unlocked,
            let keys = try? protectors.unlockUnasked(keychain)
        else { return }
        try? vault.keep(keys, of: keychain, for: caller, since: begun)
    }

    package func unlock(
        _ name: String?, with opener: KeychainOpener, newPassword: HeldSecret?,
        for client: any Client
    ) throws(RequestError) {
        let keychain = try keychain(name, for: client.caller)
        try checkLength(opener.secret)
        try checkLength(newPassword)
        guard newPassword?.bytes.count != 0 else { throw .invalid(.badRequest) }
        // With a password, services could not unlock it any more.
        guard newPassword == nil || !keychain.isSystem else { throw .invalid(.notImplemented) }
        try prompts(client).checkClient()
        let begun = vault.locks.now(keychain.id)
        let shows: UnlockThrottle.Outcome =
            if case .recoveryKey = opener { .right } else { .undecided }
        let keys = try guesses.attempt(keychain.id, shows: shows) { () throws(RequestError) in
            switch (opener, newPassword) {
            case (.recoveryKey(let text), nil):
                return try resync.unlock(keychain, recoveryKey: text)
            case (.recoveryKey(let text), let newPassword?):
                try protectors.setPassword(keychain, recoveryKey: text, new: newPassword)
                vault.endRenewal(of: keychain)
                return try protectors.unlock(keychain, newPassword)
            case (.securityKey(let pin), nil): return try protectors.unlock(keychain, pin: pin)
            case (.securityKey, _), (.password, _), (.unasked, _): throw .invalid(.badRequest)
            }
        }
        try vault.keep(keys, of: keychain, for: client.caller, since: begun)
        if newPassword != nil {
            authentication.forget(client.caller.user)
            client.notes.note(step: .setPassword, nil)
        }
    }

    private func grant(
        _ operation: ProtectorChange.Operation, _ keychain: OpenKeychain, for client: any Client
    ) throws(RequestError) -> ProtectorGrant {
        try prompts(client).authorize { proven throws(RequestError) -> Ruling<ProtectorGrant> in
            let change = ProtectorChange(
                operation, keychain: keychain.file.identifier,
                isPasscodeSet: try hasProvableOwner(keychain, for: client.caller),
                mayAsk: authentication.mayAsk(.allow, for: client),
                provable: authentication.provable(for: client))
            switch resync.policy.now.judge.judge(change, proven) {
            case .allow(let grant): return .allow(grant)
            case .deny(let denial): throw RequestError(denial)
            case .allowAfter(let requirement):
                return .allowAfter(
                    requirement,
                    Question(
                        operation == .add ? .addProtector : .removeProtector,
                        names: [keychain.name.description], itemCount: 0,
                        reason: client.context?.reason))
            }
        }
    }
}
