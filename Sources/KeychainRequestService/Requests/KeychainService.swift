// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
package import KeychainMessages
package import KeychainModel
internal import KeychainItemStore
internal import KeychainSecrets

/// The way of a request: find → judge → authenticate → judge → open → record → answer.
package final class KeychainService: Sendable {
    let folder: KeychainFolder
    let vault: any KeyVault
    let protectors: Protectors
    let authentication: Authentication
    let audit: AuditLog?
    let policy: PolicyInForce
    let limits = PolicyLimits()
    let guesses: Guesses
    let itemGuesses = ItemGuesses()
    let memory: MemoryBudget
    let transfers = BackupTransfers()
    let checks = KeychainChecks()
    let mode: ServiceStatus.Mode
    var isDaemon: Bool { mode == .daemon }
    private let locksMemory = LockedMemory.isAvailable()

    init(
        folder: KeychainFolder, vault: any KeyVault, protectors: Protectors,
        authenticator: any Authenticator, policy: PolicyInForce, evidence: EvidenceStore,
        guesses: Guesses,
        memory: MemoryBudget, audit: AuditLog?, mode: ServiceStatus.Mode
    ) {
        self.folder = folder
        self.vault = vault
        self.protectors = protectors
        self.authentication = Authentication(authenticator, evidence)
        self.policy = policy
        self.guesses = guesses
        self.memory = memory
        self.audit = audit
        self.mode = mode
    }

    /// `emit` takes the parts of an answer that is too large for one. What is refused is recorded
    /// here; what is granted, by the verbs, with its evidence.
    package func answer<V: Verb>(
        _ verb: V, for asker: any Asker, emit: (V.Answer) throws(Refusal) -> Void = { _ in }
    ) throws(Refusal) -> V.Answer {
        do throws(Refusal) {
            vault.settle(asker.caller.user)
            return try verb.handled(by: self, for: asker, emit: emit)
        } catch {
            audit?.record(AuditLog.Operation(verb.auditName), asker, Evidence(), error)
            throw error
        }
    }

    /// For what is done with a keychain as a whole: the machine's is root's.
    func keychain(_ name: String?, for caller: Caller) throws(Refusal) -> OpenKeychain {
        let keychain = try folder.keychain(name, of: caller.user)
        guard !keychain.isSystem || caller.user == 0 else { throw .notEntitled }
        return keychain
    }

    /// What protects the policy itself is not expressible in it: only root has it read again.
    func policies(reload: Bool, for caller: Caller) throws(Refusal) -> String {
        if reload {
            guard caller.user == 0 else { throw .notEntitled }
            audit?.record(.reloadPolicies, by: AuditLog.Subject(caller), nil)
            guard policy.reload() else { throw .damagedPolicy }
        }
        return policy.report.text
    }

    func status(for caller: Caller) -> ServiceStatus {
        var names = folder.names(of: caller.user)
        if !names.contains(.login) { names.insert(.login, at: 0) }
        if folder.hasSystemKeychain, !names.contains(.system) { names.append(.system) }
        return ServiceStatus(
            mode: mode, keychains: names.map { status(of: $0, for: caller) },
            callerIdentifier: caller.identity.identifier,
            hasSession: vault.knowsSession(of: caller),
            hasPrompter: authentication.hasPrompter(for: caller), locksMemory: locksMemory,
            usesKernelKeyring: vault.usesKernelKeyring, deviceKeyOnDisk: true,
            vaultKeyPlace: vault.vaultKeyPlace)
    }

    private func status(of name: KeychainName, for caller: Caller) -> KeychainStatus {
        var status = KeychainStatus(
            name: name.description,
            path: folder.filePath(name, name == .system ? 0 : caller.user), lockState: .locked,
            isPasswordProtected: false, lockReason: .none, itemCount: 0, problem: nil)
        do throws(Refusal) {
            let keychain = try folder.keychain(name.description, of: caller.user)
            if keychain.isSystem {
                // It opens by itself, or can't be opened.
                _ = try vault.keys(of: keychain)
                status.lockState = .unlocked
                // What is in it is not everybody's to know.
                guard caller.user == 0 else { return status }
            } else {
                status.lockState = vault.lockState(of: keychain)
            }
            if status.lockState != .unlocked {
                status.lockReason = vault.lockReason(of: keychain, for: caller)
            }
            do {
                status.isPasswordProtected = try keychain.file.isPasswordProtected()
                let states = try keychain.file.protectors().map(\.state)
                status.isProvisional = states.contains(.provisional)
                status.hasPendingPassword = states.contains { $0 == .pending || $0 == .adopted }
                status.itemCount = try keychain.file.itemCount()
                status.damagedItems = keychain.file.corruptItemCount
                status.quarantinedItems = try keychain.file.quarantinedCount()
                if !keychain.isSystem {
                    status.settings = vault.inForce(try keychain.file.unverifiedSettings())
                }
            } catch { throw Refusal(error) }
        } catch {
            status.problem = error
            // Root's services are not everybody's to know.
            if error == .keychainGone, name != .system || caller.user == 0 {
                status.remains = KeychainRemains(of: status.path).all
            }
        }
        return status
    }
}
