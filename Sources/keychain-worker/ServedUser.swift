// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import AdministratorFiles
internal import Dispatch
internal import Glibc
internal import KeychainActivePolicy
internal import KeychainAccessControl
internal import KeychainDaemon
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import LoginManager
internal import ProgramHandoff
internal import SessionVault
internal import Synchronization
internal import WorkerHandoff

/// The one user that this process serves: all that keychaind gives it, and what becomes of it.
final class ServedUser: Sendable {
    private static let keyBytes = SealingKey.byteCount
    private static let longestSecret = 4096
    private static let longestText = 1 << 20
    /// One that was started to look after files, and has had no connection, stays no longer.
    private static let upkeepLasts: Duration = .seconds(2)

    private struct Given {
        var beginning = WorkerOrder.Beginning(user: 0)
        var folders = (state: "", runtime: "")
        var deviceKey: HeldSecret?
        var vaultKey: VaultKey.Kept?
        var credentials: [String: HeldSecret] = [:]
    }
    private struct Policy {
        var pending: (bundle: Descriptor, number: UInt32)?
    }

    private struct Served {
        var daemon: Daemon?
        var early: [(WorkerOrder, Descriptor?)] = []
    }

    private let channel: WorkerChannel
    private let served = Mutex(Served())
    private let log = ServiceLog(of: "keychain-worker")
    private let requests = PassedConnections()
    private let logins = PassedConnections()
    private let offers = PassedConnections()
    private let policy = ActivePolicy()
    private let connectedUsers = ConnectedUsers()
    private let taken = Atomic<UInt32>(0)
    /// Orders that take their time, in order.
    private let orders = DispatchQueue(label: "orders")
    private let lockedScreens = Mutex<Set<String>>([])
    private let newPolicy = Mutex(Policy())
    private let way = Mutex<Descriptor?>(nil)
    private let wasBusy = Mutex(false)

    init(_ connection: RecordConnection) { channel = WorkerChannel(connection) }

    /// Serves until keychaind says that it is over. Ends the process at once where keychaind ends.
    func serve() throws {
        var given = Given()
        var early: [(WorkerOrder, Descriptor?)] = []
        while try !take(&given, &early) {}
        let user = given.beginning.user
        // Before another thread. From here on the process is the user's alone.
        try ProcessHardening.become(given.beginning.number)
        ProcessName.set("kc:\(user)")
        let turn = try WorkerTurn(of: user, in: given.folders.state)
        defer { withExtendedLifetime(turn) {} }
        served.withLock { $0.early = early }
        // Before the daemon is there, which may already ask something.
        let hears = DetachedThread.start { [self] in
            channel.run { hear($0, $1) }
            // keychaind is gone, and no request may be judged without it.
            _exit(0)
        }
        guard hears else { throw SystemError.system(EAGAIN) }
        let daemon = try daemon(given)
        begin(daemon)
        // No request comes before the policies are in force that keychaind passed.
        orders.sync {}
        let isForUpkeep = given.beginning.isForUpkeep
        daemon.watch { [self, unowned daemon] in report(daemon, isForUpkeep) }
        channel.tell(.ready, passing: ProcessDescriptor.open(getpid()))
        // An administrator who ends this process, or the machine, waits for questions that are shown.
        let signals = EndSignals {
            daemon.settle()
            daemon.end()
        }
        defer { signals.end() }
        guard daemon.run() else { throw SystemError.system(EAGAIN) }
    }

    // MARK: The beginning

    /// Takes an order; returns true for the last one of the beginning.
    private func take(
        _ given: inout Given, _ early: inout [(WorkerOrder, Descriptor?)]
    ) throws -> Bool {
        let (order, passed) = try channel.receive()
        switch order {
        case .begin(let beginning): given.beginning = beginning
        case .stateFolder(let path): given.folders.state = path
        case .runtimeFolder(let path): given.folders.runtime = path
        case .deviceKey: given.deviceKey = Self.secret(passed, count: Self.keyBytes)
        case .vaultKey(let place):
            guard let key = Self.secret(passed, count: Self.keyBytes) else { break }
            given.vaultKey = VaultKey.Kept(SealingKey(key.bytes.copy()), place)
        case .credential(let name):
            guard let passed, let size = try? passed.size(), size <= UInt64(Self.longestSecret),
                let secret = Self.secret(passed, count: Int(size))
            else { break }
            given.credentials[name] = secret
        case .started: return true
        default: early.append((order, passed))
        }
        return false
    }

