// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import Dispatch
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMaintenance
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainRequestService
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults
internal import KeyringStore
internal import LoginManager
internal import LoginRegistry
internal import ProcessBroker
internal import PromptedAuthentication
internal import SessionVault
internal import Synchronization

/// The whole service of a machine, assembled from its parts.
package final class Daemon: Sendable {
    /// The interval of the search for logins that ended without a notice, in seconds.
    private static let sweepSeconds = 2
    /// How long the servers may take to stop, in seconds.
    private static let stopSeconds = 5
    static let stateFolderMode: UInt32 = 0o711

    private let plan: DaemonPlan
    private let requests: RequestServer
    private let logins: LoginServer
    private let offers: LoginServer
    private let sessions: SessionRegistry
    private let vault: KernelVault
    private let locking: Locking
    private let audit: AuditLog
    private let authenticator: PromptedAuthenticator
    private let isStopping = Atomic(false)
    private let generations: GenerationKeeper
    private let transfers: BackupTransfers
    private let folder: KeychainFolder
    private let protectors: Protectors
    private let servers = ServingThreads()
    private let watches = Mutex<[@Sendable () -> Void]>([])

    package init(_ plan: DaemonPlan) throws {
        self.plan = plan.withoutVaultKey
        let state = plan.folders.state
        try PrivateFile.folder(state, mode: Self.stateFolderMode)
        let accounts = AccountNames(plan.accounts.name)
        let memory = MemoryBudget()
        let folder = KeychainFolder(
            state, layout: .folderPerUser,
            accountName: { [inKeychains = plan.nameInKeychains] in
                accounts.name(of: $0).map(inKeychains)
            }, memory: memory)
        accounts.expect(Set(folder.keychains().map(\.user)))
        let keyring = try DaemonKeyring(stateFolder: state)
        let evidence = EvidenceStore(keyring: keyring)
        let sessions = SessionRegistry(keyring: keyring) { login, user, isLast in
            evidence.forget(login, of: user, isLast: isLast)
        }
        let screens = ScreenLocks()
        let pending = PendingUnlocks()
        let starter = plan.programs.starter
        let protectors = Protectors(
            folder: folder, deviceKey: try Protectors.deviceKey(at: state + "/device.key"),
            allowsDeviceProtector: false,
            keys: ProtectorKeys(
                tpm: plan.programs.hasTPM ? TPMProgram(starter: starter) : nil,
                securityKeys: plan.programs.hasSecurityKeys
                    ? SecurityKeyProgram(starter: starter) : nil,
                credentials: plan.credentials),
            reader: { [log = plan.log] user in
                ImportProgram(starter: starter, user: user, log: log)
            })
        let vault = KernelVault(
            keyring: keyring, sessions: sessions, protectors: protectors,
            vaultKey: try VaultKey(
                kept: plan.vaultKey, folder: plan.folders.runtime + "/private"),
            pending: pending, bounds: plan.bounds())
        let prompters = PrompterRegistry()
        let audit = AuditLog(
            AuditFiles(path: plan.folders.runtime + "/" + DaemonPlan.auditSocket, log: plan.log),
            journal: AuditJournal())
        PolicyAnnouncement.begin(plan.policy, audit)
        let guesses = UnlockThrottle()
        let authenticator = PromptedAuthenticator(
            starter: starter, prompters: prompters, accounts: accounts)
        var serviceParts = KeychainService.Parts(
            folder: folder, vault: vault, protectors: protectors,
            authenticator: authenticator,
            mode: .daemon)
        serviceParts.policy = plan.policy
        serviceParts.evidence = evidence
        serviceParts.guesses = guesses
        serviceParts.memory = memory
        serviceParts.audit = audit
        let service = KeychainService(serviceParts)
        let names = NameGuard(NameGuard.Machine(sessions, accounts))
        let looks = BrokerLooks(
            path: plan.folders.runtime + "/" + DaemonPlan.brokerSocket, log: plan.log)
        let directory = CallerFacts.Directory(
            accounts: accounts, groups: plan.accounts.groups, group: plan.accounts.groupName,
            names: names, looks: looks)
        let resolver = CallerResolver(
            sessions: sessions, looks: looks, screens: screens, names: names)
        plan.policy.onFacts { [policy = plan.policy] process, user throws(RequestError) in
            try ProcessSubject(process, for: user, resolver, directory)
                .words(askedBy: policy.now.judge.policy)
        }
        requests = RequestServer(
            plan.listeners.requests, service: service, resolver: resolver,
            directory: directory, prompters: prompters,
            programs: .init(prompter: plan.programs.prompter, deputy: plan.programs.deputy))
        let parts = DaemonParts(
            folder: folder, protectors: protectors, vault: vault, sessions: sessions,
            pending: pending, evidence: evidence, guesses: guesses, accounts: accounts,
            looks: looks, audit: audit, log: plan.log)
        let handler = Logins(
            parts, outOfStep: PasswordMismatch(keyring: keyring),
            unasked: PasswordlessUnlock(
                parts, directory: directory, policy: plan.policy, screens: screens),
            hasEmptyPassword: plan.accounts.hasEmptyPassword)
        logins = LoginServer(
            plan.listeners.logins, .login, logins: handler, accounts: accounts, looks: looks)
        offers = LoginServer(
            plan.listeners.offers, .offer, logins: handler, accounts: accounts, looks: looks)
        locking = Locking(
            vault: vault, sessions: sessions, screens: screens, evidence: evidence, audit: audit,
            log: plan.log)
        // A copy or a restore that was under way when the last daemon ended begins again.
        for (id, files) in folder.filesBesideKeychains() {
            Leftovers(of: id, in: folder, among: files, olderThan: .seconds(-1)).remove()
            let remains = KeychainRemains(of: folder.filePath(id.name, id.user), among: files)
            // Copies in transfer alone have just been removed.
            guard !folder.exists(id.name, of: id.user), !remains.isOfTransfersAlone,
                !remains.isDeleted
            else { continue }
            plan.log(
                """
                the file of the keychain \(id.name) of uid \(id.user) is gone; of it there \
                are \(remains.all.joined(separator: ", ")). No new one is made in its place: \
                keychainctl restore brings it back
                """)
        }
        self.folder = folder
        self.protectors = protectors
        generations = GenerationKeeper(folder, log: plan.log)
        transfers = service.maintenance.transfers
        self.sessions = sessions
        self.vault = vault
        self.audit = audit
        self.authenticator = authenticator
    }

    /// The machine's keychain exists from the start, as the login keychain does for a user who logs
    /// in.
    private func makeSystemKeychain() {
        guard !folder.exists(.system, of: 0) else { return }
        do throws(RequestError) { try protectors.create(.system, of: 0, password: nil) } catch {
            plan.log("the system keychain could not be made: \(error)")
        }
    }

    /// Adds work that is done every few seconds while the daemon runs.
    package func watch(_ work: @escaping @Sendable () -> Void) {
        watches.withLock { $0.append(work) }
    }

    /// Serves until `stop` is called. Returns false at once where the machine has no room for the
    /// threads: without the thread that listens to logind, no keychain would lock on sleep.
    package func run() -> Bool {
        makeSystemKeychain()
        let sweep = DispatchSource.makeTimerSource(queue: .global())
        sweep.schedule(
            deadline: .now(), repeating: .seconds(Self.sweepSeconds), leeway: .milliseconds(200))
        let watches = watches.withLock { $0 }
        sweep.setEventHandler { [sessions, vault, audit, generations, transfers, plan] in
            sessions.forgetDead()
            vault.lockOverdue()
            audit.flushIfDue()
            generations.keepIfDue()
            transfers.forgetOld()
            for work in watches { work() }
            vault.bind(to: plan.bounds())
        }
        sweep.resume()
        defer { sweep.cancel() }
        defer { audit.finish() }
        // The thread is not waited for, as it waits for logind.
        let isWatching = DetachedThread.start { [locking] in
            LoginManagerWatch { locking.handle($0) }.run()
        }
        return isWatching && servers.run([requests.run, logins.run, offers.run])
    }

    /// Questions that are shown now are answered before anything ends, and all users are served
    /// meanwhile. A second call waits for none. Returns at once.
    package func stop() {
        if isStopping.exchange(true, ordering: .relaxed) { return end() }
        DispatchQueue.global().async { [self] in
            authenticator.waitForOpenQuestions()
            end()
        }
    }

    private func end() {
        plan.listeners.requests.shutDown()
        plan.listeners.logins.shutDown()
        plan.listeners.offers.shutDown()
        servers.stop(within: Self.stopSeconds)
    }
}
