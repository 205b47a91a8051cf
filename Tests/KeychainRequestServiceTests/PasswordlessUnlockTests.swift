// SPDX-License-Identifier: Apache-2.0
import AccountDatabase
import CallerIdentity
import Foundation
import KeychainAccessControl
import KeychainActivePolicy
@testable import KeychainDaemon
import KeychainItemStore
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import KeychainRequestAudit
import KeychainSecrets
import KeychainUserPresence
import KeychainVaults
@testable import LoginRegistry
@testable import SessionVault
import Testing

/// A login without a password, and what its user enrolled for it.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct PasswordlessUnlockTests {
    private static let credential = HeldSecret(String(repeating: "c", count: 32))

    private let login: OpenLogin
    private let audit: AuditLog
    private let policy = ActivePolicy()

    init() throws {
        login = try OpenLogin(
            keys: ProtectorKeys(
                tpm: nil, securityKeys: nil, credentials: ["disk": Self.credential]))
        audit = AuditLog(folder: login.folder)
        policy.use(try ServiceInMemory.rules(AskingVerb.rule("forbid: No.", "export")))
    }

    /// What the user enrols: with a proof that it is the user.
    private func enrol(atLogin: Bool = true) throws {
        let keychain = try login.keychain
        let change = ProtectorChange(
            .add, keychain: keychain.file.identifier, isPasscodeSet: true, mayAsk: true,
            provable: [.factor(.presence)])
        let proven = Evidence().adding(.factor(.presence))
        guard case .allow(let grant) = Judge().judge(change, proven) else {
            Issue.record("it may not be enrolled")
            return
        }
        _ = try login.protectors.add(
            .credential(name: "disk", atLogin: atLogin), to: keychain,
            from: .password(OpenLogin.password), grant)
    }

    /// The keychain is locked, and a user logs in without a password.
    private func logIn(
        through service: String = "test", with protectors: Protectors? = nil
    ) throws -> KeychainStatus.LockState {
        let accounts = AccountNames { _ in "a" }
        let parts = DaemonParts(
            folder: login.keychains, protectors: protectors ?? login.protectors,
            vault: login.vault, sessions: login.sessions, pending: login.pending,
            evidence: EvidenceStore(keyring: nil), guesses: UnlockThrottle(), accounts: accounts,
            looks: OwnLooks(), audit: audit, log: { _ in })
        let unlock = PasswordlessUnlock(
            parts,
            directory: CallerFacts.Directory(
                accounts: accounts, groups: { _ in ["staff"] }, group: { _ in nil },
                names: NameGuard(
                    NameGuard.Machine(login.sessions, accounts, owner: { _ in nil })),
                looks: OwnLooks()),
            policy: policy, screens: ScreenLocks())
        let keychain = try login.keychain
        try login.vault.lock(keychain)
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let session = try login.sessions.openWithoutTicket(
            LoginSession(
                SessionID(rawValue: 0), user: OpenLogin.user, account: "a",
                leader: (own.id, try #require(own.startTime)), service: service), leader: own)
        unlock.begin(
            session,
            AuditLog.Subject(user: OpenLogin.user, process: nil, program: "pam", session: nil))
        login.pending.wait(for: OpenLogin.user)
        return login.vault.lockState(of: keychain)
    }

    private func recorded() throws -> [String] {
        audit.flush()
        let text = FileManager.default.contents(atPath: login.folder + "/audit.jsonl") ?? Data()
        return try text.split(separator: 10).map { line in
            let record = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            let rules = (record?["because"] as? [String] ?? []).joined(separator: " ")
            return "\(record?["operation"] ?? "") \(record?["outcome"] ?? "") \(rules)"
        }
    }

    @Test func `what was enrolled for it opens the login keychain`() throws {
        try enrol()
        #expect(try logIn() == .unlocked)
        #expect(try recorded() == ["unlockAtLogin allowed "])
    }

    @Test func `which logins are their user's own is a policy's word, and without one none is`()
        throws
    {
        try enrol()
        policy.use(ActivePolicy.Pair(.empty, reach: .empty))
        #expect(try logIn() != .unlocked)
        #expect(try recorded() == ["unlockAtLogin authenticationFailed "])
    }

    @Test func `where nothing is enrolled for a login it stays locked, without a word`() throws {
        #expect(try logIn() != .unlocked)
        try enrol(atLogin: false)
        #expect(try logIn() != .unlocked)
        #expect(try recorded().isEmpty)
    }

    @Test func `a credential that is another one now opens nothing`() throws {
        try enrol()
        let other = Protectors(
            folder: login.keychains,
            deviceKey: try Protectors.deviceKey(at: login.folder + "/device.key"),
            allowsDeviceProtector: false,
            keys: ProtectorKeys(
                tpm: nil, securityKeys: nil,
                credentials: ["disk": HeldSecret(String(repeating: "d", count: 32))]))
        #expect(try logIn(with: other) != .unlocked)
        #expect(try recorded() == ["unlockAtLogin protectorChanged "])
    }

    @Test func `a rule decides by the PAM service, the user's groups and what opens it`() throws {
        try enrol()
        policy.use(
            try ServiceInMemory.rules(
                "  - id: no.auto\n    forbid: No.\n    operations: unlock\n"
                    + "    subject: {group: staff, pam-service: autologin}\n"
                    + "    resource: {protector: credential}\n"))
        #expect(try logIn(through: "autologin") != .unlocked)
        #expect(try recorded() == ["unlockAtLogin forbidden no.auto"])
        #expect(try logIn(through: "fingerprint") == .unlocked)
    }
}
