// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainMessages
import KeychainModel
import KeychainPolicyEngine
import KeychainPolicyModel
import KeychainSecrets
import Synchronization

@testable import KeychainActivePolicy
@testable import KeychainRequestAudit
@testable import KeychainRequestService
@testable import KeychainUserPresence
@testable import KeychainVaults
@testable import KeyringStore
@testable import LoginRegistry
@testable import SessionVault

/// A user's login with an open login keychain, as the daemon has it, without a daemon around it.
final class OpenLogin: Sendable {
    static let user: UInt32 = 4_000_000
    static let password = HeldSecret(SecretBytes(copying: Array("battery".utf8)))

    let folder = NSTemporaryDirectory() + "login-" + UUID().uuidString
    let keyring: DaemonKeyring
    let records: SealedRecords
    let sessions: SessionRegistry
    let vault: KernelVault
    let service: KeychainService
    let session: LoginSession
    let memory = MemoryBudget()
    let authenticator = RefusingAuthenticator()
    let protectors: Protectors
    let keychains: KeychainFolder
    let pending = PendingUnlocks()
    let keeper = KeeperOfTest()
    let ticket: KeySerial
    private let leader: Mutex<Process>

    init(keys: ProtectorKeys = .none) throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        keyring = try DaemonKeyring(stateFolder: folder)
        let vaultKey = VaultKey(nil, keeper: keeper)
        records = try SealedRecords(folder: folder + "/records", of: Self.user, key: vaultKey)
        sessions = SessionRegistry(keyring: keyring, records: records) { _, _, _ in }
        keychains = KeychainFolder(
            folder, layout: .folderPerUser, accountName: { _ in "somebody" },
            memory: memory)
        protectors = Protectors(
            folder: keychains, deviceKey: try Protectors.deviceKey(at: folder + "/device.key"),
            allowsDeviceProtector: false, keys: keys, passwordCost: .least)
        vault = KernelVault(
            keyring: keyring, sessions: sessions, protectors: protectors,
            vaultKey: vaultKey, pending: pending,
            bounds: KeychainSettings(locksOnSleep: false, locksWithScreen: false))
        var parts = KeychainService.Parts(
            folder: keychains, vault: vault, protectors: protectors, authenticator: authenticator,
            mode: .daemon)
        parts.memory = memory
        service = KeychainService(parts)
        let first = try Self.startLeader()
        leader = Mutex(first)
        ticket = try Self.makeTicket(folder)
        session = try Self.begin(ticket, first.processIdentifier, sessions)
        try protectors.create(.login, of: Self.user, password: Self.password)
        try unlock()
    }

    deinit {
        killLeader()
        KeyringOfTest.remove(folder)
        try? FileManager.default.removeItem(atPath: folder)
    }

    var keychain: OpenKeychain {
        get throws { try keychains.keychain(nil, of: Self.user) }
    }

    /// The unlock belongs to the login unless another one is named.
    func unlock(in other: LoginSession? = nil) throws {
        let keychain = try keychain
        let begun = vault.locks.now(keychain.id)
        let keys = try protectors.unlock(keychain, Self.password)
        try vault.keep(keys, of: keychain, in: other ?? session, since: begun)
    }

    /// Another login of the same user, of the same leader.
    func beginAnother() throws -> LoginSession {
        let process = leader.withLock { $0.processIdentifier }
        return try Self.begin(Self.makeTicket(folder), process, sessions)
    }

    func killLeader() {
        leader.withLock { leader in
            kill(leader.processIdentifier, SIGKILL)
            leader.waitUntilExit()
        }
    }

    func startLeaderAnew() throws {
        let new = try Self.startLeader()
        leader.withLock { $0 = new }
    }

    private static func startLeader() throws -> Process {
        try Process.run(URL(filePath: "/bin/sleep"), arguments: ["1000"])
    }

    func revokeTicket() throws { try KernelKeyring.revoke(ticket) }

    private static func makeTicket(_ folder: String) throws -> KeySerial {
        // In a keyring of its own: a key of the same name would be the same key. No search goes into
        // it: root's sessions would find the ticket of a test that was killed as their own.
        let ring = try KernelKeyring.makeKeyring(
            "tickets:\(folder):\(UUID().uuidString)", in: .userKeyring, permissions: 0x3737_0000)
        return try KernelKeyring.add(
            SessionRegistry.ticketDescription, SecretBytes(random: 32), in: ring,
            permissions: 0x3f3f_0000, timeoutSeconds: nil)
    }

    private static func begin(
        _ ticket: KeySerial, _ process: Int32, _ sessions: SessionRegistry
    ) throws -> LoginSession {
        guard let leader = PinnedProcess(pid: process, pidfd: nil),
            let start = leader.status()?.startTime
        else { throw RequestError.failed(.internalError) }
        let session = LoginSession(
            SessionID(rawValue: ticket.rawValue), user: user, account: "somebody",
            leader: (leader.id, start), service: "test")
        try sessions.open(session, leader: leader)
        return session
    }

    // MARK: Requests

    func client(
        _ context: AuthenticationContext? = nil,
        whenLookedAt: @escaping @Sendable () -> Void = {}
    ) -> ProgramInLogin {
        ProgramInLogin(
            caller: Caller(
                user: Self.user, process: getpid(), identity: .trustedExecutable("/bin/mail"),
                session: session.id, terminal: nil, accessGroups: ["exe:/bin/mail"]),
            context: context, whenLookedAt: whenLookedAt)
    }

    @discardableResult
    func ask<V: Verb>(
        _ verb: V, _ client: ProgramInLogin? = nil,
        emit: (V.Answer) throws(RequestError) -> Void = { _ in }
    ) throws(RequestError) -> V.Answer {
        try service.answer(verb, for: client ?? self.client(), emit: emit)
    }

    /// Items with a secret and a comment of so many bytes.
    func fill(
        _ count: Int, secret: Int = 6, comment: Int = 0, accessible: Accessibility = .whenUnlocked,
        rights: ItemAccessControl? = nil, _ client: ProgramInLogin? = nil
    ) throws {
        for number in 0..<count {
            var item = NewItem(.genericPassword)
            item.attributes = [.service: .string("mail"), .account: .string("\(number)")]
            if comment > 0 {
                item.attributes[.comment] = .data([UInt8](repeating: 7, count: comment))
            }
            item.accessible = accessible
            item.accessControl = rights
            try ask(
                Add(item, secret: HeldSecret(SecretBytes(random: secret)), returning: []), client)
        }
    }

    static func query(
        _ parts: ReturnFields, limit: Int? = nil, ui: ItemQuery.AuthenticationUI = .allow
    ) -> ItemQuery {
        var query = ItemQuery(.genericPassword)
        query.attributes = [.service: .string("mail")]
        query.returnFields = parts
        query.limit = limit
        query.authenticationUI = ui
        return query
    }
}

