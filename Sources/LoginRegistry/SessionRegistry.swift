// SPDX-License-Identifier: Apache-2.0
package import KeychainLinuxSystem
package import KeychainModel
package import KeychainSecrets
package import KeyringStore
internal import KeychainKernelKeyring
internal import LoginManager
internal import Glibc
internal import Synchronization

/// The live logins, by all available evidence: the process that opened the session, its ticket in
/// the kernel, and logind where it runs.
package final class SessionRegistry: Sendable {
    static let ticketDescription = "keychain:ticket"
    /// The user number of this process, which took it before it made a registry. Read once, since each
    /// request looks at its login's ticket.
    private static let own = geteuid()
    private static let ticketBytes = 32
    /// The most sessions of one user; no person has as many.
    package static let mostSessions = KeyName.mostLogins
    private static let recordPrefix = "session:"
    /// The most steps up the process tree in the search for a login.
    private static let farthestAncestor = 32

    /// A class, as each look at a login takes a copy.
    private final class Entry: Sendable {
        let session: LoginSession
        let leader: PinnedProcess

        init(session: LoginSession, leader: PinnedProcess) {
            self.session = session
            self.leader = leader
        }
    }
    /// All logins of one user, the newest last. Built once, as every request asks for them.
    private final class UserLogins: Sendable {
        let entries: [Entry]
        let sessions: [LoginSession]
        let ids: [SessionID]

        init(_ all: some Sequence<Entry>, of user: UInt32) {
            entries = all.filter { $0.session.user == user }.sorted { a, b in
                (a.session.leaderStart, a.session.id.rawValue)
                    < (b.session.leaderStart, b.session.id.rawValue)
            }
            sessions = entries.map(\.session)
            ids = sessions.map(\.id)
        }
    }
    private struct State {
        var entries: [SessionID: Entry] { didSet { byUser = [:] } }
        /// Built on demand from the present entries.
        private var byUser: [UInt32: UserLogins] = [:]

        init(_ entries: [SessionID: Entry]) { self.entries = entries }

        mutating func logins(of user: UInt32) -> UserLogins? {
            if let known = byUser[user] { return known }
            let made = UserLogins(entries.values, of: user)
            // Users without a login are not remembered, as there may be any number of them.
            guard !made.entries.isEmpty else { return nil }
            byUser[user] = made
            return made
        }
    }

    /// Told of each login that is over, and whether it was the last of its user's that PAM opened.
    package typealias Ended =
        @Sendable (_ login: SessionID, _ user: UInt32, _ isLast: Bool) -> Void

    private let keyring: DaemonKeyring
    /// What is known of logins, no secret.
    package let records: SealedRecords
    private let ended: Ended
    /// Every request takes this lock, so it is held only to read or change the dictionary.
    private let state: ShortLock<State>
    /// The number of logins that have come or gone.
    private let changes = Atomic<UInt64>(0)
    /// Serialises changes of the recorded logins, including what is written to the kernel's
    /// keyring.
    private let recording = Mutex(())
    /// Held while room is made for a login that begins, until it is recorded.
    private let opening = Mutex(())

    /// Serialises the making of new tickets: what two threads seal must be under the same one.
    private let renewing = Mutex(())

    /// Restores the logins that an earlier worker recorded and whose leaders still run.
    package init(keyring: DaemonKeyring, records: SealedRecords, ended: @escaping Ended) {
        self.keyring = keyring
        self.records = records
        self.ended = ended
        var found: [SessionID: Entry] = [:]
        var over: [(login: SessionID, user: UInt32)] = []
        for user in records.users() {
            for name in (try? records.names(of: user)) ?? []
            where name.hasPrefix(Self.recordPrefix) {
                guard let entry = Self.recorded(name, user, records) else {
                    records.remove(name, of: user)
                    // The login ended while no daemon ran.
                    if let id = Int32(name.dropFirst(Self.recordPrefix.count)) {
                        over.append((SessionID(rawValue: id), user))
                    }
                    continue
                }
                found[entry.session.id] = entry
            }
        }
        state = ShortLock(State(found))
        for (login, user) in over { ended(login, user, !hasLogin(user)) }
        forgetDead()
    }

    private static func recorded(
        _ name: String, _ user: UInt32, _ records: SealedRecords
    ) -> Entry? {
        guard let record = records.readPlain(name, of: user)?.releasedFromLockedMemory(),
            let session = LoginSession(record: record), session.user == user,
            Self.recordName(session.id) == name,
            let leader = PinnedProcess(pid: session.leader, pidfd: nil),
            leader.status()?.startTime == session.leaderStart
        else { return nil }
        return Entry(session: session, leader: leader)
    }

    // MARK: Opening and closing

    package func open(_ session: LoginSession, leader: PinnedProcess) throws(RequestError) {
        forgetDead()
        try opening.withLock { _ throws(RequestError) in try begin(session, leader) }
    }

    private func begin(_ session: LoginSession, _ leader: PinnedProcess) throws(RequestError) {
        try makeRoom(for: session.user)
        try keep(session)
        state.withLock { $0.entries[session.id] = Entry(session: session, leader: leader) }
        changes.add(1, ordering: .acquiringAndReleasing)
    }

    /// Where a user has the most logins allowed, closes the oldest without an unlock: any program
    /// of the user's can open logins that carry no password, and these must not shut out a login
    /// with one.
    private func makeRoom(for user: UInt32) throws(RequestError) {
        let sessions = live(user)
        guard sessions.count >= Self.mostSessions else { return }
        guard let oldest = try firstWithoutUnlock(sessions, user) else {
            throw .refused(.tooManyRequests)
        }
        close(oldest.id, user: user)
    }

    /// Where a user has the most logins allowed that have no ticket, closes the oldest without an
    /// unlock; else the oldest of a program that unlocked outside any login.
    private func makeRoomWithoutTicket(for user: UInt32) throws(RequestError) {
        let sessions = live(user).filter { !$0.hasTicket }
        guard sessions.count >= KeyName.Kind.half.most else { return }
        let oldest = try firstWithoutUnlock(sessions, user) ?? sessions.first { !$0.isOfPAM }
        guard let oldest else { throw .refused(.tooManyRequests) }
        close(oldest.id, user: user)
    }

    private func firstWithoutUnlock(
        _ sessions: [LoginSession], _ user: UInt32
    ) throws(RequestError) -> LoginSession? {
        guard let names = try? keyring.names(of: user) else { throw .refused(.tooManyRequests) }
        return sessions.first { session in
            let unlocks = KeyName.unlocks(of: session.id)
            return !names.contains { $0.hasPrefix(unlocks) }
        }
    }

    /// Opens a session for an unlock outside any login: it lives as long as `leader`.
    package func openWithoutTicket(user: UInt32, leader: PinnedProcess) throws(RequestError)
        -> LoginSession
    {
        guard let start = leader.status()?.startTime else { throw .state(.noSession) }
        let known = live(user).first { $0.leader == leader.id && $0.leaderStart == start }
        if let known { return known }
        let session = LoginSession(
            SessionID(rawValue: 0), user: user, account: "", leader: (leader.id, start),
            service: "")
        return try openWithoutTicket(session, leader: leader)
    }

    /// Opens a login that got no key from the kernel, as over its quota: it lives as long as its
    /// leader.
    @discardableResult
    package func openWithoutTicket(
        _ session: LoginSession, leader: PinnedProcess
    ) throws(RequestError) -> LoginSession {
        let session = session.named(SessionID(rawValue: -Int32.random(in: 1...Int32.max)))
        let name = KeyName.half(session.id)
        forgetDead()
        try opening.withLock { _ throws(RequestError) in
            try makeRoomWithoutTicket(for: session.user)
            try keyring.write(name, SecretBytes(random: Self.ticketBytes), of: session.user)
            do throws(RequestError) { try begin(session, leader) } catch {
                keyring.remove(name, of: session.user)
                throw error
            }
        }
        return session
    }

    package func close(_ id: SessionID, user: UInt32) {
        let known = recording.withLock { _ in
            state.withLock { state in
                state.entries[id]?.session.user == user
                    ? state.entries.removeValue(forKey: id) : nil
            }
        }
        // The leader's descriptors are closed after the lock is released.
        guard let known else { return }
        changes.add(1, ordering: .acquiringAndReleasing)
        forget(id, user)
        ended(id, user, known.session.isOfPAM && !hasLogin(user))
    }

    /// Closes the logins that the process opened for the user and that have no ticket.
    package func closeWithoutTicket(openedBy leader: Int32, user: UInt32) {
        end { $0.user == user && $0.leader == leader && $0.isOfPAM && !$0.hasTicket }
    }

    private func hasLogin(_ user: UInt32) -> Bool { recorded(user).contains(where: \.isOfPAM) }

    /// Runs `write`, whose keys `close` removes, only while the login is recorded. Slow work may
    /// end after the login: nothing would remove its keys then.
    package func whileKnown(
        _ session: LoginSession, _ write: () throws(RequestError) -> Void
    ) throws(RequestError) {
        try recording.withLock { _ throws(RequestError) in
            guard state.withLock({ $0.entries[session.id] != nil }) else {
                throw .state(.noSession)
            }
            try write()
        }
    }

    /// Closes the logins that match, whether or not their processes are alive.
    package func end(where isOver: (LoginSession) -> Bool) {
        let over = state.withLock { $0.entries.values.map(\.session).filter(isOver) }
        for session in over { close(session.id, user: session.user) }
    }

    package func setLockReason(_ reason: LockReason, of id: SessionID) {
        recording.withLock { _ in
            let changed = state.withLock { state -> LoginSession? in
                guard let entry = state.entries[id] else { return nil }
                let changed = entry.session.locked(reason)
                state.entries[id] = Entry(session: changed, leader: entry.leader)
                return changed
            }
            // Written while the entry exists: `close` removes the entry and this record together.
            if let changed { try? keep(changed) }
        }
    }

    private func keep(_ session: LoginSession) throws(RequestError) {
        try records.writePlain(
            Self.recordName(session.id), SecretBytes(copying: session.record), of: session.user)
    }

    private static func recordName(_ id: SessionID) -> String { recordPrefix + "\(id.rawValue)" }

    // MARK: Live sessions

    /// The user's live sessions, newest last. The keys of dead ones are removed.
    package func live(_ user: UInt32) -> [LoginSession] { liveLogins(of: user)?.sessions ?? [] }

    private func liveLogins(of user: UInt32) -> UserLogins? {
        guard let known = state.withLock({ $0.logins(of: user) }) else { return nil }
        let dead = known.entries.indices.filter { !isAlive(known.entries[$0]) }
            .map { known.ids[$0] }
        guard !dead.isEmpty else { return known }
        for id in dead { close(id, user: user) }
        return UserLogins(known.entries.filter { !dead.contains($0.session.id) }, of: user)
    }

    /// One look at the user's logins, for everything that a request asks of them.
    package func look(at user: UInt32) -> LiveLogins {
        // Read before the look, so that no change meanwhile is missed.
        let changes = changes.load(ordering: .acquiring)
        return LiveLogins(of: user, liveLogins(of: user)?.ids ?? [], changes: changes)
    }

    /// The user's live sessions according to that look; by a new look where a login has come or
    /// gone since, or there is no earlier look.
    package func live(_ user: UInt32, by seen: LiveLogins?) -> [LoginSession] {
        guard let seen, seen.user == user, seen.changes == changes.load(ordering: .acquiring),
            let known = state.withLock({ $0.logins(of: user) }), known.ids == seen.sessions
        else { return live(user) }
        return known.sessions
    }

    /// The user's recorded sessions, alive or not.
    package func recorded(_ user: UInt32) -> [LoginSession] {
        state.withLock { $0.entries.values.map(\.session).filter { $0.user == user } }
    }

    /// The user's recorded logins, alive or not, the oldest first.
    package func order(of user: UInt32) -> [SessionID] {
        state.withLock { $0.logins(of: user)?.ids ?? [] }
    }

    package func session(_ id: SessionID, of user: UInt32) -> LoginSession? {
        state.withLock { $0.entries[id]?.session }.flatMap { $0.user == user ? $0 : nil }
    }

    /// The users of a logind session, according to logind and to the recorded logins.
    package func users(of logindSession: String) -> Set<UInt32> {
        let recorded = state.withLock { state in
            state.entries.values.map(\.session).filter { $0.logindSession == logindSession }
        }
        return Set(recorded.map(\.user)).union(
            [LoginSessions.user(of: logindSession)].compactMap { $0 })
    }

    /// Whether the login was last locked together with its screen.
    package func closedWithScreen(_ logindSession: String) -> Bool {
        state.withLock { state in
            state.entries.values.contains {
                $0.session.logindSession == logindSession
                    && $0.session.lockReason == .screenLocked
            }
        }
    }

    /// The part of a session's key that is gone when the session is. One that was spent is made anew.
    package func ticket(of session: LoginSession) -> SecretBytes? {
        guard let found = presentTicket(of: session) else { return nil }
        guard found.count != Self.ticketBytes else { return found }
        return renewing.withLock { _ in
            guard let found = presentTicket(of: session) else { return nil }
            guard found.count != Self.ticketBytes else { return found }
            let new = SecretBytes(random: Self.ticketBytes)
            guard change(ticketOf: session, new) else { return nil }
            return new
        }
    }

    /// Takes the ticket's content from the kernel: what was sealed under it opens no more, and the login
    /// stays.
    package func spendTicket(of session: LoginSession) {
        renewing.withLock { _ in _ = change(ticketOf: session, SecretBytes(copying: [0])) }
    }

    private func presentTicket(of session: LoginSession) -> SecretBytes? {
        session.hasTicket
            ? try? KernelKeyring.read(KeySerial(rawValue: session.id.rawValue))
            : keyring.read(KeyName.half(session.id), of: session.user)
    }

    private func change(
        ticketOf session: LoginSession, _ content: borrowing SecretBytes
    ) -> Bool {
        guard session.hasTicket else {
            return (try? keyring.write(KeyName.half(session.id), content, of: session.user)) != nil
        }
        // The kernel reuses numbers.
        guard Self.isTicket(session.id.rawValue) else { return false }
        let serial = KeySerial(rawValue: session.id.rawValue)
        return (try? KernelKeyring.update(serial, content)) != nil
    }

    /// The session that a process runs in, by the kernel's audit session or else by descent.
    package func session(of process: PinnedProcess, user: UInt32) -> SessionID? {
        let sessions = live(user)
        guard !sessions.isEmpty else { return nil }
        if let audit = process.auditSession(),
            let match = sessions.last(where: { $0.auditSession == audit })
        {
            return match.id
        }
        var ancestor: PinnedProcess? = process
        for _ in 0..<Self.farthestAncestor {
            guard let current = ancestor, let status = current.status() else { return nil }
            let match = sessions.last {
                $0.leader == current.id && $0.leaderStart == status.startTime
            }
            if let match { return match.id }
            ancestor = status.parent > 1 ? PinnedProcess(pid: status.parent, pidfd: nil) : nil
        }
        return nil
    }

    package func forgetDead() {
        let users = state.withLock { Set($0.entries.values.map(\.session.user)) }
        for user in users { _ = live(user) }
    }

    /// Whether the ticket is one that the project's PAM module made, in a session that has not
    /// ended.
    package static func isTicket(_ serial: Int32) -> Bool {
        KernelKeyring.isUserKey(
            KeySerial(rawValue: serial), of: own, described: ticketDescription)
    }

    private func isAlive(_ entry: Entry) -> Bool {
        guard entry.leader.isAlive else { return false }
        if entry.session.hasTicket, !Self.isTicket(entry.session.id.rawValue) {
            return false
        }
        guard let logind = entry.session.logindSession else { return true }
        return LoginSessions.isAlive(logind) != false
    }

    private func forget(_ id: SessionID, _ user: UInt32) {
        records.remove(Self.recordName(id), of: user)
        for name in (try? keyring.names(of: user)) ?? []
        where name == KeyName.half(id) || name.hasPrefix(KeyName.unlocks(of: id))
            || name.hasPrefix(KeyName.renewals(of: id))
        {
            keyring.remove(name, of: user)
        }
        if id.rawValue > 0, Self.isTicket(id.rawValue) {
            KernelKeyring.end(KeySerial(rawValue: id.rawValue))
        }
    }
}

