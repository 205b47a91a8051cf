// SPDX-License-Identifier: Apache-2.0
internal import AccountDatabase
internal import CallerIdentity
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainRequestAudit
internal import KeychainSecrets
internal import KeychainUserPresence
internal import KeychainVaults
internal import LoginHandoff
internal import LoginManager
internal import LoginRegistry
internal import SessionVault

/// Applies logins to keychains: a session is recorded at once; its keychain is unlocked, or made,
/// while the login goes on.
final class Logins: Sendable {
    private let folder: KeychainFolder
    private let protectors: Protectors
    private let vault: KernelVault
    private let sessions: SessionRegistry
    private let pending: PendingUnlocks
    /// Counted apart: a request waits for unlocks that are pending, and for no change of a password.
    let changesUnderWay = PendingUnlocks()
    private let evidence: EvidenceStore
    private let guesses: UnlockThrottle
    private let outOfStep: PasswordMismatch
    private let unasked: PasswordlessUnlock
    private let accounts: AccountNames
    private let looks: any ProcessLooks
    private let hasEmptyPassword: @Sendable () -> Bool
    private let audit: AuditLog
    private let log: @Sendable (String) -> Void
    private let work = WorkQueues()

    init(
        _ parts: DaemonParts, outOfStep: PasswordMismatch, unasked: PasswordlessUnlock,
        hasEmptyPassword: @escaping @Sendable () -> Bool
    ) {
        folder = parts.folder
        protectors = parts.protectors
        vault = parts.vault
        sessions = parts.sessions
        pending = parts.pending
        evidence = parts.evidence
        guesses = parts.guesses
        self.outOfStep = outOfStep
        self.unasked = unasked
        accounts = parts.accounts
        looks = parts.looks
        self.hasEmptyPassword = hasEmptyPassword
        audit = parts.audit
        log = parts.log
    }

    /// Records the session and accepts it; the keychain is unlocked afterwards. So the notice tells
    /// the user what an earlier login found, or what root has done since.
    func open(
        _ facts: SessionFacts, _ password: HeldSecret?, host: Int32
    ) -> (RequestError?, LoginNotice?) {
        var wasOutOfStep = false
        let refusal = recording(.login, facts.user, host) { () throws(RequestError) in
            let session = try begin(facts, hasPassword: password != nil, host: host)
            // Before this login's own unlock, which may find out the same and is told of next time.
            wasOutOfStep = !facts.isSilent && outOfStep.tell(facts.user)
            log("login of uid \(facts.user) through \(facts.service)")
            if password?.bytes.count ?? 0 == 0, facts.isAuthenticated,
                hasEmptyPassword()
            {
                endPasscodeClass(session.user, host)
            }
            guard let password else {
                return unasked.begin(session, subject(session.user, host))
            }
            // An empty password is a failed one, not an absent one.
            guard password.bytes.count > 0 else { return }
            guard pending.begin(facts.user) else { throw .refused(.tooManyRequests) }
            let begun = unlockBegins(facts.user)
            work.async(for: facts.user) { [self] in
                unlockOrCreate(session, password, since: begun, host: host)
                pending.end(facts.user)
            }
        }
        return (refusal, refusal == nil && wasOutOfStep ? .passwordDiffers : nil)
    }

    func close(ticket: Int32, user: UInt32, host: Int32) {
        if ticket == 0 {
            sessions.closeWithoutTicket(openedBy: host, user: user)
        } else {
            sessions.close(SessionID(rawValue: ticket), user: user)
        }
        log("logout of uid \(user)")
        audit.record(.logout, by: subject(user, host), nil)
    }

