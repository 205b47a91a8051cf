// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import AuditStores
internal import CallerIdentity
internal import Dispatch
internal import KeychainAccessControl
internal import KeychainActivePolicy
package import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainMaintenance
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainRequestService
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults
internal import KeyringStore
package import LoginManager
internal import LoginRegistry
internal import ProcessBroker
internal import PromptedAuthentication
internal import SessionVault
internal import Synchronization

/// The whole service of one user, assembled from its parts.
package final class Daemon: Sendable {
    /// The interval of the search for logins that ended without a notice, in seconds.
    private static let sweepSeconds = 2
    /// How long the servers may take to stop, in seconds.
    private static let stopSeconds = 5
    /// How long a worker without a connection stays for the next one, and how long for the limits
    /// that may still count an earlier request.
    private static let idleFor: Duration = .seconds(60)
    private static let remembersFor: Duration = .seconds(3600)

    private let plan: DaemonPlan
    private let requests: RequestServer
    private let logins: LoginServer
    private let offers: LoginServer
    private let sessions: SessionRegistry
    private let vault: KernelVault
    private let locking: Locking
    private let audit: AuditLog
    private let authenticator: PromptedAuthenticator
    private let service: KeychainService
    private let pending: PendingUnlocks
    private let lastUse = ShortLock(ContinuousClock.now)
    private let generations: GenerationKeeper
    private let transfers: BackupTransfers
    private let folder: KeychainFolder
    private let protectors: Protectors
    private let servers = ServingThreads()
    private let watches = Mutex<[@Sendable () -> Void]>([])

    package init(_ plan: DaemonPlan) throws {
        self.plan = plan
        let state = plan.folders.state
        let user = plan.user
        let accounts = AccountNames(plan.accounts.name, inKeychains: plan.nameInKeychains)
        let memory = MemoryBudget()
        let folder = KeychainFolder(
            state, layout: .folderPerUser, serving: user,
            accountName: { accounts.nameInKeychains(of: $0) }, memory: memory)
        let keyring = try DaemonKeyring(stateFolder: state, serving: user)
        let records = try SealedRecords(
            folder: plan.folders.records, of: plan.user, key: plan.vaultKey)
        let evidence = EvidenceStore(keyring: records)
        let sessions = SessionRegistry(keyring: keyring, records: records) { login, user, isLast in
            evidence.forget(login, of: user, isLast: isLast)
        }
        let screens = ScreenLocks()
        let pending = PendingUnlocks()
        let starter = plan.programs.starter
        let protectors = Protectors(
            folder: folder, deviceKey: SealingKey(plan.deviceKey.bytes.copy()),
            allowsDeviceProtector: false,
            keys: ProtectorKeys(
                tpm: plan.programs.hasTPM ? TPMProgram(starter: starter) : nil,
                securityKeys: plan.programs.hasSecurityKeys
                    ? SecurityKeyProgram(starter: starter) : nil,
                credentials: plan.credentials),
            reader: { [log = plan.log] user in
                ImportProgram(starter: starter, user: user, log: log)
            })
        if let gate = plan.tpmTurns { protectors.tpmTurns.share(gate) }
        let vault = KernelVault(
            keyring: keyring, sessions: sessions, protectors: protectors,
            vaultKey: plan.vaultKey, pending: pending, bounds: plan.bounds())
        let prompters = PrompterRegistry()
        let audit = AuditLog(
            AuditFiles(plan.audit, log: plan.log), journal: AuditJournal())
        let guesses = UnlockThrottle()
        let authenticator = PromptedAuthenticator(
            starter: starter, prompters: prompters, accounts: accounts,
            // A program of another user's, for root's worker, has no finger of root's.
            biometry: { [facts = plan.facts] in $0 == user ? facts.enrolledBiometry() : [] })
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
        let names = NameGuard(
            NameGuard.Machine(sessions, accounts, owner: plan.facts.unitUser))
        let looks = BrokerLooks(connect: plan.broker, log: plan.log)
        let directory = CallerFacts.Directory(
            accounts: accounts, groups: plan.accounts.groups, group: plan.accounts.groupName,
            names: names, looks: looks)
        let resolver = CallerResolver(
            sessions: sessions, looks: looks, screens: screens, names: names,
            controller: plan.facts.controller)
        plan.policy.onFacts { [policy = plan.policy] process, user throws(RequestError) in
            try ProcessSubject(process, for: user, resolver, directory)
                .words(askedBy: policy.now.judge.policy)
        }
        requests = RequestServer(
            plan.connections.requests, service: service, resolver: resolver,
            directory: directory, prompters: prompters,
            programs: .init(prompter: plan.programs.prompter, deputy: plan.programs.deputy),
            users: plan.connectedUsers)
        let parts = DaemonParts(
            folder: folder, protectors: protectors, vault: vault, sessions: sessions,
            pending: pending, evidence: evidence, guesses: guesses, accounts: accounts,
            looks: looks, audit: audit, log: plan.log)
        let handler = Logins(
            parts, outOfStep: PasswordMismatch(records: records),
            unasked: PasswordlessUnlock(
                parts, directory: directory, policy: plan.policy, screens: screens),
            hasEmptyPassword: plan.facts.hasEmptyPassword)
        logins = LoginServer(
            plan.connections.logins, .login, of: user, logins: handler, accounts: accounts,
            looks: looks)
        offers = LoginServer(
            plan.connections.offers, .offer, of: user, logins: handler, accounts: accounts,
            looks: looks)
        locking = Locking(
            of: user, vault: vault, sessions: sessions, screens: screens, evidence: evidence,
            audit: audit,
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
        self.service = service
        self.pending = pending
    }

    /// The machine's keychain exists from the start, as the login keychain does for a user who logs
    /// in.
    private func makeSystemKeychain() {
        guard folder.opensSystemKeychain, !folder.exists(.system, of: 0) else { return }
        do throws(RequestError) { try protectors.create(.system, of: 0, password: nil) } catch {
            plan.log("the system keychain could not be made: \(error)")
        }
    }

    /// Adds work that is done every few seconds while the daemon runs.
    package func watch(_ work: @escaping @Sendable () -> Void) {
        watches.withLock { $0.append(work) }
    }

    /// Serves until `end` is called. Returns false at once where the machine has no room for the
    /// threads.
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
        return servers.run([requests.run, logins.run, offers.run])
    }

    /// Whether the user has connections now.
    package var isBusy: Bool {
        requests.connectionCount + logins.connectionCount + offers.connectionCount > 0
    }

    /// Whether the process may end: nothing is under way, and nothing that only it knows matters for
    /// a later request. Asked every few seconds.
    package func isIdle(for time: Duration?) -> Bool {
        let isInUse =
            isBusy || !sessions.live(plan.user).isEmpty || pending.isUnderWay
            || generations.isWorking || service.countsUses
            || audit.hasRefused(within: Self.remembersFor)
        return lastUse.withLock { lastUse in
            if isInUse { lastUse = .now }
            return !isInUse && lastUse.duration(to: .now) >= time ?? Self.idleFor
        }
    }

    /// For root's worker: a program of another user's, over one end of a pair of sockets.
    package func serveMachine(_ pair: Descriptor, for program: Descriptor) {
        requests.serveRelayed(pair, peerOf: program)
    }

    /// What logind says of the machine. Returns when it is done.
    package func handle(_ event: LoginManagerEvent) { locking.handle(event) }

    /// Returns when no question is shown. All requests are served meanwhile.
    package func settle() { authenticator.waitForOpenQuestions() }

    /// What was begun is answered; `run` returns then.
    package func end() {
        plan.connections.requests.shutDown()
        plan.connections.logins.shutDown()
        plan.connections.offers.shutDown()
        servers.stop(within: Self.stopSeconds)
    }
}
