// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
package import KeychainLinuxSystem
internal import KeychainLocalSocket
internal import KeychainModel
package import KeychainPolicyEngine
package import KeychainRequestAudit
package import KeychainSecrets
package import LoginManager
package import ProgramHandoff
internal import Synchronization
internal import WorkerHandoff

/// The worker processes, one for each user who is served: starts them, passes connections on, and
/// tells them what happens to the machine.
package final class Workers: Sendable {
    /// Workers that have lasted so long are no failures.
    private static let lasting: Duration = .seconds(600)
    private static let longestPause = 300
    /// logind waits for five seconds, and tells of a sleep and of what it may write to the disk.
    private static let patienceOfSleep = DispatchTimeInterval.milliseconds(2000)
    private static let patienceForPolicies = DispatchTimeInterval.seconds(5)
    /// A question is shown for 60 seconds at most.
    private static let patienceForQuestions = DispatchTimeInterval.seconds(62)
    private static let patienceForEnds: Duration = .seconds(8)
    /// A worker's channel ends with its process, as a rule.
    private static let patienceForProcess: Duration = .seconds(2)

    /// What keychaind is started with.
    package struct Plan: Sendable {
        let folders: (state: String, runtime: String)
        let credentials: [String: HeldSecret]
        let facts: MachineFacts
        package var hasTPM = false
        package var hasSecurityKeys = false
        let log: @Sendable (String) -> Void

        package init(
            stateFolder: String, runtimeFolder: String, credentials: [String: HeldSecret],
            facts: MachineFacts, log: @escaping @Sendable (String) -> Void
        ) {
            folders = (stateFolder, runtimeFolder)
            self.credentials = credentials
            self.facts = facts
            self.log = log
        }
    }

    /// Where connections for workers come from.
    package struct Sockets: Sendable {
        let audit: AuditSockets
        let broker: BoundSockets
        let starter: BoundSockets

        package init(audit: AuditSockets, broker: BoundSockets, starter: BoundSockets) {
            self.audit = audit
            self.broker = broker
            self.starter = starter
        }
    }

    /// The failures of one user's workers that followed each other, none of which had lasted.
    private struct Failures {
        var count = 0
        /// No worker is started before. Seconds after the latest failure: 0, 1, 2, 4 … 300. So a user who
        /// ends the own worker guesses no faster than the pauses after wrong guesses allow.
        var pauseEnds = ContinuousClock.now
        /// A login has been served before the pause was over. One is, as most failures are no user's
        /// doing; a user who guesses can log in any number of times.
        var hasSkippedPause = false

        mutating func countOne() {
            if pauseEnds.duration(to: .now) >= lasting { self = Failures() }
            count += 1
            let seconds = count < 2 ? 0 : min(1 << min(count - 2, 10), longestPause)
            pauseEnds = .now + .seconds(seconds)
        }

        mutating func pause(forLogin isLogin: Bool) -> Duration {
            let left = max(.zero, ContinuousClock.now.duration(to: pauseEnds))
            guard isLogin, !hasSkippedPause, left > .zero else { return left }
            hasSkippedPause = true
            return .zero
        }
    }
    private struct State {
        var workers: [UInt32: Worker] = [:]
        var failures: [UInt32: Failures] = [:]
        /// Users with connections.
        var busy: Set<UInt32> = []
        var isEnding = false
    }

    private let plan: Plan
    private let socket: String
    private let supplies: WorkerSupplies
    private let vaultKeys: VaultKeys
    private let numbers: WorkerNumbers
    private let sockets: Sockets
    private let turns = Turns()
    private let acknowledgements = Acknowledgements()
    /// How policies are read again.
    private struct Reload {
        let run: @Sendable () -> Bool
    }
    private let reload = Mutex<Reload?>(nil)
    private let state = Mutex(State())
    /// Two of them: a bus that hangs must delay no connection.
    private let connecting = Errands()
    private let finding = Errands()
    /// Of the few orders that wait for all workers.
    private let waiting = DispatchQueue(label: "workers", attributes: .concurrent)

    package init(
        _ plan: Plan, vaultKeys: VaultKeys, sockets: Sockets, starter: UnboundStarter
    ) throws(SystemError) {
        self.plan = plan
        numbers = WorkerNumbers(
            state: plan.folders.state, runtime: plan.folders.runtime, starter: starter)
        self.vaultKeys = vaultKeys
        self.sockets = sockets
        socket = plan.folders.runtime + "/" + ServiceFolder.workerSocket
        let deviceKey = try DeviceKeyFile.key(
            at: plan.folders.state + "/" + ServiceFolder.deviceKey)
        supplies = try WorkerSupplies(
            folders: plan.folders, deviceKey: deviceKey, credentials: plan.credentials)
    }

    /// Starts the workers of users whose keychains an earlier run left open: they lock them in time.
    package func begin() {
        for user in vaultKeys.users { wake(user) }
    }

    /// Sets how policies are read again when root's worker asks for it.
    package func onReload(_ reload: @escaping @Sendable () -> Bool) {
        self.reload.withLock { $0 = Reload(run: reload) }
    }

    /// The number of the user's worker, to which tickets of the user's logins are to belong; nil where
    /// there is none.
    func number(of user: UInt32) -> UInt32? { try? numbers.number(of: user, besides: users) }

    // MARK: Connections

    /// Passes the connection to the worker of the user, which is started where there is none. Where
    /// too many are on their way already, it is closed.
    func pass(_ connection: PassedConnection, to user: UInt32) {
        while let worker = worker(of: user, with: connection) {
            switch worker.pass(connection) {
            case .passed: break
            case .refused: connection.socket?.refuse()
            case .gone: continue
            }
            if connection.isLogin, pause(of: user, forLogin: true) == .zero { worker.startNow() }
            return
        }
    }

    private func pause(of user: UInt32, forLogin isLogin: Bool) -> Duration {
        state.withLock { $0.failures[user]?.pause(forLogin: isLogin) } ?? .zero
    }

    /// Starts the user's worker where there is none, to look after the user's files.
    func wake(_ user: UInt32) { _ = worker(of: user, with: nil) }

    /// The number of workers that were started to look after files, and have had no connection.
    var countForUpkeep: Int { state.withLock { $0.workers.values.count { $0.isForUpkeep } } }

    /// Users whose workers run.
    package var users: Set<UInt32> { state.withLock { Set($0.workers.keys) } }

    /// The user's worker; nil where it is new and gets the connection as it starts, or where
    /// keychaind ends.
    private func worker(of user: UInt32, with connection: PassedConnection?) -> Worker? {
        let (known, new, pause) = state.withLock { state -> (Worker?, Worker?, Duration) in
            if let known = state.workers[user] { return (known, nil, .zero) }
            guard !state.isEnding else { return (nil, nil, .zero) }
            let new = Worker(user, connection.map { [$0] } ?? [])
            state.workers[user] = new
            let isLogin = connection?.isLogin ?? false
            return (nil, new, state.failures[user]?.pause(forLogin: isLogin) ?? .zero)
        }
        if let new { start(new, after: pause) }
        return known
    }

    private func start(_ worker: Worker, after pause: Duration) {
        let user = worker.user
        worker.start(at: socket, after: pause) { [self] in
            var beginning = WorkerOrder.Beginning(user: user)
            do { beginning.number = try numbers.number(of: user, besides: users) } catch {
                plan.log("the keychains of uid \(user) can't be served: \(error)")
                return nil
            }
            beginning.hasTPM = plan.hasTPM
            beginning.hasSecurityKeys = plan.hasSecurityKeys
            beginning.isForUpkeep = worker.isForUpkeep
            return supplies.all(for: beginning, vaultKeys.key(of: user))
        } handle: { [self] report, passed in
            handle(report, passed, from: worker)
        } ended: { [self] end in
            ended(worker, end)
        }
    }

    private func ended(_ worker: Worker, _ end: Worker.End) {
        let user = worker.user
        turns.endAll(of: user)
        for errands in [connecting, finding] { errands.forget(user) }
        acknowledgements.ended(user)
        let wasLeft = end.process.map { endIfLeft($0, of: user) } ?? false
        let (next, connections, pause) = state.withLock {
            state -> (Worker?, [PassedConnection], Duration) in
            let connections = worker.leave()
            state.workers[user] = nil
            state.busy.remove(user)
            if end.lasted >= Self.lasting { state.failures[user] = nil }
            if !end.wasTold || wasLeft { state.failures[user, default: Failures()].countOne() }
            // One that failed may have left keychains open, which are to be locked in time.
            let isNeeded =
                !connections.isEmpty || (!end.wasTold && vaultKeys.key(of: user) != nil)
            guard isNeeded, !state.isEnding else {
                return (nil, connections, .zero)
            }
            let next = Worker(user, connections)
            state.workers[user] = next
            let hasLogin = connections.contains(where: \.isLogin)
            return (next, connections, state.failures[user]?.pause(forLogin: hasLogin) ?? .zero)
        }
        if next == nil { for connection in connections { connection.socket?.refuse() } }
        tellWhetherSeveral()
        if !end.wasTold, let why = end.why {
            plan.log("the worker of uid \(user) ended by itself (\(why))")
        }
        guard let next else { return }
        start(next, after: pause)
    }

    /// Ends the process of a worker whose channel has ended, if it is still there; returns whether it was.
    /// One that has been taken over can close its channel and stay, and systemd starts so many and no more.
    private func endIfLeft(_ process: Descriptor, of user: UInt32) -> Bool {
        guard !ProcessDescriptor.ends(process, within: Self.patienceForProcess) else {
            return false
        }
        plan.log("the worker of uid \(user) was given up, and has not ended by itself")
        numbers.end(process, of: user)
        _ = ProcessDescriptor.ends(process, within: Self.patienceForProcess)
        return true
    }

    // MARK: What workers report

    private func handle(_ report: WorkerReport, _ passed: Descriptor?, from worker: Worker) {
        let user = worker.user
        func answer(_ id: UInt32, _ value: UInt32) {
            worker.tell([Handover(.answer(id: id, value: value))])
        }
        switch report {
        case .done(let id): acknowledgements.done(id, by: user)
        case .turn(let id, let work):
            turns.ask(work, for: user) {
                worker.tell([Handover(.answer(id: id, value: 1))])
            }
        case .turnEnd(let work): turns.end(work, of: user)
        case .keepVaultKey(let id):
            let place = passed.flatMap { vaultKeys.keep($0, of: user) }
            answer(id, UInt32(place?.rawValue ?? 0))
        case .forgetVaultKey(let id):
            vaultKeys.forget(user)
            answer(id, 1)
        case .audit(let id):
            connect(worker, answering: id, sockets.audit.connection)
        case .broker(let id):
            connect(worker, answering: id, sockets.broker.connection)
        case .starter(let id):
            connect(worker, answering: id, sockets.starter.connection)
        case .emptyPassword(let id):
            find(for: worker, answering: id) { ($0.emptyPassword(user) ? 1 : 0, "") }
        case .biometry(let id):
            find(for: worker, answering: id) { (1, $0.biometry(user).hexadecimal) }
        case .unitUser(let id, let unit):
            find(for: worker, answering: id) { facts in
                guard let owner = facts.unitUser(unit),
                    owner.utf8.count <= WorkerOrder.longestText
                else { return (0, "") }
                return (1, owner)
            }
        case .controller(let id, let session):
            find(for: worker, answering: id) { facts in
                let process = facts.controller(of: session, for: user)
                return (UInt32(clamping: process ?? 0), "")
            }
        case .reload(let id):
            // Policies are every user's.
            guard user == 0 else { return answer(id, 0) }
            waiting.async { [self] in
                let isDone = reload.withLock { $0 }?.run() ?? false
                worker.tell([Handover(.answer(id: id, value: isDone ? 1 : 0))])
            }
        case .busy(let isBusy):
            state.withLock { state in
                if isBusy { state.busy.insert(user) } else { state.busy.remove(user) }
            }
            tellWhetherSeveral()
        case .ready, .took, .idle: break
        }
    }

    /// Answers with the connection, or without one. Returns at once.
    private func connect(
        _ worker: Worker, answering id: UInt32,
        _ connection: @escaping @Sendable (_ user: UInt32) throws(SocketError) -> Descriptor
    ) {
        let isTaken = connecting.run(for: worker.user) {
            let connection = try? connection(worker.user)
            worker.tell([Handover(.answer(id: id, value: 1), passing: connection)])
        }
        if !isTaken { worker.tell([Handover(.answer(id: id, value: 0))]) }
    }

    /// The same with a fact. A user with too many questions is told that nothing is known.
    private func find(
        for worker: Worker, answering id: UInt32,
        _ look: @escaping @Sendable (MachineFacts) -> (value: UInt32, text: String)
    ) {
        let isTaken = finding.run(for: worker.user) { [facts = plan.facts] in
            let (value, text) = look(facts)
            worker.tell([Handover(.answer(id: id, value: value, text: text))])
        }
        if !isTaken { worker.tell([Handover(.answer(id: id, value: 0))]) }
    }

    private func tellWhetherSeveral() {
        let (all, are) = state.withLock { state in
            (Array(state.workers.values), state.busy.count > 1)
        }
        guard supplies.changes(severalUsers: are) else { return }
        for worker in all { worker.tell([Handover(.severalUsers(are))]) }
    }

    // MARK: What happens to the machine

    /// The policies that are in force from now on, once `tell` has been called.
    package func use(_ bundle: PolicyBundle, number: UInt32) {
        supplies.use(bundle, number: number)
    }

    /// Returns when all workers judge by the policies.
    package func tell(_ report: PolicyReport) {
        let all = state.withLock { Array($0.workers.values) }
        _ = acknowledgements.wait(
            for: Set(all.filter(\.isRunning).map(\.user)), within: Self.patienceForPolicies
        ) { id in
            let orders = supplies.tell(report, id: id)
            for worker in state.withLock({ Array($0.workers.values) }) { worker.tell(orders) }
        }
    }

    /// Returns when all workers have done what logind's message is about; of a sleep, no later than
    /// logind waits for it.
    package func handle(_ event: LoginManagerEvent) {
        supplies.note(event)
        switch event {
        case .sleeping, .mayHibernate, .shuttingDown:
            if event == .sleeping { plan.log("the machine goes to sleep") }
            let (running, holding) = state.withLock { state in
                (
                    state.workers.filter { $0.value.isRunning },
                    state.workers.filter { $0.value.mayHoldKeys }
                )
            }
            // Without it nothing opens that a user whose worker can't be told has left in the kernel's
            // keyring. First, as a worker that does not answer takes the time until the sleep. A sleep that
            // writes no memory leaves users alone who have no login.
            let known = users
            for user in vaultKeys.users
            where running[user] == nil && (event != .sleeping || known.contains(user)) {
                vaultKeys.forget(user)
            }
            let isDone = acknowledgements.wait(
                for: Set(holding.keys), within: Self.patienceOfSleep
            ) { id in
                for worker in state.withLock({ Array($0.workers.values) }) {
                    worker.tell([Handover(.event(id: id, event))])
                }
            }
            if !isDone { plan.log("not all workers have locked their keychains in time") }
        case .present(let locked):
            plan.log("listening to logind")
            tellAll(WorkerSupplies.presence(locked, id: 0))
        case .absent:
            plan.log("logind can't be heard: screens that are locked lock no keychain")
            tellAll([Handover(.event(id: 0, event))])
        case .lockRequested, .screen, .sessionEnded, .userLeft:
            tellAll([Handover(.event(id: 0, event))])
        }
    }

    private func tellAll(_ orders: [Handover]) {
        for worker in state.withLock({ Array($0.workers.values) }) { worker.tell(orders) }
    }

    // MARK: The end

    /// Returns when no worker shows a question, which it waits for.
    package func settle() {
        let all = state.withLock { Array($0.workers.values) }
        _ = acknowledgements.wait(
            for: Set(all.filter(\.isRunning).map(\.user)), within: Self.patienceForQuestions
        ) { id in for worker in all { worker.tell([Handover(.settle(id: id))]) } }
    }

    /// Ends all workers, and returns when they have ended. They answer what they have begun.
    package func end() {
        let all = state.withLock { state in
            state.isEnding = true
            return Array(state.workers.values)
        }
        for worker in all { worker.end() }
        let deadline = ContinuousClock.now + Self.patienceForEnds
        while state.withLock({ !$0.workers.isEmpty }), ContinuousClock.now < deadline {
            Wait.pause(milliseconds: 10)
        }
    }
}
