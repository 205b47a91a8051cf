// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainModel
import KeychainVaults
import SystemTestSupport
import Testing

@testable import KeychainManagement

/// Which programs may say when a keychain locks, as they gave its password, where no user can be asked.
@Suite struct GivenPasswordsTests {
    private let given = GivenPasswords()
    private let locks = LockCounts()
    private let work = keychain("work")

    private static func keychain(_ name: String, of user: UInt32 = 1) -> KeychainID {
        KeychainID(user: user, name: KeychainName(name) ?? .system)
    }

    private static func script(
        _ path: String = "/usr/bin/script", process: Int32 = getpid(), via: Caller.Via? = nil
    ) -> Caller {
        Caller(
            user: 1, process: process, identity: .trustedExecutable(path), session: nil,
            terminal: nil, accessGroups: [], via: via)
    }

    private func note(
        _ keychain: KeychainID, by caller: Caller = script(),
        at time: ContinuousClock.Instant = .now
    ) {
        given.note(keychain, by: caller, since: locks.now(keychain), at: time)
    }

    private func has(
        _ keychain: KeychainID, _ caller: Caller = script(),
        at time: ContinuousClock.Instant = .now
    ) -> Bool {
        given.has(keychain, by: caller, in: locks.now(keychain), at: time)
    }

    @Test func `the program that gave the password is known, for a while`() {
        let now = ContinuousClock.now
        note(work, at: now)
        #expect(has(work, at: now + .seconds(299)) && !has(work, at: now + .seconds(301)))
    }

    @Test func `no other program is, nor one of another session, nor a relayed one`() throws {
        // Process 1 would not do: a container's first process may lead the session of these tests.
        let elsewhere = try Python("import time; time.sleep(600)", newSession: true)
        defer { elsewhere.end() }
        note(work)
        #expect(has(work))
        #expect(!has(work, Self.script("/usr/bin/other")))
        #expect(!has(work, Self.script(process: elsewhere.id)))
        #expect(!has(work, Self.script(via: .secretService)))
        #expect(!has(Self.keychain("home")))
    }

    @Test func `a session whose leader has ended is not known by its number alone`() throws {
        let (reads, writes) = try Pipe.make()
        let leader = try Python(
            """
            import os, time
            child = os.fork()
            if child:
                print(child, flush=True)
            time.sleep(600)
            """,
            passing: [(source: writes.number, target: 1)], newSession: true)
        let words = String(decoding: Pipe.read(reads, 20), as: UTF8.self)
        let child = try #require(Int32(words.dropLast()))
        defer { kill(child, SIGKILL) }
        let program = Self.script(process: child)
        note(work, by: program)
        #expect(has(work, program) && has(work, Self.script(process: leader.id)))
        leader.end()
        #expect(!has(work, program))
        note(work, by: program)
        #expect(has(work, program))
    }

    @Test func `the login keychain's password is the user's`() {
        note(Self.keychain("login"))
        #expect(!has(Self.keychain("login")))
    }

    @Test(arguments: [false, true])
    func `a lock ends it`(ofAll: Bool) throws {
        note(work)
        if ofAll { locks.lockAll(of: 1) {} } else { try locks.lock(work) {} }
        #expect(!has(work))
        note(work)
        #expect(has(work))
    }

    @Test func `a lock during the unlock ends it`() throws {
        let begun = locks.now(work)
        try locks.lock(work) {}
        given.note(work, by: Self.script(), since: begun)
        #expect(!has(work))
    }

    @Test func `a user's programs push out that user's oldest, and no other user's`() {
        let others = Self.keychain("work", of: 2)
        note(others)
        for number in 0..<40 { note(Self.keychain("k\(number)")) }
        #expect(has(others) && has(Self.keychain("k39")) && !has(Self.keychain("k0")))
    }
}
