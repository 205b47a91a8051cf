// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainLocalSocket
package import KeychainMessages
package import KeychainModel
package import LoginRegistry
internal import LoginManager

/// Identifies the program at the other end of a connection, by the kernel's facts
/// (docs/design/identity.md). A class, as each request passes it on.
package final class CallerResolver: Sendable {
    let sessions: SessionRegistry
    package let looks: any ProcessLooks
    private let screens: ScreenLocks
    private let names: NameGuard
    private let controller: @Sendable (_ login: String) -> Int32?

    /// `controller` gives the process that controls a login's screen; nil where there is none, or
    /// it is unknown.
    package init(
        sessions: SessionRegistry, looks: any ProcessLooks, screens: ScreenLocks, names: NameGuard,
        controller: @escaping @Sendable (_ login: String) -> Int32?
    ) {
        self.sessions = sessions
        self.looks = looks
        self.screens = screens
        self.names = names
        self.controller = controller
    }

    /// Resolves the peer before a byte is read from the connection. `program` is nil for a process that
    /// can't be identified.
    package func resolve(_ connection: ServerConnection, running program: ProgramLook?) -> Caller {
        resolve(
            connection.process, connection.peer.pid, running: program, of: connection.peer.user,
            label: connection.peerLabel())
    }

    /// Resolves a process as if it were at the other end of a connection.
    func resolve(
        _ process: PinnedProcess?, _ id: Int32, running program: ProgramLook?, of user: UInt32,
        label: SecurityLabel
    ) -> Caller {
        let identity = process.flatMap { process in
            program.map { Self.identity(of: process, running: $0, user: user, label: label, names) }
        }
        return caller(
            process, id, of: user, identity ?? .unknown,
            groups: identity?.identifier.map { [$0] } ?? [])
    }

    /// Resolves a program that a deputy relays. All programs that can't be told apart share a
    /// group.
    package func resolve(
        relayed process: PinnedProcess, running program: ProgramLook, of user: UInt32
    ) -> Caller {
        let identity = RelayedIdentity.identity(of: process, running: program, looks)
        return caller(
            process, process.id, of: user, identity,
            groups: [identity.identifier ?? RelayedIdentity.unidentified], via: .secretService)
    }

    /// Resolves an application that a relayed process makes requests for; nil unless the process is
    /// the desktop's portal.
    package func resolve(
        _ application: PortalApplication, for process: PinnedProcess,
        running program: ProgramLook, of user: UInt32
    ) -> Caller? {
        guard DesktopPortal.runs(process, program, looks) else { return nil }
        let name = application.identifier
        return caller(
            process, process.id, of: user, .sandbox(name), groups: [name], via: .portal)
    }

    private func caller(
        _ process: PinnedProcess?, _ id: Int32, of user: UInt32, _ identity: Caller.Identity,
        groups: [String], via: Caller.Via? = nil
    ) -> Caller {
        let status = process?.status()
        let session = process.flatMap { sessions.session(of: $0, user: user) }
        return Caller(
            user: user, process: id, identity: identity, session: session,
            terminal: status.flatMap { $0.ttyNumber == 0 ? nil : $0.ttyNumber },
            terminalSession: status.flatMap { $0.ttyNumber == 0 ? nil : $0.session },
            accessGroups: groups, display: display(of: process, in: session, user), via: via)
    }

    /// The display where the program's user sees windows, as logind says. The user at a screen is
    /// not asked for a program of a remote login.
    private func display(
        of process: PinnedProcess?, in session: SessionID?, _ user: UInt32
    ) -> String? {
        if let session {
            guard let own = sessions.session(session, of: user)?.logindSession,
                own == LoginSessions.display(of: user)
            else { return nil }
            return own
        }
        guard let lines = process?.cgroup(), ServiceManager.ran(lines, for: user) else {
            return nil
        }
        return LoginSessions.display(of: user)
    }

    /// The screen of a prompter that its user's service manager started as its unit, on the display
    /// that logind says is that user's.
    package func screen(
        of prompter: Caller, _ process: PinnedProcess?, _ server: DisplayServer?
    ) -> (place: PrompterPlace, screen: LoginScreen)? {
        guard let process, let lines = process.cgroup(),
            PrompterUnit.runs(lines, of: prompter.user),
            ServiceManager.isParent(of: process, for: prompter.user),
            let login = prompter.display, let server,
            let screen = LoginScreen(
                server, of: login, prompter.user, controller: controller)
        else { return nil }
        return (.display(user: prompter.user, login: login), screen)
    }

    /// The user's logins at the next request on the same connection, and the caller with them: its
    /// login may have ended since, or been recorded.
    package func look(
        at caller: Caller, _ process: PinnedProcess?
    ) -> (logins: LiveLogins, caller: Caller) {
        let logins = sessions.look(at: caller.user)
        return (logins, refreshed(caller, process, by: logins))
    }

    private func refreshed(
        _ caller: Caller, _ process: PinnedProcess?, by logins: LiveLogins
    ) -> Caller {
        if let session = caller.session, logins.sessions.contains(session) { return caller }
        let session = process.flatMap { sessions.session(of: $0, user: caller.user) }
        guard session != caller.session else { return caller }
        return caller.inSession(
            session, display: display(of: process, in: session, caller.user))
    }

    /// The facts that policies ask about the caller's login.
    /// `runsRootsFile` says whether only root could have changed the program.
    package func sessionAttributes(
        _ caller: Caller, _ process: PinnedProcess?, runsRootsFile: Bool
    ) -> SessionAttributes {
        SessionAttributes(
            caller.session.flatMap { sessions.session($0, of: caller.user) }, process, screens,
            others: .init(of: caller, runsRootsFile: runsRootsFile, by: self))
    }

    /// The same for a program that a deputy brought. The deputy's own login is looked up only
    /// where a policy asks for such facts.
    package func sessionAttributes(
        _ caller: Caller, _ process: PinnedProcess?, broughtBy deputy: Caller,
        _ deputyProcess: PinnedProcess?, runsRootsFile: Bool
    ) -> SessionAttributes {
        // No unit's name counts for a relayed program.
        var attributes = sessionAttributes(caller, process, runsRootsFile: false)
        attributes.deputy = { [self] in
            let seen = look(at: deputy, deputyProcess)
            return sessionAttributes(seen.caller, deputyProcess, runsRootsFile: runsRootsFile)
        }
        return attributes
    }

    /// Whether the unit's name identifies the caller's program.
    func guards(unit: String, of caller: Caller, runsRootsFile: Bool) -> Bool {
        caller.via == nil && names.guards(unit: unit, of: caller.user) { runsRootsFile }
    }

    /// The identity of a program, by the strongest name that holds. An executable's path counts
    /// only where it names the same file to the daemon as to the program.
    package static func identity(
        of process: PinnedProcess, running program: ProgramLook, user: UInt32,
        label: SecurityLabel, _ names: NameGuard
    ) -> Caller.Identity {
        if let domain = label.serviceDomain, names.guardsDomain(of: user) {
            return .label(domain)
        }
        // No program can leave its own control group, so its namespaces don't matter here.
        if let unit = process.cgroup().flatMap(SystemUnit.name),
            names.guards(unit: unit, of: user, runsRootsFile: { program.isTrusted })
        {
            return .unit(unit)
        }
        guard program.isAtItsPath, let path = program.path else { return .unknown }
        if let snap = label.snap(program) { return .label(snap) }
        guard program.isInOurNamespaces, user == 0 || program.hasTheRightsOfItsFile else {
            return .unknown
        }
        return program.isTrusted ? .trustedExecutable(path) : .executable(path)
    }
}