    /// A password that PAM has `verified`, or that an unprivileged locker took. It unlocks an
    /// existing keychain if it fits, and never makes one.
    ///
    /// A verified password is no guess: it is tried whatever was guessed before, and is not
    /// counted. Otherwise a program that guesses would keep the keychain locked at its user's own
    /// login.
    func offer(
        _ password: HeldSecret, verified: Bool, for user: UInt32, _ account: String, host: Int32
    ) -> RequestError? {
        let keychain: OpenKeychain
        do throws(RequestError) {
            try check(user, account)
            guard !sessions.live(user).isEmpty else { throw .state(.noSession) }
            keychain = try folder.keychain(nil, of: user)
            if !verified { try guesses.begin(keychain.id) }
            guard pending.begin(user) else {
                if !verified { guesses.end(keychain.id, .undecided) }
                throw .refused(.tooManyRequests)
            }
        } catch {
            audit.record(.offerPassword, by: subject(user, host), error)
            return error
        }
        let begun = vault.locks.now(keychain.id)
        work.async(for: user) { [self] in
            defer { pending.end(user) }
            _ = recording(.offerPassword, user, host) { () throws(RequestError) in
                let keys =
                    verified
                    ? try protectors.unlock(keychain, password) : try guess(keychain, password)
                for session in sessions.live(user) {
                    try vault.keep(keys, of: keychain, in: session, since: begun)
                }
            }
        }
        return nil
    }

    func changePassword(
        of user: UInt32, _ account: String, old: HeldSecret, new: HeldSecret, host: Int32
    ) -> RequestError? {
        recording(.changePassword, user, host) { () throws(RequestError) in
            try check(user, account)
            guard new.bytes.count > 0 else { throw .invalid(.badRequest) }
            guard folder.exists(.login, of: user) else { return }
            // The connection is root's and waits for the user's turns to derive: with many of them
            // no login of another user would find a place.
            guard changesUnderWay.begin(user) else { throw .refused(.tooManyRequests) }
            defer { changesUnderWay.end(user) }
            let keychain = try folder.keychain(nil, of: user)
            try protectors.changePassword(keychain, old: old, new: new)
            evidence.forget(user)
            log(
                "the login keychain of uid \(user) opens with its new password too; the old one "
                    + "goes when a login has proved that")
        }
    }

    /// The account's new password opens nothing yet: the user is told at the next login.
    func resetPassword(of user: UInt32, _ account: String, host: Int32) -> RequestError? {
        recording(.resetPassword, user, host) { () throws(RequestError) in
            try check(user, account)
            guard folder.exists(.login, of: user) else { return }
            outOfStep.note(user)
            log("root gave uid \(user) a new password, which the login keychain does not know")
        }
    }

    // MARK: Steps

    /// The number and the name must be of the same account, as the daemon itself looks it up.
    private func check(_ user: UInt32, _ account: String) throws(RequestError) {
        guard accounts.name(of: user) == account else { throw .refused(.notEntitled) }
    }

    private func begin(
        _ facts: SessionFacts, hasPassword: Bool, host: Int32
    ) throws(RequestError) -> LoginSession {
        try check(facts.user, facts.account)
        guard facts.leader == host, facts.ticket == 0 || SessionRegistry.isTicket(facts.ticket),
            let leader = PinnedProcess(pid: host, pidfd: nil),
            let start = leader.status()?.startTime
        else { throw .invalid(.badRequest) }
        var details = LoginSession.Details()
        details.auditSession = facts.auditSession
        details.logindSession = logindSession(facts, host)
        details.isRemote = facts.isRemote
        details.lockReason = hasPassword ? .none : .loginWithoutPassword
        let session = LoginSession(
            SessionID(rawValue: facts.ticket), user: facts.user, account: facts.account,
            leader: (host, start), service: facts.service, details)
        if facts.ticket == 0 { return try sessions.openWithoutTicket(session, leader: leader) }
        try sessions.open(session, leader: leader)
        return session
    }

    /// The logind session that PAM's environment names, if logind says that this very process
    /// opened it for this user. A PAM stack can read the environment from a file, and `su` inherits
    /// its caller's: the attributes of another session would count for this login.
    private func logindSession(_ facts: SessionFacts, _ host: Int32) -> String? {
        facts.logindSession.flatMap { session in
            LoginSessions.user(of: session) == facts.user
                && LoginSessions.leader(of: session) == host ? session : nil
        }
    }

    /// nil where there is no keychain yet, and so nothing to lock meanwhile.
    private func unlockBegins(_ user: UInt32) -> LockGeneration? {
        (try? folder.keychain(nil, of: user)).map { vault.locks.now($0.id) }
    }

