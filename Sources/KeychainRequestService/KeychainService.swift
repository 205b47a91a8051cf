// SPDX-License-Identifier: Apache-2.0
package import KeychainActivePolicy
package import KeychainMaintenance
internal import KeychainManagement
package import KeychainMessages
package import KeychainModel
package import KeychainRequestAudit
package import KeychainUserPresence
package import KeychainVaults
internal import KeychainAccessControl
internal import KeychainItemStore
internal import KeychainPolicyModel
internal import KeychainSecrets

/// The way of a request: find → judge → authenticate → judge → open → record → answer.
package final class KeychainService: Sendable {
    /// The parts that a service is built from.
    package struct Parts {
        package var folder: KeychainFolder
        package var vault: any KeyVault
        package var protectors: Protectors
        package var authenticator: any Authenticator
        package var policy = ActivePolicy()
        package var evidence = EvidenceStore(keyring: nil)
        package var guesses = UnlockThrottle()
        package var memory = MemoryBudget()
        package var audit: AuditLog?
        package var mode: ServiceStatus.Mode
        /// Replacements for steps of authorisation; nil means the product's own.
        var unlocking: (any UnlockStep)?
        var consent: (any ConsentStep)?

        package init(
            folder: KeychainFolder, vault: any KeyVault, protectors: Protectors,
            authenticator: any Authenticator, mode: ServiceStatus.Mode
        ) {
            self.folder = folder
            self.vault = vault
            self.protectors = protectors
            self.authenticator = authenticator
            self.mode = mode
        }
    }

    let folder: KeychainFolder
    let vault: any KeyVault
    let protectors: Protectors
    let authentication: Authentication
    package let policy: ActivePolicy
    let limits = PolicyLimits()
    let itemGuesses = ItemThrottle()
    package let memory: MemoryBudget
    package let maintenance: KeychainMaintenance
    let management: KeychainManagement
    let mode: ServiceStatus.Mode
    let consent: any ConsentStep
    var isDaemon: Bool { mode == .daemon }
    package var changes: ChangeFeed { management.changes }
    /// Whether a policy's limit still counts an earlier request.
    package var countsUses: Bool { limits.hasUses }
    private let audit: AuditLog?
    private let locksMemory = LockedMemory.isAvailable()

    package init(_ parts: Parts) {
        folder = parts.folder
        vault = parts.vault
        protectors = parts.protectors
        authentication = Authentication(parts.authenticator, parts.evidence)
        policy = parts.policy
        memory = parts.memory
        audit = parts.audit
        maintenance = KeychainMaintenance(
            folder: folder, vault: vault, protectors: protectors, authentication: authentication,
            memory: memory, isDaemon: parts.mode == .daemon)
        mode = parts.mode
        management = KeychainManagement(
            folder: folder, authentication: authentication,
            resync: PasswordResync(
                vault: vault, protectors: protectors, guesses: parts.guesses, policy: policy,
                limits: limits),
            unlocking: parts.unlocking, isDaemon: parts.mode == .daemon)
        consent = parts.consent ?? TrustedApplicationConsent(authentication: authentication)
    }

    /// `emit` takes the parts of an answer that is too large for one message. Grants and refusals
    /// are recorded here, before any part of the answer leaves.
    package func answer<V: Verb>(
        _ verb: V, for client: any Client, emit: (V.Answer) throws(RequestError) -> Void = { _ in }
    ) throws(RequestError) -> V.Answer {
        var isRecorded = false
        do throws(RequestError) {
            if client.caller.via != nil { try RelayedVerbs.check(verb) }
            vault.waitForPendingUnlocks(of: client.caller.user)
            let last = try verb.handled(by: self, for: client) { part throws(RequestError) in
                recordGrant(of: verb, to: client, unless: &isRecorded)
                try emit(part)
            }
            recordGrant(of: verb, to: client, unless: &isRecorded)
            return last
        } catch {
            if client.notes.hasChanged { recordGrant(of: verb, to: client, unless: &isRecorded) }
            record(verb, of: client, error)
            throw error
        }
    }

    private func recordGrant(
        of verb: some Verb, to client: any Client, unless isRecorded: inout Bool
    ) {
        if !isRecorded { record(verb, of: client, nil) }
        isRecorded = true
    }

    /// Records a refusal that was decided before the request reached the service.
    package func recordRefusal(of verb: some Verb, to client: any Client, _ error: RequestError) {
        record(verb, of: client, error)
    }

    private func record(_ verb: some Verb, of client: any Client, _ error: RequestError?) {
        let notes = client.notes
        for step in notes.takeSteps() {
            audit?.record(step.operation, client, Evidence(), step.refusal, authentication)
        }
        let proven = error == nil ? notes.proven : Evidence()
        let isRecorded =
            switch verb.grantRecord {
            case .always: true
            case .whereProven: !proven.isEmpty
            case .never: false
            }
        guard error != nil || isRecorded, !notes.isRecordedElsewhere(error) else { return }
        audit?.record(
            AuditLog.Operation(verb.auditName), client, proven, error, authentication)
    }

    /// The prompts of a request about whole keychains.
    func prompts(_ client: any Client) -> UserPrompts { UserPrompts(client, authentication) }
}

