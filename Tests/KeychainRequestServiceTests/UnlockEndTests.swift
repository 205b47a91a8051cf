// SPDX-License-Identifier: Apache-2.0
import Foundation
@testable import KeychainMaintenance
import KeychainKernelKeyring
import KeychainMessages
import KeychainModel
import KeychainSecrets
import Testing

@testable import SessionVault
@testable import KeychainEmbedded
@testable import KeychainVaults
@testable import KeyringStore
@testable import LoginRegistry

/// How an unlock ends.
enum UnlockEnd: String, CaseIterable, Sendable {
    case lock, lockAndUnlock, screenLock, sleep, hibernation, logout, anotherLogin, leaderKilled
    case ticketRevoked, idle, time, restore

    func happen(to login: OpenLogin) throws {
        switch self {
        case .lock: try login.vault.lock(login.keychain)
        case .lockAndUnlock:
            try login.vault.lock(login.keychain)
            try login.unlock()
        case .screenLock:
            login.vault.bind(to: KeychainSettings(locksOnSleep: false, locksWithScreen: true))
            let isDone = login.vault.lockAll(of: OpenLogin.user, because: .screenLocked) {
                $0.locksWithScreen
            }
            #expect(isDone)
        case .sleep:
            login.vault.bind(to: KeychainSettings(locksOnSleep: true, locksWithScreen: false))
            let isDone = login.vault.lockAll(of: OpenLogin.user, because: .slept) {
                $0.locksOnSleep
            }
            #expect(isDone)
        case .hibernation: #expect(login.vault.forgetAll())
        case .logout: login.sessions.close(login.session.id, user: OpenLogin.user)
        case .anotherLogin:
            login.sessions.close(login.session.id, user: OpenLogin.user)
            try login.unlock(in: login.beginAnother())
        case .leaderKilled: login.killLeader()
        case .ticketRevoked: try login.revokeTicket()
        case .idle: login.vault.bind(to: KeychainSettings(lockAfterIdle: 0))
        case .time: login.vault.bind(to: KeychainSettings(lockAfter: 0))
        case .restore: try login.vault.forget(login.keychain)
        }
    }
}

@Suite(
    .enabled(
        if: KernelKeyring.isAvailable() && getuid() == 0,
        "tickets are root's keys in the kernel's keyring"))
struct UnlockEndTests {
    /// Two of them fill a part of an answer.
    private static let large = 200 * 1024

    @Test(arguments: UnlockEnd.allCases)
    func `an answer under way ends with the unlock`(_ end: UnlockEnd) throws {
        let login = try OpenLogin()
        try login.fill(5, secret: Self.large)
        var parts: [Int] = []
        let said = refusal { () throws(RequestError) in
            try login.ask(CopyMatching(OpenLogin.query(.data))) { part in
                parts.append(part.count)
                if parts.count == 1 { happens(end, to: login) }
            }
        }
        #expect(said == .state(.locked))
        #expect(parts == [2])
    }

    @Test(arguments: UnlockEnd.allCases)
    func `nothing leaves where the unlock ended before the first part`(_ end: UnlockEnd) throws {
        let login = try OpenLogin()
        try login.fill(1)
        let client = login.client { happens(end, to: login) }
        for parts in [ReturnFields.data, .attributes] {
            let query = OpenLogin.query(parts, limit: 1)
            var isAnswered = false
            let said = refusal { () throws(RequestError) in
                try login.ask(CopyMatching(query), client) { _ in isAnswered = true }
            }
            #expect(said == .state(.locked) && !isAnswered)
            // What has ended can't end again in the same way; once is enough for these.
            if end == .anotherLogin || end == .lockAndUnlock { break }
        }
    }

