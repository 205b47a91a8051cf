// SPDX-License-Identifier: Apache-2.0
package import AccountDatabase
package import KeychainLinuxSystem
package import KeychainModel
package import KeychainPolicyEngine
package import KeychainPolicyModel
package import LoginRegistry
internal import LoginManager
internal import Synchronization

/// The facts that policies ask about the program on a connection (docs/policies.md, Subject: who
/// asks). Each fact is read from the kernel when a policy first asks for it; before each answer it
/// is checked that the program is still the same.
package final class CallerFacts: Sendable {
    private let process: PinnedProcess?
    private let program: ProgramLook?
    private let groups: [UInt32]?
    private let label: SecurityLabel
    private let via: Caller.Via?
    private let directory: Directory
    private let known = Mutex((facts: CallerFacts.unread, asked: AskedFacts.none))
    /// The digest stays unknown until a policy asks for it, as the program's file must be read for
    /// it.
    private static let unread: PolicyFacts = {
        var facts = PolicyFacts()
        facts[.digest] = .unknown
        return facts
    }()
    /// The groups that one policy lets the caller know of.
    private let reached = Mutex<(checksum: UInt64, reach: [Reaching: VisibleGroups])>((0, [:]))
    /// The group in which one policy has the caller keep its items.
    private let home = Mutex<(checksum: UInt64, group: String?)?>(nil)

    /// The texts among the facts, in the numbers of the policy that judged last.
    private let numbered = Mutex<NumberedTexts?>(nil)

    private struct Reaching: Hashable {
        let operation: PolicyOperation
        let byNameAlone: Bool
        /// The fact as a number: each request looks here, and two facts are compared by types that are
        /// looked up while the program runs.
        let transfer: Int16

        init(_ operation: PolicyOperation, byNameAlone: Bool, _ transfer: Fact<UInt8>) {
            self.operation = operation
            self.byNameAlone = byNameAlone
            self.transfer =
                switch transfer {
                case .known(let value): Int16(value)
                case .absent: -1
                case .unknown: -2
                }
        }
    }

    /// The machine's directory of accounts, groups and names.
    package struct Directory: Sendable {
        package let accounts: AccountNames
        /// Names of all groups of an account, and of one group; nil where they can't be looked up.
        package let groups: @Sendable (String) -> [String]?
        package let group: @Sendable (UInt32) -> String?
        package let names: NameGuard
        package let looks: any ProcessLooks
        let digests = ExecutableDigests()

        package init(
            accounts: AccountNames, groups: @escaping @Sendable (String) -> [String]?,
            group: @escaping @Sendable (UInt32) -> String?, names: NameGuard,
            looks: any ProcessLooks
        ) {
            self.accounts = accounts
            self.groups = groups
            self.group = group
            self.names = names
            self.looks = looks
        }
    }

    /// `program` is nil for a process that can't be identified, `groups` for one whose groups can't be
    /// read; `via` is the service that relays its requests.
    package init(
        _ process: PinnedProcess?, running program: ProgramLook?, in groups: [UInt32]?,
        label: SecurityLabel, via: Caller.Via? = nil, _ directory: Directory
    ) {
        self.process = process
        self.program = program
        self.groups = groups
        self.label = label
        self.via = via
        self.directory = directory
    }

    package func facts(of caller: Caller, _ asked: AskedFacts) -> PolicyFacts {
        var (facts, known) = known.withLock { $0 }
        let missing = asked.subtracting(known)
        if missing != .none {
            add(missing, of: caller, to: &facts)
            self.known.withLock { $0 = (facts, known.union(asked)) }
        }
        return facts
    }

    /// The texts among the facts in the policy's numbers, which stay the same for a connection.
    package func numbered(_ facts: PolicyFacts, under policy: CompiledPolicy) -> NumberedTexts {
        if let kept = numbered.withLock({ $0 }), kept.hold(for: facts, under: policy) {
            return kept
        }
        let new = policy.number(facts)
        numbered.withLock { $0 = new }
        return new
    }

    /// Facts for a record, with the program's groups.
    package func toTell(_ facts: PolicyFacts, of caller: Caller) -> @Sendable () -> PolicyFacts {
        let groups = groupsToTell(of: caller)
        return {
            var facts = facts
            facts[.group] = groups()
            return facts
        }
    }

    /// The names of the program's groups. The account database is asked for them only when the closure is
    /// called.
    private func groupsToTell(of caller: Caller) -> @Sendable () -> Fact<[PolicyText]> {
        let known = known.withLock { $0.asked.contains(.group) ? $0.facts[.group] : nil }
        if let known { return { known } }
        return { [self] in
            let groups = groups(of: caller)
            self.known.withLock { known in
                guard !known.asked.contains(.group) else { return }
                known.facts[.group] = groups
                known.asked = known.asked.union(.groups)
            }
            return groups
        }
    }

    private func add(_ asked: AskedFacts, of caller: Caller, to facts: inout PolicyFacts) {
        facts.uid = .known(caller.user)
        facts[.tty] = .known(caller.terminal != nil)
        facts[.label] = label.fact
        if asked.contains(.user) {
            facts[.user] = fact(directory.accounts.name(of: caller.user))
        }
        if asked.contains(.group) { facts[.group] = groups(of: caller) }
        if asked.contains(.exe) || asked.contains(.app) || asked.contains(.trustedExe) {
            addProgram(to: &facts, caller)
        }
        if [TextField.unit, .slice, .userUnit].contains(where: asked.contains) {
            addControlGroup(to: &facts, caller)
        }
        // Reading a program's file costs more than all other facts.
        if asked.contains(.digest) {
            facts[.digest] = fact(
                process.flatMap { process in
                    program.flatMap {
                        directory.digests.digest(of: process, running: $0, directory.looks)
                    }
                })
        }
        if let via {
            facts[ChoiceField.via] =
                ChoiceField.via.index(of: via.rawValue).map { .known($0) } ?? .unknown
            bound(&facts, caller)
        }
    }

    /// Removes facts that a rule must not know a relayed program by. Such a program is worth no
    /// more than a path: names that the kernel guards become unknown, and so does the path where
    /// the program has no name.
    private func bound(_ facts: inout PolicyFacts, _ caller: Caller) {
        for field in [TextField.unit, .slice, .userUnit, .app, .label] { facts[field] = .unknown }
        guard caller.identifier == nil else { return }
        facts[.exe] = .unknown
        facts[.trustedExe] = .unknown
        facts[.digest] = .unknown
    }

    package func reach(
        _ policy: CompiledPolicy, _ caller: Caller, for operation: PolicyOperation,
        byNameAlone: Bool, transfer: Fact<UInt8> = .absent
    ) -> VisibleGroups {
        if policy.isEmpty { return VisibleGroups() }
        let reaching = Reaching(operation, byNameAlone: byNameAlone, transfer)
        let kept = reached.withLock { kept in
            kept.checksum == policy.checksum ? kept.reach[reaching] : nil
        }
        if let kept { return kept }
        var facts = facts(of: caller, policy.asked)
        facts[ChoiceField.transfer] = transfer
        let reach = policy.reach(facts, for: operation, byNameAlone: byNameAlone)
        reached.withLock { kept in
            if kept.checksum != policy.checksum { kept = (policy.checksum, [:]) }
            kept.reach[reaching] = reach
        }
        return reach
    }

    /// The caller with the group that the policy gives it as its home, before its own group: both
    /// are its own. An application of the portal's has no home, as rules would know it only by the
    /// portal's own path.
    package func atHome(_ caller: Caller, _ policy: CompiledPolicy) -> Caller {
        guard policy.hasHomes, via != .portal else { return caller }
        var known = home.withLock { $0 }
        if known?.checksum != policy.checksum {
            let group = policy.home(of: facts(of: caller, policy.asked))
            known = (policy.checksum, group?.string)
            home.withLock { $0 = known }
        }
        return known?.group.map(caller.withHome) ?? caller
    }

    private func fact(_ text: String?) -> Fact<[PolicyText]> {
        text.map { .known([PolicyText($0)]) } ?? .unknown
    }

    private func groups(of caller: Caller) -> Fact<[PolicyText]> {
        guard let account = directory.accounts.name(of: caller.user),
            let named = directory.groups(account), let own = groups
        else { return .unknown }
        var names = Set(named)
        for group in own {
            guard let name = directory.group(group) else { return .unknown }
            names.insert(name)
        }
        return .known(names.map { PolicyText($0) })
    }

    private func addProgram(to facts: inout PolicyFacts, _ caller: Caller) {
        switch caller.identity {
        case .trustedExecutable(let path), .executable(let path):
            facts[.exe] = .known([PolicyText(path)])
        case .label(let name) where name.hasPrefix("snap:"):
            facts[.app] = .known([PolicyText(name)])
            facts[.exe] = .unknown
        default:
            let mayTell = program.map { $0.isInOurNamespaces && $0.isAtItsPath } ?? false
            facts[.exe] = mayTell ? fact(program?.path) : .unknown
        }
        if case .trustedExecutable = caller.identity {
            facts[.trustedExe] = .known(true)
        } else if facts[.exe] == .unknown {
            facts[.trustedExe] = .unknown
        } else {
            let executable = program?.executable
            facts[.trustedExe] =
                executable == nil ? .unknown : .known(program?.isTrusted ?? false)
        }
    }

    private func addControlGroup(to facts: inout PolicyFacts, _ caller: Caller) {
        guard let group = process?.cgroup().flatMap(ControlGroup.init) else {
            for field in [TextField.unit, .slice, .userUnit] { facts[field] = .unknown }
            return
        }
        facts[.unit] = .absent
        if let unit = group.unit {
            let isGuarded = directory.names.guards(unit: unit, of: caller.user) {
                program?.isTrusted ?? false
            }
            facts[.unit] = isGuarded ? .known([PolicyText(unit)]) : .unknown
        }
        facts[.slice] = group.slice.map { .known([PolicyText($0)]) } ?? .absent
        facts[.userUnit] = group.userUnit.map { .known([PolicyText($0)]) } ?? .absent
    }
}

