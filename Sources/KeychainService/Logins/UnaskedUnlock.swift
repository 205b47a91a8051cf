// SPDX-License-Identifier: Apache-2.0
internal import AccessControl
internal import Foundation
internal import KeychainModel
internal import KeychainStore

/// Opens the login keychain of a login that carried no password (a fingerprint, a key, an automatic
/// login) with what its owner enrolled for that: the login goes on at once, as with a password.
final class UnaskedUnlock: Sendable {
    private let folder: KeychainFolder
    private let protectors: Protectors
    private let vault: KernelVault
    private let pending: PendingUnlocks
    private let audit: AuditLog
    private let log: @Sendable (String) -> Void
    /// Not the queue of passwords: a TPM that does not answer must not hold those up.
    private let work = DispatchQueue(label: "unlock without a password")

    init(
        folder: KeychainFolder, protectors: Protectors, vault: KernelVault,
        pending: PendingUnlocks, audit: AuditLog, log: @escaping @Sendable (String) -> Void
    ) {
        self.folder = folder
        self.protectors = protectors
        self.vault = vault
        self.pending = pending
        self.audit = audit
        self.log = log
    }

    func begin(_ session: LoginSession, _ subject: AuditLog.Subject) {
        guard let keychain = try? folder.keychain(nil, of: session.user) else { return }
        let enrolled = protectors.opensAtLogin(keychain)
        let login = LoginUnlock(service: session.service, isEnrolled: !enrolled.isEmpty)
        guard Judge().judge(login), pending.begin(session.user) else { return }
        let begun = vault.locks.now(keychain.place)
        work.async { [self] in
            defer { pending.end(session.user) }
            let refusal = unlock(keychain, enrolled, session, since: begun)
            audit.record(.unlockAtLogin, by: subject, refusal)
            let outcome = refusal.map { "stays locked: \($0)" } ?? "opened without a password"
            log("the login keychain of uid \(session.user) \(outcome)")
        }
    }

    /// The first that opens it; else why the last did not.
    private func unlock(
        _ keychain: OpenKeychain, _ enrolled: [ProtectorRecord], _ session: LoginSession,
        since begun: LockCounts.Moment
    ) -> Refusal? {
        var refusal: Refusal?
        for protector in enrolled {
            do throws(Refusal) {
                let keys = try protectors.unlock(keychain, with: protector)
                try vault.keep(keys, of: keychain, in: session, since: begun)
                return nil
            } catch { refusal = error }
        }
        return refusal
    }
}
