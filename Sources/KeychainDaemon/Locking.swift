// SPDX-License-Identifier: Apache-2.0
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import LoginRegistry
internal import SessionVault
internal import KeychainModel
internal import LoginManager

/// Locks the user's keychains when a session of theirs is locked or ended, and when the machine goes
/// to sleep.
final class Locking: Sendable {
    private let user: UInt32
    private let vault: KernelVault
    private let sessions: SessionRegistry
    private let screens: ScreenLocks
    private let evidence: EvidenceStore
    private let audit: AuditLog
    private let log: @Sendable (String) -> Void

    init(
        of user: UInt32, vault: KernelVault, sessions: SessionRegistry, screens: ScreenLocks,
        evidence: EvidenceStore, audit: AuditLog, log: @escaping @Sendable (String) -> Void
    ) {
        self.user = user
        self.vault = vault
        self.sessions = sessions
        self.screens = screens
        self.evidence = evidence
        self.audit = audit
        self.log = log
    }

    func handle(_ event: LoginManagerEvent) {
        switch event {
        case .present(let locked): begin(locked)
        case .absent: screens.knowNothing()
        case .lockRequested(let session): screenIsLocked(session)
        case .screen(let session, let isLocked):
            screens.note(session, isLocked: isLocked)
            if isLocked { screenIsLocked(session) }
        case .sessionEnded(let session):
            screens.note(session, isLocked: false)
            sessions.end { $0.logindSession == session }
        case .userLeft(let leaving):
            guard leaving == user else { return }
            sessions.end { $0.user == user && $0.logindSession != nil }
            // No login need have been recorded here: the PAM module may not be in its stack.
            evidence.forget(user)
        case .sleeping: sleep()
        case .mayHibernate: forgetAll("the machine may hibernate")
        case .shuttingDown: forgetAll("the machine is shutting down")
        }
    }

    /// Handles screens that were locked while the daemon did not listen.
    private func begin(_ locked: Set<String>) {
        screens.know(locked)
        for session in locked where !sessions.closedWithScreen(session) { screenIsLocked(session) }
    }

    private func screenIsLocked(_ session: String) {
        guard sessions.users(of: session).contains(user) else { return }
        close(because: .screenLocked) { $0.locksWithScreen }
        log("the screen of session \(session) is locked")
    }

    private func sleep() {
        close(because: .slept) { $0.locksOnSleep }
    }

    private func close(because reason: LockReason, where isMeant: (KeychainSettings) -> Bool) {
        evidence.forget(user)
        let isDone = vault.lockAll(of: user, because: reason, where: isMeant)
        if !isDone { log("keys of uid \(user) could not be removed from the kernel's keyring") }
        audit.record(.lock, by: .machine(user), isDone ? nil : .failed(.internalError))
    }

    private func forgetAll(_ reason: String) {
        evidence.forgetAll()
        let isDone = vault.forgetAll()
        let outcome = isDone ? "are gone" : "could not be removed"
        log("\(reason): all keys of uid \(user) \(outcome)")
    }
}

extension AuditLog.Subject {
    /// The subject of a lock that no program asked for.
    fileprivate static func machine(_ user: UInt32) -> Self {
        Self(user: user, process: nil, program: "logind", session: nil)
    }
}