extension AuditLog {
    func record(
        _ operation: Operation, _ client: any Client, _ evidence: Evidence, _ error: RequestError?,
        _ authentication: Authentication
    ) {
        record(
            operation, by: Subject(client.caller), evidence: evidence, error, notes: client.notes
        ) {
            let told = client.factsToTell()
            guard let ui = client.notes.unlookedUI else { return told }
            let mayAsk = authentication.mayAsk(ui, for: client)
            return {
                var facts = told()
                facts[.interactive] = .known(mayAsk)
                return facts
            }
        }
    }
}

extension KeychainService {
    /// Does a verb's work in one keychain, and a second time where the keychain was locked and its
    /// user unlocks it. Work that throws `.locked` has changed nothing. `hasTold` says whether the
    /// work has already emitted a part of the answer, which must not be emitted twice.
    func withAccess<R>(
        to keychain: OpenKeychain, _ intent: Intent, _ prompts: UserPrompts,
        unless hasTold: () -> Bool = { false }, _ work: (Authorization) throws(RequestError) -> R
    ) throws(RequestError) -> R {
        do throws(RequestError) {
            return try work(Authorization(intent, in: keychain, prompts, by: self))
        } catch {
            guard error == .state(.locked), !hasTold(),
                management.couldOpen(keychain), prompts.mayAsk(intent.ui)
            else { throw error }
        }
        try management.open(keychain, prompts)
        return try work(Authorization(intent, in: keychain, prompts, by: self))
    }

    /// Does the work in one keychain after the other, until it returns true. `elsewhere` does it in
    /// the machine's keychain where another process has that one open.
    func withAccess(
        to keychains: SearchedKeychains, _ intent: Intent, _ prompts: UserPrompts,
        unless hasTold: () -> Bool = { false },
        elsewhere: () throws(RequestError) -> Bool = KeychainService.nowhereElse,
        _ work: (Authorization) throws(RequestError) -> Bool
    ) throws(RequestError) {
        try each(of: keychains, elsewhere: elsewhere) { keychain throws(RequestError) in
            try withAccess(to: keychain, intent, prompts, unless: hasTold, work)
        }
    }

    /// Changes of the machine's keychain come to the process that has it open.
    static func nowhereElse() throws(RequestError) -> Bool { throw .failed(.notAvailable) }
}

/// Maps each verb to the function that does its work.
extension KeychainService: VerbHandler {
    package func handle(_ verb: Add, for client: any Client) throws(RequestError) -> Item {
        try add(verb.item, verb.secret, returning: verb.parts, for: client)
    }

    package func handle(
        _ verb: CopyMatching, for client: any Client, emit: ([Item]) throws(RequestError) -> Void
    ) throws(RequestError) -> [Item] {
        try copyMatching(verb.query, for: client, emit: emit)
    }

    package func handle(_ verb: Update, for client: any Client) throws(RequestError) -> Int {
        try update(verb.query, verb.change, verb.secret, for: client)
    }

    package func handle(_ verb: Delete, for client: any Client) throws(RequestError) -> Int {
        try delete(verb.query, for: client)
    }

    package func handle(_ verb: Status, for client: any Client) -> ServiceStatus {
        let caller = client.caller
        return ServiceStatus(
            mode: mode, keychains: management.statusOfAll(for: client),
            callerIdentifier: caller.identifier, hasSession: vault.knowsSession(of: caller),
            hasPrompter: authentication.hasPrompter(for: caller), locksMemory: locksMemory,
            usesKernelKeyring: vault.usesKernelKeyring, deviceKeyOnDisk: true,
            vaultKeyPlace: vault.vaultKeyPlace)
    }

