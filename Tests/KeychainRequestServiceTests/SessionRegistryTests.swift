// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainKernelKeyring
import KeychainModel
import KeychainLinuxSystem
import KeychainSecrets
import Testing

@testable import KeyringStore
@testable import LoginRegistry

@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
final class SessionRegistryTests {
    private let folder = NSTemporaryDirectory() + "registry-" + UUID().uuidString
    private let keyring: DaemonKeyring

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        keyring = try DaemonKeyring(stateFolder: folder)
    }

    deinit {
        for key in (try? KernelKeyring.list(.userKeyring)) ?? []
        where (try? KernelKeyring.describe(key))?.description.contains(folder) == true {
            try? KernelKeyring.unlink(key, from: .userKeyring)
        }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func records(of user: UInt32) throws -> SealedRecords {
        try SealedRecords(
            folder: "\(folder)/records-\(user)", of: user, key: RecordKeysOfTest())
    }

    private func registry(of user: UInt32) throws -> SessionRegistry {
        SessionRegistry(keyring: keyring, records: try records(of: user)) { _, _, _ in }
    }

    @Test func `what an unlock writes for a login that has ended meanwhile is not written`() throws
    {
        let user: UInt32 = 4_000_000
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let session = try registry.openWithoutTicket(user: user, leader: leader)
        let name = "unlock:\(session.id.rawValue):login"
        func write() throws(RequestError) {
            try registry.whileKnown(session) { () throws(RequestError) in
                try keyring.write(name, SecretBytes(random: 32), of: user)
            }
        }
        try write()
        #expect(try keyring.names(of: user).contains(name))
        registry.close(session.id, user: user)
        #expect(throws: RequestError.state(.noSession)) { try write() }
        #expect(try keyring.names(of: user) == [])
    }

    @Test func `of logins without a ticket those end that the process opened for the user`() throws
    {
        let user: UInt32 = 4_000_009
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let start = try #require(leader.status()?.startTime)
        let login = LoginSession(
            SessionID(rawValue: 0), user: user, account: "", leader: (leader.id, start),
            service: "test")
        let unlock = try registry.openWithoutTicket(user: user, leader: leader)
        let opened = try registry.openWithoutTicket(login, leader: leader)
        registry.closeWithoutTicket(openedBy: getppid(), user: user)
        registry.closeWithoutTicket(openedBy: getpid(), user: user + 1)
        #expect(registry.live(user).map(\.id).contains(opened.id))
        registry.closeWithoutTicket(openedBy: getpid(), user: user)
        #expect(registry.live(user).map(\.id) == [unlock.id])
        registry.close(unlock.id, user: user)
        #expect(try keyring.names(of: user) == [])
    }

    @Test func `logins without an unlock keep out none, and one with an unlock stays`() throws {
        let user: UInt32 = 4_000_002
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let start = try #require(leader.status()?.startTime)
        func open() throws -> SessionID {
            var details = LoginSession.Details()
            details.lockReason = .loginWithoutPassword
            let session = LoginSession(
                SessionID(rawValue: 0), user: user, account: "", leader: (leader.id, start),
                service: "test", details)
            return try registry.openWithoutTicket(session, leader: leader).id
        }
        func unlock(_ session: SessionID) throws {
            try keyring.write(
                "unlock:\(session.rawValue):login", SecretBytes(random: 32), of: user)
        }
        let unlocked = try open()
        try unlock(unlocked)
        for _ in 1..<KeyName.Kind.half.most { _ = try open() }
        let next = try open()
        let live = registry.live(user).map(\.id)
        #expect(live.count == KeyName.Kind.half.most)
        #expect(live.contains(unlocked) && live.contains(next))
        for session in registry.live(user) { try unlock(session.id) }
        #expect(throws: RequestError.refused(.tooManyRequests)) { try open() }
        #expect(try keyring.names(of: user).count == 2 * KeyName.Kind.half.most)
        for session in registry.live(user) { registry.close(session.id, user: user) }
        #expect(try keyring.names(of: user) == [])
    }

    @Test func `of programs that unlock outside any login the first give way`() throws {
        let user: UInt32 = 4_000_007
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let start = try #require(leader.status()?.startTime)
        func open() throws -> SessionID {
            let session = LoginSession(
                SessionID(rawValue: 0), user: user, account: "", leader: (leader.id, start),
                service: "")
            let id = try registry.openWithoutTicket(session, leader: leader).id
            try keyring.write(
                "unlock:\(id.rawValue):login", SecretBytes(random: 32), of: user)
            return id
        }
        for _ in 0..<KeyName.Kind.half.most { _ = try open() }
        let first = try #require(registry.live(user).first?.id)
        let next = try open()
        let live = registry.live(user).map(\.id)
        #expect(live.count == KeyName.Kind.half.most)
        #expect(!live.contains(first) && live.contains(next))
        for session in live { registry.close(session, user: user) }
        #expect(try keyring.names(of: user) == [])
    }

    @Test func `a login that ends takes its ticket with it, which keeps no place in the quota`()
        throws
    {
        let user: UInt32 = 4_000_008
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let start = try #require(leader.status()?.startTime)
        let ring = try KernelKeyring.makeKeyring(
            "tickets:\(folder)", in: .userKeyring, permissions: 0x3737_0000)
        let ticket = try KernelKeyring.add(
            SessionRegistry.ticketDescription, SecretBytes(random: 32), in: ring,
            permissions: 0x3f3f_0000, timeoutSeconds: nil)
        let session = LoginSession(
            SessionID(rawValue: ticket.rawValue), user: user, account: "",
            leader: (leader.id, start), service: "test")
        try registry.open(session, leader: leader)
        registry.close(session.id, user: user)
        // A key that was only revoked is still there.
        #expect(throws: KeyringError.notFound) { try KernelKeyring.describe(ticket) }
    }

    @Test func `a look is good until a login comes or goes`() throws {
        let user: UInt32 = 4_000_003
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let first = try registry.openWithoutTicket(user: user, leader: leader)
        let look = registry.look(at: user)
        #expect(look.sessions == [first.id])
        #expect(registry.live(user, by: look) == [first])
        // Of another user it says nothing.
        #expect(registry.live(user &+ 1, by: look) == [])
        let start = try #require(leader.status()?.startTime)
        let second = try registry.openWithoutTicket(
            LoginSession(
                SessionID(rawValue: 0), user: user, account: "", leader: (leader.id, start),
                service: ""), leader: leader)
        #expect(Set(registry.live(user, by: look).map(\.id)) == [first.id, second.id])
        let later = registry.look(at: user)
        registry.close(first.id, user: user)
        #expect(registry.live(user, by: later) == [second])
        registry.close(second.id, user: user)
    }

    @Test func `a login that ended while no service ran is over when one starts`() throws {
        let user: UInt32 = 4_000_005
        let gone = LoginSession(
            SessionID(rawValue: -7), user: user, account: "a", leader: (getpid(), 0),
            service: "test")
        let records = try records(of: user)
        try records.writePlain("session:-7", SecretBytes(copying: gone.record), of: user)
        let ended = Box<[SessionID]>([])
        let registry = SessionRegistry(keyring: keyring, records: records) { session, _, _ in
            ended.change { $0.append(session) }
        }
        #expect(ended.value == [gone.id])
        #expect(registry.live(user) == [])
        #expect(try records.names(of: user) == [])
    }

    @Test func `the next look at a login sees what it was locked for`() throws {
        let user: UInt32 = 4_000_004
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let session = try registry.openWithoutTicket(user: user, leader: leader)
        let look = registry.look(at: user)
        #expect(registry.live(user, by: look).map(\.lockReason) == [.none])
        registry.setLockReason(.lockedByUser, of: session.id)
        #expect(registry.live(user, by: look).map(\.lockReason) == [.lockedByUser])
        #expect(registry.live(user).map(\.lockReason) == [.lockedByUser])
        registry.close(session.id, user: user)
        #expect(registry.live(user) == [])
    }

    @Test func `requests look at logins while something is written for one`() throws {
        let user: UInt32 = 4_000_001
        let registry = try registry(of: user)
        let leader = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let session = try registry.openWithoutTicket(user: user, leader: leader)
        try registry.whileKnown(session) { () throws(RequestError) in
            let looked = DispatchSemaphore(value: 0)
            Thread {
                if registry.session(session.id, of: user) != nil,
                    registry.live(user) == [session]
                {
                    looked.signal()
                }
            }.start()
            guard looked.wait(timeout: .now() + 30) == .success else {
                throw .failed(.notAvailable)
            }
        }
        registry.close(session.id, user: user)
    }
}
