// SPDX-License-Identifier: Apache-2.0
package import KeychainAccessControl
package import KeychainItemStore
internal import KeychainLinuxSystem
package import KeychainModel
package import KeychainSecrets

/// Protectors that open a keychain beside its password.
extension Protectors {
    package func list(_ keychain: OpenKeychain) throws(RequestError) -> [Protector] {
        try records(keychain).map(ProtectorKeys.shown).sorted { a, b in
            (a.kind.rawValue, a.made) < (b.kind.rawValue, b.made)
        }
    }

    package func add(
        _ new: NewProtector, to keychain: OpenKeychain, from opener: KeychainOpener,
        _ grant: borrowing ProtectorGrant
    ) throws(RequestError) -> Protector {
        let new = try make(new, for: keychain)
        try changing(keychain.user) { () throws(RequestError) in
            let opening = try source(keychain, opener)
            do throws(KeychainStoreError) {
                try keychain.file.add(
                    new.protector, key: SealingKey(new.key.bytes.copy()), grant, from: opening)
            } catch { throw RequestError(error) }
        }
        return ProtectorKeys.shown(new.protector)
    }

    /// The device key opens only the machine's keychain, which has at most one such protector.
    private func make(
        _ new: NewProtector, for keychain: OpenKeychain
    ) throws(RequestError) -> (protector: ProtectorRecord, key: HeldSecret) {
        switch new {
        case .device: break
        case .tpm:
            return try tpmTurns.take(for: keychain.user) { () throws(RequestError) in
                try keys.make(new, for: keychain.user)
            }
        case .recoveryKey, .credential, .securityKey:
            return try keys.make(new, for: keychain.user)
        }
        guard keychain.isSystem, try !records(keychain).contains(where: { $0.kind == .device })
        else { throw .invalid(.badRequest) }
        do throws(KeychainStoreError) {
            return (try .new(.device), HeldSecret(deviceKey.bytes.copy()))
        } catch { throw RequestError(error) }
    }

    /// Removes a protector. Another that works must be left: the password, a recovery key, or one
    /// that opens the keychain at this moment.
    package func remove(
        _ identifier: String, from keychain: OpenKeychain, _ grant: borrowing ProtectorGrant
    ) throws(RequestError) {
        let protector = try record(identifier, keychain)
        guard protector.kind != .device || keychain.isSystem else {
            throw .invalid(.notImplemented)
        }
        let isPassword = protector.kind == .password
        // A password that is being changed has two protectors, the old one and the new one.
        let others = try records(keychain).filter {
            $0 != protector && !(isPassword && $0.kind == .password)
        }
        // The machine's keychain has neither a password nor a recovery key.
        var rest = keychain.isSystem ? [] : others.filter { $0.isPersons }
        if rest.isEmpty { rest = others.filter { works($0, keychain) } }
        guard !isPassword else { return try removePassword(of: keychain, grant, leaving: rest) }
        do { try keychain.file.remove(protector, grant, leaving: rest) } catch {
            throw RequestError(error)
        }
    }

    /// Removes the password, and the secrets that it alone opens.
    private func removePassword(
        of keychain: OpenKeychain, _ grant: borrowing ProtectorGrant,
        leaving rest: [ProtectorRecord]
    ) throws(RequestError) {
        // Without a daemon, nothing but the password keeps a keychain open from one program to the
        // next.
        guard !allowsDeviceProtector else { throw .invalid(.notImplemented) }
        try changing(keychain.user) { () throws(RequestError) in
            do throws(KeychainStoreError) {
                try keychain.file.removePassword(grant, leaving: rest)
            } catch { throw RequestError(error) }
            destroyDeviceSecret(keychain)
        }
    }

    /// Ends the passcode-set class of an account that has no password any more; the keychain stays.
    /// Returns false where the class had ended before.
    package func endPasscodeClass(_ keychain: OpenKeychain) throws(RequestError) -> Bool {
        try changing(keychain.user) { () throws(RequestError) in
            guard try deviceSecret(keychain) != nil else { return false }
            do throws(KeychainStoreError) { try keychain.file.endPasscodeClass() } catch {
                throw RequestError(error)
            }
            destroyDeviceSecret(keychain)
            return true
        }
    }

    /// Finds the protector and opens the keychain with it, to see whether it works. Nothing stays
    /// open.
    package func test(
        _ identifier: String, _ typed: HeldSecret?, of keychain: OpenKeychain
    ) throws(RequestError) {
        let protector = try record(identifier, keychain)
        switch protector.kind {
        case .password:
            guard let typed else { throw .invalid(.badRequest) }
            _ = try unlock(keychain, typed)
        case .device: _ = try unlockWithDevice(keychain)
        case .recoveryKey, .tpm, .credential, .securityKey:
            _ = try unlock(keychain, with: protector, typed)
        }
    }

    package func unlock(
        _ keychain: OpenKeychain, with protector: ProtectorRecord, _ typed: HeldSecret? = nil,
        atLogin: Bool = false
    ) throws(RequestError) -> UnlockedKeys {
        let key = try key(of: protector, for: keychain, typed: typed, atLogin: atLogin)
        do { return try keychain.file.unlock(with: protector, key: key) } catch {
            guard error == .wrongProtectorKey, protector.kind == .recoveryKey else {
                throw RequestError(error)
            }
            throw .refused(.wrongRecoveryKey)
        }
    }

    /// Opens the keychain with protectors that need no user, the device's key before a TPM. Throws
    /// the error of the last one where none works.
    package func unlockUnasked(_ keychain: OpenKeychain) throws(RequestError) -> UnlockedKeys {
        let records = try records(keychain)
        if records.contains(where: { $0.kind == .device }) {
            return try unlockWithDevice(keychain)
        }
        var refusal = RequestError.state(.notOpenedHere)
        for record in records where record.kind == .tpm || record.kind == .credential {
            do throws(RequestError) { return try unlock(keychain, with: record) } catch {
                refusal = error
            }
        }
        throw refusal
    }

