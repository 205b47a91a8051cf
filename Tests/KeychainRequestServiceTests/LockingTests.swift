// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainAccessControl
@testable import KeychainDaemon
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainModel
import KeychainPolicyModel
import KeychainRequestAudit
import KeychainUserPresence
import KeychainVaults
import LoginManager
@testable import LoginRegistry
@testable import SessionVault
import Testing

/// What logind says, and what becomes of keychains.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct LockingTests {
    /// No logind has a session of such a name.
    private static let screen = "no-such-session"

    private let login: OpenLogin
    private let screens = ScreenLocks()
    private let evidence = EvidenceStore(keyring: nil)
    private let audit: AuditLog
    private let said = Box<[String]>([])
    private let locking: Locking

    init() throws {
        login = try OpenLogin()
        let said = said
        audit = AuditLog(folder: login.folder)
        locking = Locking(
            of: OpenLogin.user, vault: login.vault, sessions: login.sessions, screens: screens,
            evidence: evidence,
            audit: audit
        ) { words in said.change { $0.append(words) } }
        // One without a key of root's, for tests without root.
        try login.unlock(in: begin())
        #expect(try state() == .unlocked)
        evidence.add([.factor(.passcode)], for: Program.git)
    }

    /// A login that lives as long as this process.
    @discardableResult
    private func begin(at screen: String? = nil) throws -> LoginSession {
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        var details = LoginSession.Details()
        details.logindSession = screen
        let session = LoginSession(
            SessionID(rawValue: 0), user: OpenLogin.user, account: "a",
            leader: (own.id, try #require(own.startTime)), service: "test", details)
        return try login.sessions.openWithoutTicket(session, leader: own)
    }

    private func state() throws -> KeychainStatus.LockState {
        login.vault.lockState(of: try login.keychain)
    }

    private var remembersProofs: Bool { !evidence.evidence(for: Program.git).isEmpty }

    private func bounds(sleep: Bool = false, screen: Bool = false) {
        login.vault.bind(to: KeychainSettings(locksOnSleep: sleep, locksWithScreen: screen))
    }

    private func settle(sleep: Bool, screen: Bool) throws {
        let settings = KeychainSettings(locksOnSleep: sleep, locksWithScreen: screen)
        try login.vault.apply(settings, to: login.keychain)
        bounds()
    }

    private func recorded() throws -> [String] {
        audit.flush()
        let text = FileManager.default.contents(atPath: login.folder + "/audit.jsonl") ?? Data()
        return try text.split(separator: 10).map { line in
            let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            return "\(record?["operation"] ?? "") \(record?["program"] ?? "")"
        }
    }

    @Test func `sleep closes the keychains that are to be closed then`() throws {
        try settle(sleep: true, screen: false)
        locking.handle(.sleeping)
        #expect(try state() != .unlocked)
        #expect(try recorded() == ["lock logind"])
    }

    @Test func `a keychain stays open that is not to be closed`() throws {
        try settle(sleep: false, screen: false)
        try begin(at: Self.screen)
        locking.handle(.sleeping)
        locking.handle(.screen(session: LockingTests.screen, isLocked: true))
        #expect(try state() == .unlocked)
    }

    @Test func `an administrator's bound closes it all the same`() throws {
        try settle(sleep: false, screen: false)
        bounds(sleep: true)
        locking.handle(.sleeping)
        #expect(try state() != .unlocked)
    }

    @Test(arguments: [
        LoginManagerEvent.lockRequested(session: LockingTests.screen),
        .screen(session: LockingTests.screen, isLocked: true),
        .present(lockedScreens: [LockingTests.screen]),
    ])
    func `a locked screen closes the keychains of its login's user`(
        _ event: LoginManagerEvent
    ) throws {
        try settle(sleep: false, screen: true)
        try begin(at: Self.screen)
        locking.handle(event)
        #expect(try state() != .unlocked)
    }

    @Test(arguments: [
        LoginManagerEvent.screen(session: "another", isLocked: true),
        .screen(session: LockingTests.screen, isLocked: false), .present(lockedScreens: []),
        .lockRequested(session: "another"),
    ])
    func `another session's screen, and one that opens, close nothing`(
        _ event: LoginManagerEvent
    ) throws {
        try settle(sleep: true, screen: true)
        try begin(at: Self.screen)
        locking.handle(event)
        #expect(try state() == .unlocked)
    }

    @Test func `what screens are known to be is what logind says`() {
        locking.handle(.present(lockedScreens: ["1"]))
        #expect(screens.isLocked("1") == true && screens.isLocked("2") == false)
        locking.handle(.screen(session: "2", isLocked: true))
        #expect(screens.isLocked("2") == true)
        locking.handle(.sessionEnded("2"))
        #expect(screens.isLocked("2") == false)
        locking.handle(.absent)
        #expect(screens.isLocked("1") == nil)
    }

    @Test func `a screen that was locked while nothing was heard is locked once`() throws {
        try settle(sleep: false, screen: true)
        try begin(at: Self.screen)
        for _ in 0..<2 { locking.handle(.present(lockedScreens: [Self.screen])) }
        // By its user, since.
        let isThere = login.sessions.closedWithScreen(Self.screen)
        let locks = said.value.filter { $0.contains("is locked") }.count
        // Where logind runs, it has ended a session that it does not know.
        #expect(isThere ? locks == 1 : locks >= 1)
    }

    @Test func `proofs end with a lock that was not asked for`() throws {
        #expect(remembersProofs)
        locking.handle(.screen(session: "another", isLocked: true))
        #expect(remembersProofs)
        locking.handle(.mayHibernate)
        #expect(!remembersProofs)
    }

    @Test func `proofs end when the user's last login has, whether or not it was recorded`() {
        let user = Program.git.caller.user
        let locking = Locking(
            of: user, vault: login.vault, sessions: login.sessions, screens: screens,
            evidence: evidence, audit: audit
        ) { _ in }
        locking.handle(.userLeft(user + 1))
        #expect(remembersProofs)
        locking.handle(.userLeft(user))
        #expect(!remembersProofs)
    }

    @Test(arguments: [LoginManagerEvent.mayHibernate, .shuttingDown])
    func `all keys are gone before memory is written to a disk, and before the end`(
        _ event: LoginManagerEvent
    ) throws {
        try settle(sleep: false, screen: false)
        locking.handle(event)
        #expect(try state() == .locked)
        #expect(said.value.last?.hasSuffix("are gone") == true)
    }

    @Test func `a session that logind has ended is over, and no other`() throws {
        let gone = try begin(at: Self.screen)
        func isThere(_ session: LoginSession) -> Bool {
            login.sessions.session(session.id, of: OpenLogin.user) != nil
        }
        let other = try begin(at: "another")
        let plain = try begin()
        locking.handle(.sessionEnded(Self.screen))
        #expect(!isThere(gone) && isThere(plain))
        _ = other
        locking.handle(.userLeft(OpenLogin.user + 1))
        #expect(isThere(plain))
        // Logins that logind does not know are no affair of its.
        locking.handle(.userLeft(OpenLogin.user))
        #expect(!isThere(other) && isThere(plain))
    }
}