    package func handle(_ verb: CreateKeychain, for client: any Client) throws(RequestError) -> Done
    {
        let password =
            verb.asks ? try management.askForPassword(of: verb, for: client) : verb.password
        try management.createKeychain(verb.name, password, verb.recoveryKey, for: client)
        return Done()
    }

    package func handle(_ verb: DeleteKeychain, for client: any Client) throws(RequestError) -> Done
    {
        try management.deleteKeychain(verb.keychain, for: client)
        return Done()
    }

    package func handle(_ verb: Unlock, for client: any Client) throws(RequestError) -> Done {
        if let password = verb.password {
            try management.unlock(verb.keychain, password, for: client)
        } else {
            try management.askToUnlock(verb.keychain, for: client)
        }
        return Done()
    }

    package func handle(_ verb: Lock, for client: any Client) throws(RequestError) -> Done {
        try management.lock(verb.keychain, for: client)
        return Done()
    }

    package func handle(_ verb: ChangeSettings, for client: any Client) throws(RequestError) -> Done
    {
        try management.changeSettings(verb.keychain, verb.change, for: client)
        return Done()
    }

    package func handle(_ verb: SetPassword, for client: any Client) throws(RequestError) -> Done {
        try management.setPassword(verb.keychain, verb.old, verb.new, for: client)
        return Done()
    }

    package func handle(_ verb: Authenticate, for client: any Client) throws(RequestError) -> Done {
        try prompts(client).authenticate(
            verb.constraint, hasPasscode: management.hasPasscode(client.caller))
        return Done()
    }

    package func handle(_ verb: ReadCapabilities, for client: any Client) -> Capabilities {
        authentication.capabilities(
            for: client, hasPasscode: management.hasPasscode(client.caller))
    }

    package func handle(_ verb: WouldAsk, for client: any Client) -> Bool {
        authentication.mayAsk(.allow, for: client)
            && authentication.wouldAsk(Question(verb.matter), for: client)
    }

    package func handle(_ verb: EndContext, for client: any Client) -> Done {
        authentication.endContext(of: client)
        return Done()
    }

    package func handle(_ verb: Policies, for client: any Client) throws(RequestError) -> String {
        let user = client.caller.user
        switch verb.question {
        case .report: break
        case .reload:
            // Reloading is root's alone: a policy can't express the protection of the policy
            // itself.
            guard user == 0 else { throw .refused(.notEntitled) }
            try prompts(client).checkClient()
            guard policy.reload() else { throw .failed(.damagedPolicy) }
        case .facts: return try policy.facts(of: verb.process, for: user)
        case .lastDenied:
            guard let record = audit?.lastDenied(of: user) else { throw .state(.notFound) }
            return record
        }
        return policy.report.text
    }

    package func handle(
        _ verb: Preferences, for client: any Client
    ) throws(RequestError) -> KeychainPreferences {
        try management.preferences(verb.change, for: client)
    }

    package func handle(
        _ verb: ListProtectors, for client: any Client
    ) throws(RequestError) -> [Protector] {
        try management.listProtectors(verb.keychain, for: client)
    }

    package func handle(_ verb: AddProtector, for client: any Client) throws(RequestError)
        -> Protector
    {
        try management.addProtector(verb.new, verb.keychain, from: verb.opener, for: client)
    }

    package func handle(_ verb: RemoveProtector, for client: any Client) throws(RequestError)
        -> Done
    {
        try management.removeProtector(verb.identifier, verb.keychain, for: client)
        return Done()
    }

    package func handle(_ verb: TestProtector, for client: any Client) throws(RequestError) -> Done
    {
        try management.testProtector(
            verb.identifier, verb.keychain, typed: verb.secret, for: client)
        return Done()
    }

    package func handle(
        _ verb: UnlockWithProtector, for client: any Client
    ) throws(RequestError) -> Done {
        try management.unlock(
            verb.keychain, with: verb.opener, newPassword: verb.newPassword, for: client)
        return Done()
    }

    // MARK: Deputies