    /// Opens the keychain with a recovery key, which may be any of the keychain's.
    package func unlock(_ keychain: OpenKeychain, recoveryKey: HeldSecret) throws(RequestError)
        -> UnlockedKeys
    {
        let protector = try record(of: recoveryKey, keychain)
        return try unlock(keychain, with: protector, recoveryKey)
    }

    /// Opens the keychain with a recovery key, and lets the next login's password open it too.
    package func unlock(
        _ keychain: OpenKeychain, recoveryKey: HeldSecret, goingOnWith new: borrowing PasswordKeys
    ) throws(RequestError) -> UnlockedKeys {
        let protector = try record(of: recoveryKey, keychain)
        let key = try keys.key(of: protector, for: keychain.user, typed: recoveryKey)
        do {
            return try keychain.file.unlock(with: protector, key: key, goingOnWith: new)
        } catch { throw RequestError(error) }
    }

    /// Opens the keychain with any of its security keys that is plugged in.
    package func unlock(_ keychain: OpenKeychain, pin: HeldSecret) throws(RequestError)
        -> UnlockedKeys
    {
        var refusal = RequestError.state(.noSuchProtector)
        for record in try records(keychain) where record.kind == .securityKey {
            do throws(RequestError) { return try unlock(keychain, with: record, pin) } catch {
                // The credential is another security key's, as was found out without a touch.
                guard error == .state(.protectorChanged) else { throw error }
                refusal = error
            }
        }
        throw refusal
    }

    /// Replaces the keychain's password.
    package func setPassword(
        _ keychain: OpenKeychain, recoveryKey: HeldSecret, new: HeldSecret
    ) throws(RequestError) {
        try changing(keychain.user) { () throws(RequestError) in
            // A device secret that outlived its password serves no other.
            if try !records(keychain).contains(where: { $0.kind == .password }) {
                destroyDeviceSecret(keychain)
            }
            let secret = try deviceSecretOrNew(keychain)
            let opening = try source(keychain, .recoveryKey(recoveryKey))
            do throws(KeychainStoreError) {
                try keychain.file.setPassword(
                    from: opening, new: new.bytes.copy(), deviceSecret: secret,
                    cost: passwordCost)
            } catch { throw RequestError(error) }
        }
    }

    /// The protectors that open the keychain at a login without a password.
    package func opensAtLogin(_ keychain: OpenKeychain) -> [ProtectorRecord] {
        ((try? records(keychain)) ?? []).filter(\.opensAtLogin)
    }

    // MARK: Steps

    /// The protector's key. A TPM is asked in turns, so that a user who has it asked again and again
    /// keeps it from no other.
    private func key(
        of protector: ProtectorRecord, for keychain: OpenKeychain, typed: HeldSecret? = nil,
        atLogin: Bool = false
    ) throws(RequestError) -> SealingKey {
        guard protector.kind == .tpm else {
            return try keys.key(
                of: protector, for: keychain.user, typed: typed, atLogin: atLogin)
        }
        return try tpmTurns.take(for: keychain.user) { () throws(RequestError) in
            try keys.key(of: protector, for: keychain.user, typed: nil)
        }
    }

    private func records(_ keychain: OpenKeychain) throws(RequestError) -> [ProtectorRecord] {
        do { return try keychain.file.protectors() } catch { throw RequestError(error) }
    }

    private func record(
        _ identifier: String, _ keychain: OpenKeychain
    ) throws(RequestError) -> ProtectorRecord {
        guard let found = try records(keychain).first(where: { $0.shownIdentifier == identifier })
        else { throw .state(.noSuchProtector) }
        return found
    }

    private func works(_ protector: ProtectorRecord, _ keychain: OpenKeychain) -> Bool {
        (try? test(protector.shownIdentifier, nil, of: keychain)) != nil
    }

    private func record(
        of recoveryKey: HeldSecret, _ keychain: OpenKeychain
    ) throws(RequestError) -> ProtectorRecord {
        let all = try records(keychain).filter { $0.kind == .recoveryKey }
        guard !all.isEmpty else { throw .state(.noSuchProtector) }
        for record in all where (try? unlock(keychain, with: record, recoveryKey)) != nil {
            return record
        }
        throw .refused(.wrongRecoveryKey)
    }

    private func source(
        _ keychain: OpenKeychain, _ opener: KeychainOpener
    ) throws(RequestError) -> MasterKeySource {
        switch opener {
        case .unasked:
            guard keychain.isSystem else { throw .invalid(.badRequest) }
            return try unaskedSource(keychain)
        case .password(let password):
            return .password(password.bytes.copy(), try? deviceSecret(keychain))
        case .recoveryKey(let text):
            let record = try record(of: text, keychain)
            return .protector(
                record, try keys.key(of: record, for: keychain.user, typed: text))
        case .securityKey: throw .invalid(.badRequest)
        }
    }

    private func unaskedSource(
        _ keychain: OpenKeychain
    ) throws(RequestError) -> MasterKeySource {
        let records = try records(keychain)
        if let device = records.first(where: { $0.kind == .device }) {
            return .protector(device, SealingKey(deviceKey.bytes.copy()))
        }
        guard let working = records.first(where: { works($0, keychain) }) else {
            throw .state(.notOpenedHere)
        }
        return .protector(working, try key(of: working, for: keychain))
    }
}

extension ProtectorRecord {
    /// Whether a person knows it or has it on paper: such a protector can't be tried here.
    fileprivate var isPersons: Bool {
        state != .provisional && (kind == .password || kind == .recoveryKey)
    }
}