    @Test(arguments: [UnlockEnd.lock, .lockAndUnlock, .logout, .leaderKilled, .time])
    func `nothing is written where the unlock ended before`(_ end: UnlockEnd) throws {
        var new = NewItem(.genericPassword)
        new.attributes = [.service: .string("mail"), .account: .string("new")]
        let verbs: [any Verb] = [
            Update(OpenLogin.query([]), change, secret: nil), Delete(OpenLogin.query([])),
            Add(new, secret: nil, returning: []),
        ]
        for verb in verbs {
            let login = try OpenLogin()
            try login.fill(2)
            let client = login.client { happens(end, to: login) }
            #expect(
                refusal { () throws(RequestError) in _ = try login.ask(verb, client) }
                    == .state(.locked))
            login.vault.bind(to: KeychainSettings(locksOnSleep: false, locksWithScreen: false))
            if end != .lockAndUnlock { try login.unlock(in: login.beginAnother(after: end)) }
            let found = try login.ask(CopyMatching(OpenLogin.query(.attributes)))
            #expect(found.map { $0.attributes[.comment] } == [nil, nil])
        }
    }

    private var change: ItemChange {
        var change = ItemChange()
        change.attributes = [.comment: .string("changed")]
        return change
    }

    @Test func `an answer goes on while another unlock lasts that was there with the first`() throws
    {
        let login = try OpenLogin()
        try login.fill(5, secret: Self.large)
        try login.unlock(in: login.beginAnother())
        var count = 0
        let last = try login.ask(CopyMatching(OpenLogin.query(.data))) { part in
            count += part.count
            login.sessions.close(login.session.id, user: OpenLogin.user)
        }
        #expect(count + last.count == 5)
    }

    @Test(arguments: [UnlockEnd.idle, .time])
    func `an unlock whose time is over leaves the kernel, and no other does`(
        _ end: UnlockEnd
    ) throws {
        let login = try OpenLogin()
        func unlocks() throws -> Int {
            try login.keyring.names(of: OpenLogin.user).count { $0.hasPrefix("unlock:") }
        }
        login.vault.lockOverdue()
        #expect(try unlocks() == 1)
        try end.happen(to: login)
        login.vault.lockOverdue()
        #expect(try unlocks() == 0)
        let caller = login.client().caller
        #expect(login.vault.lockReason(of: try login.keychain, for: caller) == .timedOut)
    }

    @Test(arguments: [Accessibility.afterFirstUnlock, .always])
    func `what a lock leaves open is answered after it, and not after hibernation`(
        _ accessible: Accessibility
    ) throws {
        for (end, expected) in [
            (UnlockEnd.lock, nil), (.logout, nil), (.time, nil),
            (.hibernation, RequestError.state(.locked)),
            (.restore, .state(.locked)),
        ] {
            let login = try OpenLogin()
            try login.fill(5, secret: Self.large, accessible: accessible)
            var parts = 0
            let said = refusal { () throws(RequestError) in
                try login.ask(CopyMatching(OpenLogin.query(.data))) { _ in
                    parts += 1
                    if parts == 1 { happens(end, to: login) }
                }
            }
            #expect(said == expected, "\(end)")
        }
    }

    @Test(arguments: UnlockEnd.allCases)
    func `no piece of a backup is given after the unlock, and no copy stays`(
        _ end: UnlockEnd
    ) throws {
        let login = try OpenLogin()
        let transfers = BackupTransfers()
        let identifier = BackupTransfers.newIdentifier()
        let path = login.folder + "/copy"
        try Data(count: 3 * BackupPiece.mostBytes).write(to: URL(filePath: path))
        let place = try login.keychain.id
        _ = try transfers.beginReading(
            path, identifier, of: place, while: UnlockWatch(login.keychain, login.vault))
        #expect(try transfers.read(identifier, offset: 0, of: place).count > 0)
        try end.happen(to: login)
        #expect(throws: RequestError.state(.locked)) {
            try transfers.read(
                identifier, offset: UInt64(BackupPiece.mostBytes), of: place)
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}

@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct EmbeddedUnlockEndTests {
    @Test func `a lock by another process ends the unlock`() throws {
        let home = NSTemporaryDirectory() + "embedded-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: home) }
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let folder = KeychainFolder(
            home, layout: .ownUser, accountName: { _ in "somebody" })
        let protectors = Protectors(
            folder: folder, deviceKey: .random(), allowsDeviceProtector: true,
            passwordCost: .least)
        let password = HeldSecret(SecretBytes(copying: Array("battery".utf8)))
        try protectors.create(.login, of: getuid(), password: password)
        let keychain = try folder.keychain(nil, of: getuid())
        let own = EmbeddedVault(protectors: protectors)
        let other = EmbeddedVault(protectors: protectors)
        let caller = Caller(
            user: getuid(), process: getpid(), identity: .unknown, session: nil, terminal: nil,
            accessGroups: [])
        try own.keep(
            protectors.unlock(keychain, password), of: keychain, for: caller,
            since: own.locks.now(keychain.id))
        defer { try? own.forget(keychain) }
        let watch = UnlockWatch(keychain, own)
        try watch.check(.whileUnlocked)
        try other.lock(keychain)
        #expect(throws: RequestError.state(.locked)) { try watch.check(.whileUnlocked) }
        try watch.check(.afterFirstUnlock)
    }
}

extension OpenLogin {
    /// A login whose leader is alive.
    fileprivate func beginAnother(after end: UnlockEnd) throws -> LoginSession {
        if end == .leaderKilled { try startLeaderAnew() }
        return try beginAnother()
    }
}

private func happens(_ end: UnlockEnd, to login: OpenLogin) {
    do { try end.happen(to: login) } catch { Issue.record(error) }
}

func refusal(_ body: () throws(RequestError) -> Void) -> RequestError? {
    do throws(RequestError) { try body() } catch { return error }
    return nil
}