/// The facts that policies ask about the caller's login session and the moment (docs/policies.md,
/// When: the circumstances).
package struct SessionAttributes: Sendable {
    private static let host: String = {
        let name = KernelFile.read("/proc/sys/kernel/hostname", limit: 256) ?? []
        let line = String(decoding: name, as: UTF8.self).split(separator: "\n").first
        return line?.lowercased() ?? ""
    }()
    private static let clockTicks: Int64 = 100

    private let session: LoginSession?
    private let process: PinnedProcess?
    private let screens: ScreenLocks
    private let others: Others?
    /// Those of the deputy that brought the program.
    var deputy: (@Sendable () -> SessionAttributes)?

    /// The logins that a program may belong to.
    private enum Logins {
        case known(LoginSession, or: ArraySlice<LoginSession>)
        case unknown
        case outside
    }

    /// Finds the user's logins for a program without a login of its own, and tells whether its
    /// unit's name counts.
    struct Others: Sendable {
        private let caller: Caller
        private let runsRootsFile: Bool
        private let resolver: CallerResolver

        init(of caller: Caller, runsRootsFile: Bool, by resolver: CallerResolver) {
            self.caller = caller
            self.runsRootsFile = runsRootsFile
            self.resolver = resolver
        }

        var user: UInt32 { caller.user }
        var logins: [LoginSession] { resolver.sessions.live(user).filter(\.isOfPAM) }

        func guards(unit: String) -> Bool {
            resolver.guards(unit: unit, of: caller, runsRootsFile: runsRootsFile)
        }
    }

    /// For a request that a login makes by itself.
    package init(_ session: LoginSession?, _ process: PinnedProcess?, _ screens: ScreenLocks) {
        self.init(session, process, screens, others: nil)
    }

    init(
        _ session: LoginSession?, _ process: PinnedProcess?, _ screens: ScreenLocks,
        others: Others?
    ) {
        self.session = session
        self.process = process
        self.screens = screens
        self.others = others
    }

    /// Facts are added only if asked for: logind and the control group cost more than a decision
    /// does.
    package func add(_ asked: AskedFacts, to facts: inout PolicyFacts) {
        let ofSession = [BooleanField.remote, .active, .screenLocked].contains(
            where: asked.contains)
        if ofSession || asked.contains(ChoiceField.session) || asked.contains(AgeField.session) {
            switch logins {
            case .known(let login, let others): add(asked, of: login, or: others, to: &facts)
            case .unknown: addUnknownLogin(to: &facts)
            case .outside: addOutsideLogins(to: &facts)
            }
        }
        if asked.contains(.host) {
            facts[.host] = Self.host.isEmpty ? .unknown : .known([PolicyText(Self.host)])
        }
        if asked.containsTime { addTime(to: &facts) }
    }

    /// A deputy's word on its programs is that of a bus, which any program of the user can keep.
    /// So the program that asks may belong to the deputy's login as well.
    private var logins: Logins {
        guard let deputy else { return ownLogins }
        guard case .known(let login, let others) = ownLogins,
            case .known(let deputys, let further) = deputy().ownLogins
        else { return .unknown }
        let more = ([deputys] + further).filter { other in
            other.id != login.id && !others.contains { $0.id == other.id }
        }
        return .known(login, or: others + more)
    }

    /// A program that the user's service manager started may belong to any of the user's live
    /// logins; on a desktop nearly all programs do.
    private var ownLogins: Logins {
        if let session, session.isOfPAM { return .known(session, or: []) }
        guard let others, let lines = process?.cgroup(),
            ServiceManager.ran(lines, for: others.user)
        else { return .outside }
        let logins = others.logins
        guard let first = logins.first else { return .outside }
        // The program may belong to a login that bypassed the PAM module, of which nothing is
        // known.
        let known = Set(logins.compactMap(\.logindSession))
        return LoginSessions.logins(of: others.user).allSatisfy(known.contains)
            ? .known(first, or: logins.dropFirst()) : .unknown
    }

    private func addUnknownLogin(to facts: inout PolicyFacts) {
        facts[ChoiceField.session] = .unknown
        facts[AgeField.session] = .unknown
        for field in [BooleanField.remote, .active, .screenLocked] { facts[field] = .unknown }
    }

    private func addTime(to facts: inout PolicyFacts) {
        let time = LocalTime.now
        // 1970 began on a Thursday; Monday is 0.
        facts.time =
            MinuteOfWeek(day: Int((time.day + 3) % 7), hour: time.hour, minute: time.minute)
            .map { .known($0) } ?? .unknown
    }

    private func addOutsideLogins(to facts: inout PolicyFacts) {
        let kind = process?.cgroup().flatMap { group in
            Self.kind(outsideLogins: group) { others?.guards(unit: $0) ?? false }
        }
        facts[ChoiceField.session] = kind.map { .known($0.rawValue) } ?? .unknown
        // A service has no remote user, and no screen.
        let isNobodys = kind == .service || kind == .cron
        facts[.remote] = isNobodys ? .known(false) : .unknown
        facts[.active] = isNobodys ? .known(false) : .unknown
        facts[.screenLocked] = isNobodys ? .absent : .unknown
    }

    /// The program belongs to this login, or to one of the others.
    func add(
        _ asked: AskedFacts, of login: LoginSession, or others: ArraySlice<LoginSession> = [],
        to facts: inout PolicyFacts
    ) {
        facts[ChoiceField.session] = Self.agreed(login, others) {
            .known($0.kind.rawValue)
        }
        facts[.remote] = Self.agreed(login, others) { .known($0.isRemote) }
        if asked.contains(AgeField.session) {
            facts[AgeField.session] = Self.agreed(login, others, Self.age)
        }
        if asked.contains(.active) { facts[.active] = Self.agreed(login, others, Self.isActive) }
        if asked.contains(.screenLocked) {
            // A login that logind knows nothing of has no screen that could be locked.
            let withScreens = ([login] + others).filter { $0.logindSession != nil }
            facts[.screenLocked] =
                withScreens.first.map {
                    Self.agreed($0, withScreens.dropFirst(), isScreenLocked)
                } ?? .absent
        }
    }

    /// The fact's value where all logins agree, else unknown: the program may belong to the login
    /// for which a rule is strict.
    private static func agreed<Value: Equatable>(
        _ login: LoginSession, _ others: ArraySlice<LoginSession>,
        _ fact: (LoginSession) -> Fact<Value>
    ) -> Fact<Value> {
        let value = fact(login)
        return others.allSatisfy { fact($0) == value } ? value : .unknown
    }

    private static func isActive(_ login: LoginSession) -> Fact<Bool> {
        login.logindSession.flatMap(LoginSessions.isActive).map { .known($0) } ?? .unknown
    }

    private func isScreenLocked(_ login: LoginSession) -> Fact<Bool> {
        login.logindSession.flatMap(screens.isLocked).map { .known($0) } ?? .unknown
    }

    private static func age(of session: LoginSession) -> Fact<PolicyDuration> {
        let (started, isOver) = Int64(clamping: session.leaderStart)
            .multipliedReportingOverflow(by: 1000 / clockTicks)
        let age = sinceBoot - started
        return !isOver && age >= 0 ? .known(PolicyDuration(milliseconds: age)) : .unknown
    }

    /// The kind of a process outside all logins; nil where it can't be told.
    package static func kind(
        outsideLogins controlGroup: [UInt8], _ isGuarded: (_ unit: String) -> Bool
    ) -> SessionKind? {
        // Checked first: below it users make control groups of any name.
        let text = String(decoding: controlGroup, as: UTF8.self)
        // Below a user's own manager, any of the user's programs may have started it.
        if text.contains("/user@") || text.contains("/user.slice") { return nil }
        if SystemUnit.isScheduler(controlGroup) { return .cron }
        guard let unit = SystemUnit.name(controlGroup) else { return .other }
        // Another name may be that of any program of the user.
        return isGuarded(unit) ? .service : nil
    }

    /// Milliseconds since boot, including sleep.
    private static var sinceBoot: Int64 {
        start.uptime + PolicyDuration(start.moment.duration(to: .now)).milliseconds
    }

    /// The file is read once; later times are counted by the clock.
    private static let start: (uptime: Int64, moment: ContinuousClock.Instant) = {
        let text = KernelFile.read("/proc/uptime", limit: 256) ?? []
        let seconds = String(decoding: text, as: UTF8.self).split(separator: " ").first
        return (Int64((seconds.flatMap { Double($0) } ?? 0) * 1000), .now)
    }()
}
