// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import KeychainRequestAudit
internal import KeychainRequestService
internal import KeychainUserPresence
internal import KeychainVaults
internal import KeyringStore
internal import LoginRegistry
internal import PromptedAuthentication
internal import SessionVault
package import KeychainActivePolicy
internal import Dispatch
package import KeychainModel
package import KeychainLinuxSystem
package import KeychainLocalSocket
internal import LoginManager
package import KeychainSecrets
internal import Synchronization

/// Where a daemon keeps what, and whom it listens to.
package struct DaemonPlan: Sendable {
    package var stateFolder: String
    package var runtimeFolder: String
    /// The vault key, where the service manager kept it for us.
    package var vaultKey: Descriptor?
    package var requests: Listener
    package var logins: Listener
    package var offers: Listener
    package var authenticationProgram: String
    package var prompterProgram: String
    /// nil where the machine does without.
    package var tpmProgram: String?
    package var securityKeyProgram: String?
    /// Secrets that the service was given when it was started, by their names.
    package var credentials: [String: HeldSecret]
    package var accountName: @Sendable (UInt32) -> String?
    /// Names of all groups of an account; nil where that can't be told.
    package var accountGroups: @Sendable (String) -> [String]?
    package var groupName: @Sendable (UInt32) -> String?
    /// Whether an account takes no password.
    package var hasEmptyPassword: @Sendable (String) -> Bool
    package var policy: ActivePolicy
    /// What closes every keychain at least.
    package var bounds: @Sendable () -> KeychainSettings
    package var log: @Sendable (String) -> Void

    package init(
        stateFolder: String, runtimeFolder: String, vaultKey: Descriptor?, requests: Listener,
        logins: Listener, offers: Listener, authenticationProgram: String, prompterProgram: String,
        tpmProgram: String?, securityKeyProgram: String?, credentials: [String: HeldSecret],
        accountName: @escaping @Sendable (UInt32) -> String?,
        accountGroups: @escaping @Sendable (String) -> [String]?,
        groupName: @escaping @Sendable (UInt32) -> String?,
        hasEmptyPassword: @escaping @Sendable (String) -> Bool, policy: ActivePolicy,
        bounds: @escaping @Sendable () -> KeychainSettings,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.stateFolder = stateFolder
        self.runtimeFolder = runtimeFolder
        self.vaultKey = vaultKey
        self.requests = requests
        self.logins = logins
        self.offers = offers
        self.authenticationProgram = authenticationProgram
        self.prompterProgram = prompterProgram
        self.tpmProgram = tpmProgram
        self.securityKeyProgram = securityKeyProgram
        self.credentials = credentials
        self.accountName = accountName
        self.accountGroups = accountGroups
        self.groupName = groupName
        self.hasEmptyPassword = hasEmptyPassword
        self.policy = policy
        self.bounds = bounds
        self.log = log
    }
}

extension DaemonPlan {
    /// It is read once, and then closed.
    fileprivate var withoutVaultKey: DaemonPlan {
        var plan = self
        plan.vaultKey = nil
        return plan
    }
}

