// SPDX-License-Identifier: Apache-2.0
internal import KeychainAccessControl
package import KeychainMessages
package import KeychainModel
internal import KeychainItemStore
internal import KeychainSecrets

/// The way of a request: find → judge → authenticate → judge → open → record → answer.
package final class KeychainService: Sendable {
    /// What a service is made of.
    struct Parts {
        var folder: KeychainFolder
        var vault: any KeyVault
        var protectors: Protectors
        var authenticator: any Authenticator
        var policy = PolicyInForce()
        var evidence = EvidenceStore(keyring: nil)
        var guesses = Guesses()
        var memory = MemoryBudget()
        var audit: AuditLog?
        var mode: ServiceStatus.Mode
        /// Steps of the pass of authorisation; nil is the product's own.
        var unlocking: (any UnlockStep)?
        var consent: (any ConsentStep)?
    }

    let folder: KeychainFolder
    let vault: any KeyVault
    let protectors: Protectors
    let authentication: Authentication
    let policy: PolicyInForce
    let limits = PolicyLimits()
    let guesses: Guesses
    let itemGuesses = ItemGuesses()
    let memory: MemoryBudget
    let transfers = BackupTransfers()
    let checks = KeychainChecks()
    let mode: ServiceStatus.Mode
    let resync: PasswordResync
    let unlocking: any UnlockStep
    let consent: any ConsentStep
    var isDaemon: Bool { mode == .daemon }
    private let audit: AuditLog?
    private let locksMemory = LockedMemory.isAvailable()

    init(_ parts: Parts) {
        folder = parts.folder
        vault = parts.vault
        protectors = parts.protectors
        authentication = Authentication(parts.authenticator, parts.evidence)
        policy = parts.policy
        guesses = parts.guesses
        memory = parts.memory
        audit = parts.audit
        mode = parts.mode
        resync = PasswordResync(
            vault: vault, protectors: protectors, guesses: guesses, policy: policy, limits: limits)
        unlocking = parts.unlocking ?? resync
        consent = parts.consent ?? TrustedApplicationConsent(authentication: authentication)
    }

    /// `emit` takes the parts of an answer that is too large for one. What is granted and what is
    /// refused is recorded here, and before any of it leaves.
    package func answer(
        _ request: Request, for client: any Asker, emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        var isRecorded = false
        func recordGrant() {
            if !isRecorded { record(request, of: client, nil) }
            isRecorded = true
        }
        do throws(Refusal) {
            let last = try handle(request, for: client) { part throws(Refusal) in
                recordGrant()
                try emit(part)
            }
            recordGrant()
            return last
        } catch {
            if client.notes.hasChanged { recordGrant() }
            record(request, of: client, error)
            throw error
        }
    }

    private func record(_ request: Request, of client: any Asker, _ refusal: Refusal?) {
        let notes = client.notes
        for step in notes.takeSteps() {
            audit?.record(step.operation, client, Evidence(), step.refusal)
        }
        let proven = refusal == nil ? notes.proven : Evidence()
        guard refusal != nil || request.isRecorded(proving: proven) else { return }
        audit?.record(request.operation, client, proven, refusal)
    }

    private func handle(
        _ request: Request, for client: any Asker, emit: (Answer) throws(Refusal) -> Void
    ) throws(Refusal) -> Answer {
        vault.settle(client.caller.user)
        return switch request {
        case .add(let item, let secret, let parts):
            try add(item, secret, returning: parts, for: client)
        case .copyMatching(let query): try copyMatching(query, for: client, emit: emit)
        case .update(let query, let change, let secret):
            try update(query, change, secret, for: client)
        case .delete(let query): try delete(query, for: client)
        case .status: status(for: client.caller)
        case .createKeychain(let name, let password, let recoveryKey):
            try createKeychain(name, password, recoveryKey, for: client)
        case .unlock(let name, let password): try unlock(name, password, for: client)
        case .lock(let name): try lock(name, for: client)
        case .changeSettings(let name, let change):
            try changeSettings(name, change, for: client)
        case .setPassword(let name, let old, let new):
            try setPassword(name, old, new, for: client)
        case .authenticate(let constraint): try authenticate(constraint, for: client)
        case .capabilities: capabilities(for: client)
        case .endContext: endContext(for: client)
        case .policies(let reload): try policies(reload: reload, for: client)
        case .protectors(let request): try protectors(request, for: client)
        case .safekeeping(let name, let step): try maintain(name, step, for: client)
        case .preferences(let change): try preferences(change, for: client)
        }
    }

    /// For what is done with a keychain as a whole: the machine's is root's.
    func keychain(_ name: String?, for caller: Caller) throws(Refusal) -> OpenKeychain {
        let keychain = try folder.keychain(name, of: caller.user)
        guard !keychain.isSystem || caller.user == 0 else { throw .notEntitled }
        return keychain
    }

    /// What protects the policy itself is not expressible in it: only root has it read again.
    private func policies(reload: Bool, for client: any Asker) throws(Refusal) -> Answer {
        if reload {
            guard client.caller.user == 0 else { throw .notEntitled }
            try checkClient(client)
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

extension Request {
    /// A grant of one of many pieces is not recorded, and of a proof only one that was asked for.
    fileprivate func isRecorded(proving proven: Evidence) -> Bool {
        switch self {
        case .authenticate: !proven.isEmpty
        case .safekeeping(_, .readBackup), .safekeeping(_, .beginRestore),
            .safekeeping(_, .sendRestore):
            false
        default: true
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
