// SPDX-License-Identifier: Apache-2.0
import AccountDatabase
import CallerIdentity
import Foundation
import KeychainActivePolicy
@testable import KeychainDaemon
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainModel
import KeychainRequestAudit
import KeychainSecrets
import KeychainUserPresence
import KeychainVaults
@testable import LoginRegistry
@testable import SessionVault
import Testing

/// What the PAM module tells the daemon.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct LoginsTests {
    private static let account = "somebody"

    private let login: OpenLogin
    private let logins: Logins

    init() throws {
        login = try OpenLogin()
        let accounts = AccountNames { _ in Self.account }
        let parts = DaemonParts(
            folder: login.keychains, protectors: login.protectors, vault: login.vault,
            sessions: login.sessions, pending: login.pending,
            evidence: EvidenceStore(keyring: nil), guesses: UnlockThrottle(), accounts: accounts,
            looks: OwnLooks(), audit: AuditLog(folder: login.folder), log: { _ in })
        let directory = CallerFacts.Directory(
            accounts: accounts, groups: { _ in [] }, group: { _ in nil },
            names: NameGuard(
                NameGuard.Machine(login.sessions, accounts, owner: { _ in nil })),
            looks: OwnLooks())
        logins = Logins(
            parts, outOfStep: PasswordMismatch(records: login.records),
            unasked: PasswordlessUnlock(
                parts, directory: directory, policy: ActivePolicy(), screens: ScreenLocks()),
            hasEmptyPassword: { false })
    }

    @Test func `a user's changes of a password are few at once, and no request waits for one`() {
        let new = HeldSecret("horse")
        func change() -> RequestError? {
            logins.changePassword(
                of: OpenLogin.user, Self.account, old: OpenLogin.password, new: new, host: getpid())
        }
        let changes = logins.changesUnderWay
        for _ in 0..<PendingUnlocks.mostForUser { #expect(changes.begin(OpenLogin.user)) }
        #expect(change() == .refused(.tooManyRequests))
        // As each request does: for an unlock it would take half a minute.
        let began = ContinuousClock.now
        login.pending.wait(for: OpenLogin.user)
        #expect(began.duration(to: .now) < .seconds(15))
        changes.end(OpenLogin.user)
        #expect(change() == nil)
        // The change has given its place back.
        #expect(changes.begin(OpenLogin.user))
        #expect(!changes.begin(OpenLogin.user))
    }
}
