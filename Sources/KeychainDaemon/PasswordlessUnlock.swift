// SPDX-License-Identifier: Apache-2.0
internal import CallerIdentity
internal import Dispatch
internal import KeychainAccessControl
internal import KeychainActivePolicy
internal import KeychainItemStore
internal import KeychainLinuxSystem
internal import KeychainModel
internal import KeychainPolicyEngine
internal import KeychainPolicyModel
internal import KeychainRequestAudit
internal import KeychainUserPresence
internal import KeychainVaults
internal import LoginRegistry
internal import SessionVault

/// Opens the login keychain at a login without a password (a fingerprint, a key, an automatic
/// login), with a protector that its owner enrolled for that. The login goes on at once, as with a
/// password.
final class PasswordlessUnlock: Sendable {
    private let folder: KeychainFolder
    private let protectors: Protectors
    private let vault: KernelVault
    private let pending: PendingUnlocks
    private let directory: CallerFacts.Directory
    private let policy: ActivePolicy
    private let screens: ScreenLocks
    private let audit: AuditLog
    private let log: @Sendable (String) -> Void
    /// Separate from the queue of passwords, and concurrent: an unlock may wait for a TPM that does
    /// not answer, or for a touch. Each user has few at a time (`PendingUnlocks`).
    private let work = DispatchQueue(
        label: "unlock without a password", attributes: .concurrent)

    init(
        _ parts: DaemonParts, directory: CallerFacts.Directory, policy: ActivePolicy,
        screens: ScreenLocks
    ) {
        folder = parts.folder
        protectors = parts.protectors
        vault = parts.vault
        pending = parts.pending
        self.directory = directory
        self.policy = policy
        self.screens = screens
        audit = parts.audit
        log = parts.log
    }

    func begin(_ session: LoginSession, _ subject: AuditLog.Subject) {
        guard let keychain = try? folder.keychain(nil, of: session.user) else { return }
        let enrolled = protectors.opensAtLogin(keychain)
        guard !enrolled.isEmpty, pending.begin(session.user) else { return }
        let begun = vault.locks.now(keychain.id)
        work.async { [self] in
            defer { pending.end(session.user) }
            let notes = RequestNotes()
            let refusal = unlock(keychain, enrolled, session, since: begun, notes)
            audit.record(.unlockAtLogin, by: subject, refusal, notes: notes)
            let outcome = refusal.map { "stays locked: \($0)" } ?? "opened without a password"
            log("the login keychain of uid \(session.user) \(outcome)")
        }
    }

    /// Tries the protectors until one may open the keychain and does. Returns nil then, else the
    /// refusal of the last.
    private func unlock(
        _ keychain: OpenKeychain, _ enrolled: [ProtectorRecord], _ session: LoginSession,
        since begun: LockGeneration, _ notes: RequestNotes
    ) -> RequestError? {
        let facts = facts(session, keychain)
        var refusal: RequestError?
        for protector in enrolled {
            do throws(RequestError) {
                try judge(protector, session, facts, notes)
                let keys = try protectors.unlock(keychain, with: protector, atLogin: true)
                try vault.keep(keys, of: keychain, in: session, since: begun)
                return nil
            } catch { refusal = error }
        }
        return refusal
    }

    private func judge(
        _ protector: ProtectorRecord, _ session: LoginSession, _ facts: PolicyFacts,
        _ notes: RequestNotes
    ) throws(RequestError) {
        guard let opener = protector.loginOpener else { throw .state(.protectorNotAvailable) }
        let login = LoginUnlock(
            through: session.service, with: opener, facts: facts, day: LocalTime.now.day)
        let judge = policy.now.judge
        let denial = judge.judge(login)
        notes.note(login, isDenied: denial != nil, judge)
        guard let denial else { return }
        if case .forbidden(let rules, let place) = denial { notes.note(rules: rules, first: place) }
        throw RequestError(denial)
    }

    private func facts(_ session: LoginSession, _ keychain: OpenKeychain) -> PolicyFacts {
        var facts = PolicyFacts()
        SessionAttributes(session, nil, screens).add(.told, to: &facts)
        facts.uid = .known(session.user)
        facts[.user] = .known([PolicyText(session.account)])
        facts[.group] =
            directory.groups(session.account).map { .known($0.map { PolicyText($0) }) } ?? .unknown
        facts[.keychain] = .known([PolicyText(keychain.name.description)])
        facts[.passcodeSet] =
            (try? keychain.file.isPasswordProtected()).map { .known($0) } ?? .unknown
        return facts
    }
}

extension ProtectorRecord {
    fileprivate var loginOpener: LoginUnlock.Opener? {
        switch kind {
        case .tpm: .tpm
        case .credential: .credential
        case .securityKey: .securityKey
        case .password, .device, .recoveryKey: nil
        }
    }
}