    /// Ends the passcode-set class of a user who logged in with an empty password. Runs while the
    /// login goes on, like everything that writes; the keychain's own password stays.
    private func endPasscodeClass(_ user: UInt32, _ host: Int32) {
        guard let keychain = try? folder.keychain(nil, of: user), pending.begin(user) else {
            return
        }
        work.async(for: user) { [self] in
            defer { pending.end(user) }
            _ = recording(.endPasscode, user, host) { () throws(RequestError) in
                guard try protectors.endPasscodeClass(keychain) else { return }
                log("uid \(user) has no password any more: its passcode-set items are gone")
                // Other logins may hold the class key.
                try vault.lock(keychain)
            }
        }
    }

    private func unlockOrCreate(
        _ session: LoginSession, _ password: HeldSecret, since begun: LockGeneration?,
        host: Int32
    ) {
        let refusal = recording(.unlock, session.user, host) { () throws(RequestError) in
            let isNew = !folder.exists(.login, of: session.user)
            if isNew {
                try protectors.create(
                    .login, of: session.user, password: password, provisional: true)
                log("made the login keychain of uid \(session.user)")
            }
            let keychain = try folder.keychain(nil, of: session.user)
            let begun = begun ?? vault.locks.now(keychain.id)
            // The login that makes the keychain proves nothing by giving the same password again.
            let keys =
                isNew
                ? try protectors.unlock(keychain, password)
                : try login(session, keychain, password)
            outOfStep.end(session.user)
            try vault.keep(keys, of: keychain, in: session, since: begun)
            evidence.addLogin(of: session.user, in: session.id)
            log("unlocked the login keychain of uid \(session.user)")
        }
        guard let refusal else { return }
        if refusal == .state(.passcodeNotSet) {
            unasked.begin(session, subject(session.user, host))
        }
        if refusal == .refused(.wrongPassword) {
            sessions.setLockReason(.passwordDiffers, of: session.id)
            outOfStep.note(session.user)
        }
        log("the login keychain of uid \(session.user) stays locked: \(refusal)")
    }

    private func login(
        _ session: LoginSession, _ keychain: OpenKeychain, _ password: HeldSecret
    ) throws(RequestError) -> UnlockedKeys {
        switch try protectors.login(keychain, password) {
        case .opened(let keys, let effect):
            if let words = effect.words { log("\(words): uid \(session.user)") }
            return keys
        case .differs(let keys):
            try? vault.keepRenewal(keys, of: keychain, in: session)
            throw .refused(.wrongPassword)
        }
    }

    private func guess(
        _ keychain: OpenKeychain, _ password: HeldSecret
    ) throws(RequestError) -> UnlockedKeys {
        do throws(RequestError) {
            let keys = try protectors.unlock(keychain, password)
            guesses.end(keychain.id, .right)
            return keys
        } catch {
            guesses.end(keychain.id, UnlockThrottle.Outcome(error))
            throw error
        }
    }

    private func recording(
        _ operation: AuditLog.Operation, _ user: UInt32, _ host: Int32,
        _ body: () throws(RequestError) -> Void
    ) -> RequestError? {
        var refusal: RequestError?
        do throws(RequestError) { try body() } catch { refusal = error }
        audit.record(operation, by: subject(user, host), refusal)
        return refusal
    }

    /// The audit subject of the program that the PAM module runs in.
    private func subject(_ user: UInt32, _ host: Int32) -> AuditLog.Subject {
        let path = looks.path(of: host)
        return AuditLog.Subject(
            user: user, process: host, program: path.map { "exe:" + $0 } ?? "unknown",
            session: nil)
    }
}

extension LoginEffect {
    fileprivate var words: String? {
        switch self {
        case .nothing: nil
        case .confirmed: "a login proved the login keychain's password, which alone opens it now"
        case .wrappedAnew: "the login keychain was provisional, and has this login's password now"
        case .failed: "the login keychain could not be written; the next login tries again"
        case .withoutDeviceSecret:
            "the login keychain's device secret can't be read; the next login tries again"
        }
    }
}