    private static func secret(_ memory: Descriptor?, count: Int) -> HeldSecret? {
        guard let memory, let secret = SealedMemory.read(memory, count: count) else { return nil }
        return HeldSecret(secret)
    }

    private func daemon(_ given: Given) throws -> Daemon {
        guard let deviceKey = given.deviceKey else { throw SocketError.malformed }
        let user = given.beginning.user
        let log: @Sendable (String) -> Void = { [log] in log.write($0) }
        let gate = ChannelTurns(channel)
        UserTurns.derivations.share(gate.turns(.derivation))
        let bounds = LockingBounds.file(LockingBounds.path, orElse: .strictest, log)
        let renamed = RenamedAccounts.file(RenamedAccounts.path, log)
        var plan = DaemonPlan(
            user: user,
            folders: .init(
                state: given.folders.state,
                records: "\(given.folders.runtime)/\(ServiceFolder.users)/\(user)"),
            connections: .init(requests: requests, logins: logins, offers: offers),
            programs: programs(given, log),
            accounts: .init(
                name: { Account.name(of: $0) }, groups: { Account.groups(of: $0) },
                groupName: { Account.groupName(of: $0) }),
            facts: ChannelFacts(channel).all,
            vaultKey: VaultKey(given.vaultKey, keeper: ChannelKeeper(channel)),
            deviceKey: deviceKey,
            audit: { [channel] () throws(SocketError) in
                try channel.connection { .audit(id: $0) }
            },
            broker: { [channel] () throws(SocketError) in
                try channel.connection { .broker(id: $0) }
            },
            bounds: { bounds.now }, log: log)
        // Where keychaind could pass none, or none that makes sense, nothing is allowed for want of rules.
        policy.use(PolicyBundle.whenBroken, PolicyRevision(hash: [], number: 0))
        plan.policy = policy
        plan.connectedUsers = connectedUsers
        plan.tpmTurns = gate.turns(.tpm)
        plan.nameInKeychains = { renamed.now.name(of: $0) }
        plan.credentials = given.credentials
        policy.onReload { [channel] in channel.ask { .reload(id: $0) }?.value == 1 }
        let daemon = try Daemon(plan)
        daemon.watch {
            for load in [bounds.loadIfChanged, renamed.loadIfChanged] {
                do { try load() } catch { log("\(error); what was in force stays in force") }
            }
        }
        return daemon
    }

    private func programs(
        _ given: Given, _ log: @escaping @Sendable (String) -> Void
    ) -> DaemonPlan.Programs {
        let folder = "/usr/libexec/keychain/"
        func beside(_ name: String) -> String { InstalledProgram.sibling(name) ?? folder + name }
        return .init(
            prompter: beside("keychain-prompter"), deputy: beside("keychain-secrets"),
            starter: StarterSocket(
                connect: { [channel] () throws(SocketError) in
                    try channel.connection { .starter(id: $0) }
                }, log: log),
            hasTPM: given.beginning.hasTPM, hasSecurityKeys: given.beginning.hasSecurityKeys)
    }

    // MARK: Orders

    /// Keeps orders for a daemon that is not there yet.
    private func hear(_ order: WorkerOrder, _ passed: Descriptor?) {
        served.withLock { served in
            if let daemon = served.daemon {
                follow(order, passed, daemon)
            } else {
                served.early.append((order, passed))
            }
        }
    }

    private func begin(_ daemon: Daemon) {
        served.withLock { served in
            for (order, passed) in served.early { follow(order, passed, daemon) }
            served = Served(daemon: daemon)
        }
    }

