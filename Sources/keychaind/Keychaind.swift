// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import KeychainActivePolicy
internal import KeychainDaemon
internal import KeychainDatabase
internal import KeychainKernelKeyring
internal import KeychainLocalSocket
internal import SessionVault
internal import ArgumentParser
internal import Glibc
internal import KeychainRequestService
internal import KeychainLinuxSystem
internal import LoginManager
internal import ProgramHandoff

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

    /// What the administrator wants of every keychain.
    private static let bounds = "/etc/keychain/locking.conf"
    private static let renamed = "/etc/keychain/renamed-accounts"

    @Option(help: "The socket that programs use.")
    var socket = "/run/keychain/keychain.sock"

    @Option(help: "The socket that pam_keychain.so uses; offer.sock lies beside it.")
    var loginSocket = "/run/keychain/login.sock"

    @Option(help: "The folder in which keychains are kept.")
    var state = "/var/lib/keychain"

    @Option(help: "The folder of the administrator's policies.")
    var policies = "/etc/keychain/policies.d"

    @Flag(help: "Stay in the foreground and log to standard error (the only way it runs).")
    var foreground = false

    mutating func validate() throws {
        for path in [socket, loginSocket, state, policies] where !path.hasPrefix("/") {
            throw ValidationError("\(path): an absolute path is needed")
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
        Database.countNoMemory()
        // Before there is another thread. systemd's unit has it so too.
        KernelKeyring.joinEmptySession()
        let programs = try Programs()
        let log: @Sendable (String) -> Void = { serviceLog.write($0) }
        let inherited = ServiceNotification.inherited()
        let children = try self.children(programs, inherited, log)
        defer { for child in children { child.stop() } }
        try ProcessHardening.forbidNewPrivileges()
        // Their threads have the rights of these programs. No thread from here on has any.
        for child in children where !child.keep() { throw StartError.noThreads }
        try ProcessHardening.keepOnly([])
        let signals = Signals()
        defer { signals.end() }
        let policy = ActivePolicy()
        let starter = StarterSocket(
            path: Sockets.folder(of: loginSocket) + "/" + DaemonPlan.starterSocket, log: log)
        let loader = PolicyLoader(
            starter: starter,
            folders: [
                programs.policies, Sockets.folder(of: loginSocket) + "/policies.d", policies,
            ], stateFolder: state, policy: policy, log: log)
        let bounds = try LockingBounds.file(Self.bounds)
        let renamed = try RenamedAccounts.file(Self.renamed)
        // Before a program can ask for anything. keychain-starter listens by now: in a child of this
        // process, or by systemd's socket, which starts it.
        loader.start()
        let sockets = try Sockets(requests: socket, logins: loginSocket, inherited: inherited)
        var plan = DaemonPlan(
            folders: .init(state: state, runtime: sockets.runtimeFolder),
            listeners: .init(
                requests: sockets.requests, logins: sockets.logins, offers: sockets.offers),
            programs: .init(
                prompter: programs.prompter, deputy: programs.deputy, starter: starter,
                hasTPM: programs.hasTPM, hasSecurityKeys: programs.hasSecurityKeys),
            accounts: .init(
                name: { Account.name(of: $0) }, groups: { Account.groups(of: $0) },
                groupName: { Account.groupName(of: $0) },
                hasEmptyPassword: { Account.hasEmptyPassword($0) }),
            bounds: { bounds.now }, log: log)
        plan.policy = policy
        plan.nameInKeychains = { renamed.now.name(of: $0) }
        plan.vaultKey = inherited.first { $0.name == VaultKey.name }
            .map { Descriptor(owning: $0.descriptor) }
        plan.credentials = Credentials.given()
        let daemon = try Daemon(plan)
        loader.watch()
        daemon.watch {
            for load in [bounds.loadIfChanged, renamed.loadIfChanged] {
                do { try load() } catch { log("\(error); what was in force stays in force") }
            }
        }
        signals.handle(stop: { daemon.stop() }, reload: { loader.load() })
        ServiceNotification.ready()
        log("serving \(socket), keychains in \(state)")
        guard daemon.run() else { throw StartError.noThreads }
        ServiceNotification.stopping()
        log("stopped")
    }

    /// Starts keychain-starter, keychain-broker and keychain-audit where systemd does not: before this
    /// process gives up rights, and before it has a second thread.
    private func children(
        _ programs: Programs, _ inherited: [(name: String, descriptor: Int32)],
        _ log: @escaping @Sendable (String) -> Void
    ) throws(StartError) -> [ListeningChild] {
        guard !inherited.contains(where: { $0.name == Sockets.ofLogins }) else { return [] }
        let folder = Sockets.folder(of: loginSocket) + "/"
        func child(
            _ program: String, _ arguments: [String], _ socket: String
        ) throws(StartError) -> ListeningChild {
            do {
                return try ListeningChild(
                    program: program, arguments: arguments, socket: folder + socket, log: log)
            } catch { throw .listening(on: folder + socket, error) }
        }
        return [
            try child(programs.starter, [], DaemonPlan.starterSocket),
            try child(programs.broker, [], DaemonPlan.brokerSocket),
            try child(
                programs.audit, [state + "/" + DaemonPlan.auditFolder], DaemonPlan.auditSocket),
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