/// A program of the login, which the service looks at before anything is given or changed.
struct ProgramInLogin: Client {
    let caller: Caller
    var context: AuthenticationContext?
    let whenLookedAt: @Sendable () -> Void
    let process: ProofOrigin.Process? = nil
    let offersTerminal = false
    let notes = RequestNotes()

    func policyFacts(_ asked: AskedFacts) -> PolicyFacts { PolicyFacts() }
    func reach(
        _ policy: CompiledPolicy, for operation: PolicyOperation, byNameAlone: Bool
    ) -> VisibleGroups {
        VisibleGroups()
    }
    func terminal() -> ProofOrigin.Terminal? { nil }
    func isUnchanged() -> Bool {
        whenLookedAt()
        return true
    }
    func hasGone() -> Bool { false }
    func startPrompter(challenge: [UInt8]) -> Bool { false }
}

/// Could ask for a password, counts how often it is told to, and never gets one.
final class RefusingAuthenticator: Authenticator {
    private let count = Mutex(0)
    private let isThere = Mutex(true)
    var questions: Int { count.withLock { $0 } }

    func leave() { isThere.withLock { $0 = false } }

    func canAsk(for client: any Client) -> Bool { isThere.withLock { $0 } }
    func hasPrompter(for caller: Caller) -> Bool { true }
    func provable(for caller: Caller) -> Set<PolicyMethod> { [.factor(.passcode)] }
    func hasBiometryService() -> Bool { false }
    func enrolledBiometry(of caller: Caller) -> [UInt8] { [] }
    func prove(
        _ method: PolicyMethod, _ question: Question, for client: any Client
    ) throws(RequestError) {
        try refuse()
    }
    func ask(
        _ prompt: String, _ question: Question, for client: any Client
    ) throws(RequestError) -> HeldSecret {
        try refuse()
    }
    func open(
        _ prompt: String, _ question: Question, for client: any Client, unless isOpen: () -> Bool,
        with opens: (HeldSecret) throws(RequestError) -> Bool
    ) throws(RequestError) {
        try refuse()
    }
    func consent(
        for client: any Client, _ candidate: () -> (question: Question, options: ConsentOptions)?
    ) throws(RequestError) -> ConsentResult? {
        try refuse()
    }

    private func refuse() throws(RequestError) -> Never {
        count.withLock { $0 += 1 }
        throw .refused(.cancelled)
    }
}

/// Stands for keychaind, which keeps a user's vault key.
final class KeeperOfTest: VaultKeyKeeper {
    private let isKept = Mutex(false)

    var hasKey: Bool { isKept.withLock { $0 } }

    func keep(_ key: borrowing SecretBytes) -> ServiceStatus.VaultKeyPlace? {
        isKept.withLock { $0 = true }
        return .file
    }

    func forget() { isKept.withLock { $0 = false } }
}
