// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import KeychainModel
internal import KeychainStore
internal import LocalSocket
internal import LoginHandoff
internal import Secrets

/// What logins mean for keychains: a session is recorded at once, and its keychain unlocked, or
/// made, behind the login's back.
final class Logins: Sendable {
    private let folder: KeychainFolder
    private let protectors: Protectors
    private let vault: KernelVault
    private let sessions: SessionRegistry
    private let pending: PendingUnlocks
    private let guesses = Guesses()
    private let accountName: @Sendable (UInt32) -> String?
    private let log: @Sendable (String) -> Void
    private let work = DispatchQueue(label: "unlock")

    init(
        folder: KeychainFolder, protectors: Protectors, vault: KernelVault,
        sessions: SessionRegistry, pending: PendingUnlocks,
        accountName: @escaping @Sendable (UInt32) -> String?,
        log: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.protectors = protectors
        self.vault = vault
        self.sessions = sessions
        self.pending = pending
        self.accountName = accountName
        self.log = log
    }

    /// Records the session and accepts; what the password opens is found out afterwards.
    func open(_ facts: SessionFacts, _ password: HeldSecret?, host: Int32) -> Refusal? {
        guard accountName(facts.user) == facts.account else { return .notEntitled }
        guard facts.leader == host, facts.ticket == 0 || SessionRegistry.isTicket(facts.ticket),
            let leader = PinnedProcess(pid: host, pidfd: nil),
            let start = leader.status()?.startTime
        else { return .badRequest }
        var session = LoginSession(
            id: SessionID(rawValue: facts.ticket), user: facts.user, account: facts.account,
            leader: host, leaderStart: start, auditSession: facts.auditSession,
            logindSession: facts.logindSession, isRemote: facts.isRemote,
            lockReason: password == nil ? .loginWithoutPassword : .none)
        do throws(Refusal) {
            if facts.ticket == 0 {
                session = try sessions.openWithoutTicket(session, leader: leader)
            } else {
                try sessions.open(session, leader: leader)
            }
        } catch { return error }
        log("login of uid \(facts.user) through \(facts.service)")
        guard let password, password.bytes.count > 0 else { return nil }
        guard pending.begin(facts.user) else { return .tooManyRequests }
        work.async { [self, session] in
            unlockOrCreate(session, password)
            pending.end(facts.user)
        }
        return nil
    }

    func close(ticket: Int32, user: UInt32) {
        sessions.close(SessionID(rawValue: ticket), user: user)
        log("logout of uid \(user)")
    }

    /// A password that PAM has verified, or that an unprivileged locker took: it opens an existing
    /// keychain if it fits, and never makes one.
    func offer(_ password: HeldSecret, for user: UInt32) -> Refusal? {
        guard !sessions.live(user).isEmpty else { return .noSession }
        do throws(Refusal) { try guesses.begin(user) } catch { return error }
        guard pending.begin(user) else {
            guesses.end(user, wasRight: true)
            return .tooManyRequests
        }
        work.async { [self] in
            defer { pending.end(user) }
            var wasRight = true
            do throws(Refusal) {
                let keychain = try folder.keychain(nil, of: user)
                let keys = try protectors.unlock(keychain, password)
                for session in sessions.live(user) {
                    try vault.keep(keys, of: keychain, in: session)
                }
            } catch { wasRight = error != .wrongPassword }
            guesses.end(user, wasRight: wasRight)
        }
        return nil
    }

    func changePassword(of user: UInt32, old: HeldSecret, new: HeldSecret) -> Refusal? {
        guard new.bytes.count > 0 else { return .badRequest }
        do throws(Refusal) {
            guard folder.exists(.login, of: user) else { return nil }
            let keychain = try folder.keychain(nil, of: user)
            try protectors.setPassword(keychain, old: old, new: new)
            log("uid \(user) changed the password of the login keychain")
            return nil
        } catch { return error }
    }

    private func unlockOrCreate(_ session: LoginSession, _ password: HeldSecret) {
        do throws(Refusal) {
            if !folder.exists(.login, of: session.user) {
                try protectors.create(.login, of: session.user, password: password)
                log("made the login keychain of uid \(session.user)")
            }
            let keychain = try folder.keychain(nil, of: session.user)
            let keys = try protectors.unlock(keychain, password)
            try vault.keep(keys, of: keychain, in: session)
            log("unlocked the login keychain of uid \(session.user)")
        } catch {
            if error == .wrongPassword {
                sessions.setLockReason(.passwordDiffers, of: session.id)
            }
            log("the login keychain of uid \(session.user) stays locked: \(error)")
        }
    }
}
