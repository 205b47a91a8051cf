// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import AdministratorFiles
internal import ArgumentParser
internal import AuditStores
internal import Glibc
internal import KeychainKernelKeyring
internal import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainRequestAudit
internal import LoginManager
internal import PolicyLoading
internal import ProgramHandoff
internal import WorkerDispatch
internal import WorkerHandoff

/// The daemon's command line: parse, wire, run.
@main
struct Keychaind: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keychaind",
        abstract: "Keeps the keychains of this machine's users.",
        discussion: """
            Started by systemd, or by hand with --foreground. Without systemd's sockets it makes \
            its own. See keychaind(8).
            """)

    @Option(help: "The socket that programs use.")
    var socket = "/run/keychain/keychain.sock"

    @Option(help: "The socket that pam_keychain.so uses; offer.sock lies beside it.")
    var loginSocket = "/run/keychain/login.sock"

    @Option(help: "The folder in which keychains are kept.")
    var state = "/var/lib/keychain"

    @Option(help: "The folder of the administrator's policies.")
    var policies = "/etc/keychain/policies.d"

    @Flag(help: "Stay in the foreground and log to standard output (the only way it runs).")
    var foreground = false

    mutating func validate() throws {
        for path in [socket, loginSocket, state, policies] {
            guard path.hasPrefix("/") else {
                throw ValidationError("\(path): an absolute path is needed")
            }
            guard path.utf8.count <= WorkerOrder.longestText else {
                throw ValidationError(
                    "\(path): longer than \(WorkerOrder.longestText) bytes")
            }
        }
    }

    func run() throws {
        try CrashReport.begin("keychaind")
        let log = ServiceLog(of: "keychaind")
        do { try serve(log) } catch {
            log.write(message(for: error), .error)
            throw ExitCode.failure
        }
    }

    private func serve(_ serviceLog: ServiceLog) throws {
        guard geteuid() == 0 else { throw StartError.notRoot }
        try ProcessHardening.apply()
        ProcessHardening.raiseLimits()
        ProcessHardening.boundMemory()
        // Before there is another thread. systemd's unit has it so too.
        KernelKeyring.joinEmptySession()
        let programs = try Programs()
        let log: @Sendable (String) -> Void = { serviceLog.write($0) }
        let inherited = ServiceNotification.inherited()
        // Before keychain-audit makes its own in it.
        try PrivateFile.folder(state, mode: ServiceFolder.stateMode)
        let children = try self.children(programs, inherited, log)
        defer { for child in children { child.stop() } }
        try ProcessHardening.forbidNewPrivileges()
        // Their threads have the rights of these programs. No thread from here on has any.
        for child in children where !child.keep() { throw StartError.noThreads }
        try ProcessHardening.keepOnly([])
        let signals = Signals()
        defer { signals.end() }
        try PrivateFile.folder(
            runtimeFolder + "/" + ServiceFolder.users, mode: ServiceFolder.usersMode)
        // Workers read them; a mistake that is there at the start is told at the start.
        _ = try LockingBounds.file(LockingBounds.path)
        _ = try RenamedAccounts.file(RenamedAccounts.path)
        let audit = AuditSockets(path: runtimeFolder + "/" + ServiceFolder.auditSocket)
        let starter = UnboundStarter(
            path: runtimeFolder + "/" + ServiceFolder.starterSocket, log: log)
        let workers = try workers(programs, inherited, audit, starter, log)
        let records = AuditLog(
            AuditFiles(
                { () throws(SocketError) in
                    RecordConnection(try audit.connection(for: 0))
                }, log: log), journal: AuditJournal())
        defer { records.finish() }
        let policies = DispatchedPolicies(workers, PolicyAnnouncement(records))
        let loader = loader(programs, policies, starter, log)
        // Before a program can ask for anything. keychain-starter listens by now: in a child of this
        // process, or by systemd's socket, which starts it.
        loader.start()
        workers.onReload { loader.load() }
        let sockets = try Sockets(requests: socket, logins: loginSocket, inherited: inherited)
        let accounts = AccountNames { Account.name(of: $0) }
        accounts.expect(Upkeep.users(in: state))
        let dispatcher = Dispatcher(
            requests: sockets.requests, logins: sockets.logins, offers: sockets.offers,
            accounts: accounts, workers: workers)
        loader.watch()
        workers.begin()
        let upkeep = Upkeep(stateFolder: state, workers: workers)
        upkeep.begin()
        defer { withExtendedLifetime(upkeep) {} }
        let isWatching = DetachedThread.start { LoginManagerWatch { workers.handle($0) }.run() }
        guard isWatching else { throw StartError.noThreads }
        let end = ServiceEnd(dispatcher, workers)
        signals.handle(stop: { end.begin() }, reload: { loader.load() })
        ServiceNotification.ready()
        log("serving \(socket), keychains in \(state)")
        guard dispatcher.run() else { throw StartError.noThreads }
        ServiceNotification.stopping()
        workers.end()
        log("stopped")
    }

    private var runtimeFolder: String { Sockets.folder(of: loginSocket) }

    private func workers(
        _ programs: Programs, _ inherited: [(name: String, descriptor: Int32)],
        _ audit: AuditSockets, _ starter: UnboundStarter,
        _ log: @escaping @Sendable (String) -> Void
    ) throws -> Workers {
        var plan = Workers.Plan(
            stateFolder: state, runtimeFolder: runtimeFolder, credentials: Credentials.given(),
            facts: MachineFacts(
                emptyPassword: { Account.name(of: $0).map(Account.hasEmptyPassword) ?? false },
                biometry: { user in
                    Account.name(of: user).map { EnrolledBiometry.state(of: $0) } ?? []
                },
                unitUser: { SystemUnits.user(of: $0) },
                sessionUser: { LoginSessions.user(of: $0) },
                controller: { ScreenControllers.controller(of: $0) }),
            log: log)
        plan.hasTPM = programs.hasTPM
        plan.hasSecurityKeys = programs.hasSecurityKeys
        return try Workers(
            plan,
            vaultKeys: VaultKeys(
                inherited: inherited, folder: runtimeFolder + "/" + ServiceFolder.private),
            sockets: .init(
                audit: audit,
                broker: .broker(path: runtimeFolder + "/" + ServiceFolder.brokerSocket),
                starter: BoundSockets(
                    path: runtimeFolder + "/" + ServiceFolder.starterSocket,
                    request: StarterBinding.request, isDone: StarterBinding.isDone)),
            starter: starter)
    }

    private func loader(
        _ programs: Programs, _ taker: any PolicyTaker, _ starter: UnboundStarter,
        _ log: @escaping @Sendable (String) -> Void
    ) -> PolicyLoader {
        PolicyLoader(
            starter: starter,
            folders: [programs.policies, runtimeFolder + "/policies.d", policies],
            stateFolder: state, policy: taker, log: log)
    }

    /// Starts the programs that listen for this one where systemd does not: before this process gives up
    /// rights, and before it has a second thread.
    private func children(
        _ programs: Programs, _ inherited: [(name: String, descriptor: Int32)],
        _ log: @escaping @Sendable (String) -> Void
    ) throws(StartError) -> [ListeningChild] {
        guard !inherited.contains(where: { $0.name == Sockets.ofLogins }) else { return [] }
        let folder = runtimeFolder + "/"
        func child(
            _ program: String, on socket: String, _ arguments: [String] = [],
            in environment: [String] = []
        ) throws(StartError) -> ListeningChild {
            do {
                return try ListeningChild(
                    program: program, arguments: arguments, environment: environment,
                    socket: folder + socket, log: log)
            } catch { throw .listening(on: folder + socket, error) }
        }
        return [
            try child(programs.starter, on: ServiceFolder.starterSocket),
            try child(programs.broker, on: ServiceFolder.brokerSocket),
            try child(
                programs.audit, on: ServiceFolder.auditSocket,
                [state + "/" + ServiceFolder.audit]),
            // What serves users is a part of this service, as this process is.
            try child(
                programs.worker, on: ServiceFolder.workerSocket, in: ProcessEnvironment.all),
        ]
    }

    private func message(for error: any Error) -> String {
        switch error {
        case let error as StartError: error.description
        case let mistake as FileMistake: mistake.description
        case SystemError.notPrivate:
            "\(state), or the folder of \(loginSocket): must be a folder of root's that no other "
                + "user can write to, and the key files in it root's and closed to others"
        case SystemError.malformed, SystemError.tooLarge:
            "\(state)/device.key: is not a key of this daemon's; restore it from where it came "
                + "from, without it no keychain's “always” items open"
        case SystemError.system(let code):
            "\(state), or the folder of \(loginSocket): "
                + SystemError.words(code)
        default: "cannot start: \(error)"
        }
    }
}
