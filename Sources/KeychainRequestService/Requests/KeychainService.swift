// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
internal import KeychainItemStore
package import KeychainMessages
package import KeychainModel
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

    /// `emit` takes the parts of an answer that is too large for one.
    package func answer(
        _ request: Request, for asker: any Asker, emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        do throws(Refusal) {
            return try answerUnrecorded(request, for: asker, emit: emit)
        } catch {
            audit?.record(request.operation, asker, Evidence(), error)
            throw error
        }
    }

    /// What is refused is recorded above; what is granted, by the verbs, with its evidence.
    private func answerUnrecorded(
        _ request: Request, for asker: any Asker, emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        vault.settle(asker.caller.user)
        return switch request {
        case .add(let item, let secret, let parts):
            try add(item, secret, returning: parts, for: asker)
        case .copyMatching(let query): try copyMatching(query, for: asker, emit: emit)
        case .update(let query, let change, let secret):
            try update(query, change, secret, for: asker)
        case .delete(let query): try delete(query, for: asker)
        case .status: status(for: asker.caller)
        case .createKeychain(let name, let password, let recoveryKey):
            try createKeychain(name, password, recoveryKey, for: asker)
        case .unlock(let name, let password): try unlock(name, password, for: asker)
        case .lock(let name): try lock(name, for: asker)
        case .changeSettings(let name, let change):
            try changeSettings(name, change, for: asker)
        case .setPassword(let name, let old, let new):
            try setPassword(name, old, new, for: asker)
        case .authenticate(let constraint): try authenticate(constraint, for: asker)
        case .capabilities: capabilities(for: asker)
        case .endContext: endContext(for: asker)
        case .policies(let reload): try policies(reload: reload, for: asker.caller)
        case .protectors(let request): try protectors(request, for: asker)
        case .safekeeping(let name, let step): try safekeep(name, step, for: asker)
        case .preferences(let change): try preferences(change, for: asker)
        }
    }

    /// For what is done with a keychain as a whole: the machine's is root's.
    func keychain(_ name: String?, for caller: Caller) throws(Refusal) -> OpenKeychain {
        let keychain = try folder.keychain(name, of: caller.user)
        guard !keychain.isSystem || caller.user == 0 else { throw .notEntitled }
        return keychain
    }

    /// What protects the policy itself is not expressible in it: only root has it read again.
    private func policies(reload: Bool, for caller: Caller) throws(Refusal) -> Answer {
        if reload {
            guard caller.user == 0 else { throw .notEntitled }
            audit?.record(.reloadPolicies, by: AuditLog.Subject(caller), nil)
            guard policy.reload() else { throw .damagedPolicy }
        }
        var answer = Answer()
        answer.report = policy.report.text
        return answer
    }

    private func status(for caller: Caller) -> Answer {
        var answer = Answer()
        var names = folder.names(of: caller.user)
        if !names.contains(.login) { names.insert(.login, at: 0) }
        if folder.hasSystemKeychain, !names.contains(.system) { names.append(.system) }
        answer.status = ServiceStatus(
            mode: mode, keychains: names.map { status(of: $0, for: caller) },
            callerIdentifier: caller.identity.identifier,
            hasSession: vault.knowsSession(of: caller),
            hasPrompter: authentication.hasPrompter(for: caller), locksMemory: locksMemory,
            usesKernelKeyring: vault.usesKernelKeyring, deviceKeyOnDisk: true,
            vaultKeyPlace: vault.vaultKeyPlace)
        return answer
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

extension Request {
    fileprivate var operation: AuditLog.Operation {
        switch self {
        case .add: .add
        case .copyMatching: .copyMatching
        case .update: .update
        case .delete: .delete
        case .status: .status
        case .createKeychain: .createKeychain
        case .unlock: .unlock
        case .lock: .lock
        case .changeSettings: .changeSettings
        case .setPassword: .setPassword
        case .authenticate: .authenticate
        case .capabilities, .endContext: .status
        case .policies(let reload): reload ? .reloadPolicies : .status
        case .protectors(let request): request.auditedOperation
        case .safekeeping(_, let step): step.operation
        case .preferences(let change): change == nil ? .status : .changePreferences
        }
    }
}

extension Safekeeping {
    fileprivate var operation: AuditLog.Operation {
        switch self {
        case .check(let repair): repair ? .repair : .status
        case .generations: .status
        case .beginBackup, .readBackup: .backup
        case .beginRestore, .sendRestore, .finishRestore, .restoreGeneration: .restore
        }
    }
}