    /// The daemon's server answers `Introduce`, `ForgetPeer` and `WatchKeychains`, which a deputy
    /// sends for all of its user's programs. The service refuses any that reach it.
    package func handle(
        _ verb: Introduce, for client: any Client
    ) throws(RequestError) -> RelayedPeer {
        throw .refused(.notEntitled)
    }

    package func handle(_ verb: ForgetPeer, for client: any Client) throws(RequestError) -> Done {
        throw .refused(.notEntitled)
    }

    package func handle(
        _ verb: WatchKeychains, for client: any Client
    ) throws(RequestError) -> KeychainChanges {
        throw .refused(.notEntitled)
    }

    package func handle(
        _ verb: EndProofs, for client: any Client
    ) throws(RequestError) -> [ItemReference] {
        authentication.endProofs(about: verb.items, of: client)
    }

    package func handle(
        _ verb: ReadFormerSecrets, for client: any Client
    ) throws(RequestError) -> [FormerSecret] {
        try formerSecrets(verb, for: client)
    }

    package func handle(
        _ verb: ListLetIn, for client: any Client, emit: ([LetIn]) throws(RequestError) -> Void
    ) throws(RequestError) -> [LetIn] {
        try letIn(verb, for: client, emit: emit)
    }

    package func handle(_ verb: LeaveGroup, for client: any Client) throws(RequestError) -> Done {
        try leave(verb, for: client)
        return Done()
    }

    package func handle(
        _ verb: CheckKeychain, for client: any Client
    ) throws(RequestError) -> KeychainFindings {
        try maintenance.check(verb.keychain, repair: verb.repair, for: client)
    }

    package func handle(
        _ verb: ListGenerations, for client: any Client
    ) throws(RequestError) -> [Generation] {
        try maintenance.generations(of: verb.keychain, for: client)
    }

    package func handle(
        _ verb: BeginBackup, for client: any Client
    ) throws(RequestError) -> BackupTransfer {
        try maintenance.beginBackup(of: verb.keychain, for: client)
    }

    package func handle(_ verb: ReadBackup, for client: any Client) throws(RequestError)
        -> BackupPiece
    {
        try maintenance.readBackup(
            of: verb.keychain, verb.transfer, offset: verb.offset, for: client)
    }

    package func handle(
        _ verb: BeginRestore, for client: any Client
    ) throws(RequestError) -> BackupTransfer {
        try maintenance.beginRestore(of: verb.keychain, for: client)
    }

    package func handle(_ verb: SendRestore, for client: any Client) throws(RequestError) -> Done {
        try maintenance.sendRestore(of: verb.keychain, verb.transfer, verb.piece, for: client)
        return Done()
    }

    package func handle(
        _ verb: FinishRestore, for client: any Client
    ) throws(RequestError) -> RestoredKeychain {
        let restored = try maintenance.finishRestore(
            of: verb.keychain, verb.transfer, digest: verb.digest, for: client)
        try management.tellReplaced(verb.keychain, by: client)
        return restored
    }

    package func handle(
        _ verb: RestoreGeneration, for client: any Client
    ) throws(RequestError) -> RestoredKeychain {
        let restored = try maintenance.restore(
            generation: verb.generation, of: verb.keychain, for: client)
        try management.tellReplaced(verb.keychain, by: client)
        return restored
    }

    package func handle(
        _ verb: FindAttributed, for client: any Client,
        emit: ([AttributedMatch]) throws(RequestError) -> Void
    ) throws(RequestError) -> [AttributedMatch] {
        try findAttributed(verb, for: client, emit: emit)
    }
}

extension AuditLog.Operation {
    /// The log has all names of verbs, and further names for events without a verb.
    init(_ name: AuditName) {
        self =
            switch name {
            case .add: .add
            case .copyMatching: .copyMatching
            case .update: .update
            case .delete: .delete
            case .unlock: .unlock
            case .lock: .lock
            case .setPassword: .setPassword
            case .createKeychain: .createKeychain
            case .status: .status
            case .deleteKeychain: .deleteKeychain
            case .changeSettings: .changeSettings
            case .changePreferences: .changePreferences
            case .authenticate: .authenticate
            case .reloadPolicies: .reloadPolicies
            case .backup: .backup
            case .restore: .restore
            case .repair: .repair
            case .addProtector: .addProtector
            case .removeProtector: .removeProtector
            case .testProtector: .testProtector
            case .introduce: .introduce
            }
    }
}