    /// Returns at once.
    private func follow(_ order: WorkerOrder, _ passed: Descriptor?, _ daemon: Daemon) {
        switch order {
        case .machine: way.withLock { $0 = passed }
        case .connection(let socket, let hasMachine):
            took()
            let machine = takeWay()
            guard let passed else { return }
            // A way that an earlier order left must not serve this program: it is another one's.
            let connection = IncomingConnection(passed, machine: hasMachine ? machine : nil)
            switch socket {
            case .requests: requests.add(connection)
            case .logins: logins.add(connection)
            case .offers: offers.add(connection)
            }
        case .machineEnd: way.withLock { $0 = passed }
        case .machineConnection:
            took()
            if let end = takeWay(), let passed { daemon.serveMachine(end, for: passed) }
        case .lockedScreens:
            let names = text(passed).split(separator: "\n").map(String.init)
            lockedScreens.withLock { $0 = Set(names) }
        case .event(let id, let event): hear(event, id, daemon)
        case .policy(let number):
            newPolicy.withLock { $0.pending = passed.map { ($0, number) } }
        case .policyReport(let id, let isDegraded):
            let pending = newPolicy.withLock { $0.pending }
            orders.async { [self] in
                use(pending, passed, isDegraded)
                if id != 0 { channel.tell(.done(id: id)) }
            }
        case .severalUsers(let are): connectedUsers.are(several: are)
        case .settle(let id):
            DispatchQueue.global().async { [self] in
                daemon.settle()
                channel.tell(.done(id: id))
            }
        case .end: daemon.end()
        case .begin, .stateFolder, .runtimeFolder, .deviceKey, .vaultKey, .credential, .started,
            .answer:
            break
        }
    }

    private func takeWay() -> Descriptor? {
        way.withLock { way in
            defer { way = nil }
            return way
        }
    }

    private func took() {
        taken.add(1, ordering: .relaxed)
        channel.tell(.took)
    }

    private func hear(_ event: LoginManagerEvent, _ id: UInt32, _ daemon: Daemon) {
        let event = withLockedScreens(event)
        orders.async { [self] in
            daemon.handle(event)
            if id != 0 { channel.tell(.done(id: id)) }
        }
    }

    private func withLockedScreens(_ event: LoginManagerEvent) -> LoginManagerEvent {
        guard case .present = event else { return event }
        return lockedScreens.withLock { screens in
            defer { screens = [] }
            return .present(lockedScreens: screens)
        }
    }

    private func use(
        _ pending: (bundle: Descriptor, number: UInt32)?, _ report: Descriptor?, _ isDegraded: Bool
    ) {
        if let pending,
            let bytes = SealedMemory.bytes(in: pending.bundle, limit: PolicyBundle.mostBytes)
        {
            do {
                let bundle = try PolicyBundle(bytes: bytes)
                let hash = KeyedHash.fingerprint(bundle.policy.snapshot)
                policy.use(bundle, PolicyRevision(hash: hash, number: pending.number))
            } catch { log.write("policies that keychaind passed make no sense (\(error))", .error) }
        }
        policy.tell(PolicyReport(isDegraded: isDegraded, text: text(report)))
    }

    private func text(_ memory: Descriptor?) -> String {
        let bytes = memory.flatMap { SealedMemory.bytes(in: $0, limit: Self.longestText) } ?? []
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Reports

    /// Tells keychaind, every few seconds, whether the user has connections and whether this process
    /// may end.
    private func report(_ daemon: Daemon, _ isForUpkeep: Bool) {
        let isBusy = daemon.isBusy
        let hasChanged = wasBusy.withLock { wasBusy in
            defer { wasBusy = isBusy }
            return wasBusy != isBusy
        }
        if hasChanged { channel.tell(.busy(isBusy)) }
        let taken = taken.load(ordering: .relaxed)
        if daemon.isIdle(for: isForUpkeep && taken == 0 ? Self.upkeepLasts : nil) {
            channel.tell(.idle(taken: taken))
        }
    }
}

/// Keeps the vault key with keychaind.
private struct ChannelKeeper: VaultKeyKeeper {
    let channel: WorkerChannel

    init(_ channel: WorkerChannel) { self.channel = channel }

    func keep(_ key: borrowing SecretBytes) -> ServiceStatus.VaultKeyPlace? {
        guard let memory = try? SealedMemory.make("keychain:vault-key", contents: key),
            let answer = channel.ask(passing: memory, { .keepVaultKey(id: $0) })
        else { return nil }
        return ServiceStatus.VaultKeyPlace(truncating: answer.value)
    }

    func forget() { _ = channel.ask { .forgetVaultKey(id: $0) } }
}

/// Turns that keychaind gives all workers.
private struct ChannelTurns {
    private struct Gate: TurnGate {
        let channel: WorkerChannel
        let work: SharedWork

        func begin() { _ = channel.ask { .turn(id: $0, work) } }
        func end() { channel.tell(.turnEnd(work)) }
    }

    private let channel: WorkerChannel

    init(_ channel: WorkerChannel) { self.channel = channel }

    func turns(_ work: SharedWork) -> any TurnGate { Gate(channel: channel, work: work) }
}