/// The whole service of a machine, put together.
package final class Daemon: Sendable {
    /// How often logins that ended without saying so are looked for.
    private static let sweepSeconds = 2
    /// How long servers may take to stop.
    private static let stopSeconds = 5
    static let stateFolderMode: UInt32 = 0o711

    private let plan: DaemonPlan
    private let requests: RequestServer
    private let logins: LoginServer
    private let offers: LoginServer
    private let sessions: SessionRegistry
    private let locking: Locking
    private let audit: AuditLog
    private let generations: GenerationKeeper
    private let transfers: BackupTransfers
    private let folder: KeychainFolder
    private let protectors: Protectors
    private let servers = ServingThreads()
    private let watches = Mutex<[@Sendable () -> Void]>([])

    package init(_ plan: DaemonPlan) throws {
        self.plan = plan.withoutVaultKey
        let state = plan.stateFolder
        try PrivateFile.folder(state, mode: Self.stateFolderMode)
        let accounts = AccountNames(plan.accountName)
        let memory = MemoryBudget()
        let folder = KeychainFolder(
            state, layout: .folderPerUser, accountName: { accounts.name(of: $0) }, memory: memory)
        accounts.expect(Set(folder.keychains().map(\.user)))
        let keyring = try DaemonKeyring(stateFolder: state)
        let evidence = EvidenceStore(keyring: keyring)
        let sessions = SessionRegistry(keyring: keyring) { evidence.forget($0, of: $1) }
        let screens = ScreenLocks()
        let pending = PendingUnlocks()
        let protectors = Protectors(
            folder: folder, deviceKey: try Protectors.deviceKey(at: state + "/device.key"),
            allowsDeviceProtector: false,
            keys: ProtectorKeys(
                tpm: plan.tpmProgram.map { TPMProgram(path: $0) },
                securityKeys: plan.securityKeyProgram.map { SecurityKeyProgram(path: $0) },
                credentials: plan.credentials))
        let vault = KernelVault(
            keyring: keyring, sessions: sessions,
            vaultKey: try VaultKey.load(
                kept: plan.vaultKey, folder: plan.runtimeFolder + "/private"),
            deviceKey: try Protectors.deviceKey(at: state + "/device.key"), pending: pending,
            systemOpening: SystemKeychainOpening(protectors), bounds: plan.bounds)
        let prompters = PrompterRegistry()
        let audit = AuditLog(folder: state, journal: AuditJournal())
        PolicyAnnouncement.begin(plan.policy, audit)
        let guesses = UnlockThrottle()
        var parts = KeychainService.Parts(
            folder: folder, vault: vault, protectors: protectors,
            authenticator: PromptedAuthenticator(
                program: plan.authenticationProgram, prompters: prompters, accounts: accounts),
            mode: .daemon)
        parts.policy = plan.policy
        parts.evidence = evidence
        parts.guesses = guesses
        parts.memory = memory
        parts.audit = audit
        let service = KeychainService(parts)
        let names = NameGuard(NameGuard.Machine(sessions, accounts))
        let directory = CallerFacts.Directory(
            accounts: accounts, groups: plan.accountGroups, group: plan.groupName,
            names: names)
        requests = RequestServer(
            plan.requests, service: service,
            resolver: CallerResolver(sessions: sessions, screens: screens, names: names),
            directory: directory,
            memory: memory, prompters: prompters,
            prompterProgram: plan.prompterProgram)
        let handler = Logins(
            folder: folder, protectors: protectors, vault: vault, sessions: sessions,
            pending: pending, evidence: evidence, guesses: guesses,
            outOfStep: PasswordMismatch(keyring: keyring),
            unasked: PasswordlessUnlock(
                folder: folder, protectors: protectors, vault: vault, pending: pending,
                directory: directory, policy: plan.policy, screens: screens, audit: audit,
                log: plan.log),
            accounts: accounts, hasEmptyPassword: plan.hasEmptyPassword, audit: audit,
            log: plan.log)
        logins = LoginServer(plan.logins, .login, logins: handler, accounts: accounts)
        offers = LoginServer(plan.offers, .offer, logins: handler, accounts: accounts)
        locking = Locking(
            vault: vault, sessions: sessions, screens: screens, evidence: evidence, audit: audit,
            log: plan.log)
        // A copy or a restore that was under way when the last daemon ended begins again.
        for id in folder.keychains() + folder.keychainsWithoutFile() {
            Leftovers(of: id, in: folder, olderThan: .seconds(-1)).remove()
            let remains = KeychainRemains(of: folder.filePath(id.name, id.user))
            guard !folder.exists(id.name, of: id.user), !remains.isEmpty else { continue }
            plan.log(
                """
                the file of the keychain \(id.name) of uid \(id.user) is gone; of it there \
                are \(remains.all.joined(separator: ", ")). No new one is made in its id: \
                keychainctl restore brings it back
                """)
        }
        self.folder = folder
        self.protectors = protectors
        generations = GenerationKeeper(folder, log: plan.log)
        transfers = service.transfers
        self.sessions = sessions
        self.audit = audit
    }

    /// There from the start, like the login keychain for a user who logs in.
    private func makeSystemKeychain() {
        guard !folder.exists(.system, of: 0) else { return }
        do throws(Refusal) { try protectors.create(.system, of: 0, password: nil) } catch {
            plan.log("the system keychain could not be made: \(error)")
        }
    }

    /// What else is to be done every few seconds while it runs.
    package func watch(_ work: @escaping @Sendable () -> Void) {
        watches.withLock { $0.append(work) }
    }

    /// Serves until `stop` is called.
    package func run() {
        makeSystemKeychain()
        let sweep = DispatchSource.makeTimerSource(queue: .global())
        sweep.schedule(
            deadline: .now(), repeating: .seconds(Self.sweepSeconds), leeway: .milliseconds(200))
        let watches = watches.withLock { $0 }
        sweep.setEventHandler { [sessions, audit, generations, transfers] in
            sessions.forgetDead()
            audit.flushIfDue()
            generations.keepIfDue()
            transfers.forgetOld()
            for work in watches { work() }
        }
        sweep.resume()
        defer { sweep.cancel() }
        // Nothing waits for it to end: it waits for others.
        DetachedThread.start { [locking] in LoginManagerWatch { locking.handle($0) }.run() }
        servers.run([requests.run, logins.run, offers.run])
        audit.finish()
    }

    package func stop() {
        plan.requests.shutDown()
        plan.logins.shutDown()
        plan.offers.shutDown()
        servers.stop(within: Self.stopSeconds)
    }
}