/// The kind of a caller's session: the values of `subject.session`, in the order of its names. That of
/// a process outside all logins is `SessionAttributes`' to tell.
package enum SessionKind: UInt8, CaseIterable, Sendable {
    case seat, ssh, remoteDesktop, service, cron, other

    private static let remoteDesktops = ["xrdp", "vnc", "gnome-remote-desktop"]

    /// Of a login that this PAM service opened.
    init(ofLogin service: String, isRemote: Bool) {
        self =
            if service.hasPrefix("cron") || service.hasPrefix("atd") {
                .cron
            } else if !isRemote {
                .seat
            } else if service.hasPrefix("ssh") {
                .ssh
            } else {
                Self.remoteDesktops.contains(where: service.hasPrefix) ? .remoteDesktop : .other
            }
    }
}

/// One login, and the facts that it is recognised by. A class, as each request reads its user's
/// logins.
package final class LoginSession: Sendable, Equatable {
    /// Facts that not every login has.
    package struct Details: Sendable, Equatable {
        /// The kernel's audit session, where the kernel has them.
        package var auditSession: UInt32?
        package var logindSession: String?
        package var isRemote = false
        package var lockReason = LockReason.none

        package init() {}
    }

    package let id: SessionID
    package let user: UInt32
    package let account: String
    /// The process that opened the session, and its start (clock ticks since boot).
    package let leader: Int32
    package let leaderStart: UInt64
    /// The PAM service that opened it.
    package let service: String
    /// Told by service and `isRemote`, once, as policies ask for it in each request.
    package let kind: SessionKind
    private let details: Details

    package var auditSession: UInt32? { details.auditSession }
    package var logindSession: String? { details.logindSession }
    package var isRemote: Bool { details.isRemote }
    package var lockReason: LockReason { details.lockReason }
    /// False for a session in which a program has unlocked a keychain outside any login.
    package var isOfPAM: Bool { !service.isEmpty }
    /// Whether its number is that of a key of the kernel's.
    var hasTicket: Bool { id.rawValue > 0 }

    /// `leader` is the number of the process and its start.
    package init(
        _ id: SessionID, user: UInt32, account: String, leader: (Int32, UInt64), service: String,
        _ details: Details = Details()
    ) {
        self.id = id
        self.user = user
        self.account = account
        (self.leader, leaderStart) = leader
        self.service = service
        self.details = details
        kind = SessionKind(ofLogin: service, isRemote: details.isRemote)
    }

    // MARK: As a record

    /// One field per line. None of them is secret.
    package var record: [UInt8] {
        let fields = [
            "2", String(id.rawValue), String(user), String(leader), String(leaderStart),
            auditSession.map(String.init) ?? "", logindSession ?? "", isRemote ? "1" : "0",
            String(lockReason.rawValue), account,
            service,
        ]
        return Array(fields.joined(separator: "\n").utf8)
    }

    package convenience init?(record: [UInt8]) {
        var fields = String(decoding: record, as: UTF8.self)
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)[...]
        guard fields.count == 11 else { return nil }
        func next() -> String { fields.popFirst() ?? "" }
        guard next() == "2", let id = Int32(next()), let user = UInt32(next()),
            let leader = Int32(next()), let start = UInt64(next())
        else { return nil }
        var details = Details()
        details.auditSession = UInt32(next())
        let logindSession = next()
        details.logindSession = logindSession.isEmpty ? nil : logindSession
        details.isRemote = next() == "1"
        guard let reason = UInt8(next()).flatMap(LockReason.init) else { return nil }
        details.lockReason = reason
        self.init(
            SessionID(rawValue: id), user: user, account: next(), leader: (leader, start),
            service: next(), details)
    }

    // MARK: Changed

    package func named(_ id: SessionID) -> LoginSession {
        LoginSession(
            id, user: user, account: account, leader: (leader, leaderStart), service: service,
            details)
    }

    package func locked(_ reason: LockReason) -> LoginSession {
        var details = details
        details.lockReason = reason
        return LoginSession(
            id, user: user, account: account, leader: (leader, leaderStart), service: service,
            details)
    }

    package static func == (a: LoginSession, b: LoginSession) -> Bool {
        a === b
            || (a.id == b.id && a.user == b.user && a.account == b.account && a.leader == b.leader
                && a.leaderStart == b.leaderStart && a.service == b.service
                && a.details == b.details)
    }
}