extension ProgramLook {
    /// Whether the process has the rights that its file gives, if it gives any.
    fileprivate var hasTheRightsOfItsFile: Bool { rights == .none || rights == .held }
}

/// The parts of an identity that a running program could change, compared before each answer.
package final class ProcessFacts: Sendable {
    /// The program as it was looked at first.
    package let program: ProgramLook
    /// The parts of it that each answer needs.
    private let image: ProgramImage?
    private let hasRights: Bool
    package let runsRootsFile: Bool
    private let process: PinnedProcess
    private let looks: any ProcessLooks
    /// Compared by its number, or else by the lines of its file, which cost ten times as much.
    private let controlGroup: UInt64?
    private let controlGroups: ProcessFile?
    private let lines: [UInt8]?
    /// nil where AppArmor is not enabled.
    private let label: (file: ProcessFile, lines: [UInt8])?

    /// nil where the process has ended, or can't be looked at now.
    package init?(_ process: PinnedProcess, _ looks: any ProcessLooks) {
        guard let program = looks.program(of: process) else { return nil }
        self.program = program
        image = program.image
        hasRights = program.rights == .held
        runsRootsFile = program.isTrusted
        self.process = process
        self.looks = looks
        controlGroup = process.controlGroupNumber
        controlGroups = controlGroup == nil ? process.openControlGroups() : nil
        lines = controlGroups?.lines()
        label = process.openAppArmorLabel().flatMap { file in file.lines().map { (file, $0) } }
    }

    package var executable: ExecutableFacts? { program.executable }

    /// Whether the process has executed no other program, and is in the same control group and under the
    /// same AppArmor profile.
    package func hold() -> Bool {
        guard isSameProgram, label.map({ $0.file.holds($0.lines) }) ?? true else { return false }
        if let controlGroup { return process.controlGroupNumber == controlGroup }
        guard let controlGroups else { return process.cgroup() == nil }
        return lines.map(controlGroups.holds) ?? (controlGroups.lines() == nil)
    }

    private var isSameProgram: Bool {
        // The process may not be looked at, and has no name that it could lose.
        guard let image else { return program.path == nil && process.isAlive }
        guard image.lasts else { return false }
        // The image lasts, too, where the process has left it to another one that shares it. That gains a
        // program only the name of another one of its user's, each of which it could trace; but not
        // where the file gives rights, which keep its user from tracing.
        guard hasRights else { return true }
        return looks.program(of: process)?.executable == program.executable
    }
}
