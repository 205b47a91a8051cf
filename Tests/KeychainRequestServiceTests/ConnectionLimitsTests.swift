// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainLocalSocket
import Synchronization
import Testing

import AccountDatabase
@testable import CallerIdentity
@testable import KeychainDaemon

@Suite struct ConnectionLimitsTests {
    private typealias Place = ConnectionLimits.Place

    private let limits = ConnectionLimits { "\($0)" }

    /// As many connections of the process as there is room for, and no more than 1,000.
    private func hold(process: Int32, _ limits: ConnectionLimits? = nil) -> [Place] {
        var held: [Place] = []
        while held.count < 1000, let place = begin(process, limits) { held.append(place) }
        return held
    }

    private func begin(_ process: Int32, _ limits: ConnectionLimits? = nil) -> Place? {
        (limits ?? self.limits).begin(PeerCredentials(pid: process, user: 7, group: 7))
    }

    @Test func `one program leaves room for others`() {
        let greedy = hold(process: 1)
        #expect(greedy.count == ConnectionLimits.most - ConnectionLimits.reserve)
        let other = (0..<ConnectionLimits.few).map { _ in begin(2) }
        #expect(!other.contains { $0 == nil })
        withExtendedLifetime(greedy) {}
    }

    @Test func `a program that makes processes is one program all the same`() {
        // Number 99 runs another file.
        let limits = ConnectionLimits { $0 == 99 ? "/usr/bin/git" : "/tmp/greedy" }
        let greedy = (1...Int32(40)).compactMap { begin($0, limits) }
        #expect(greedy.count == ConnectionLimits.most - ConnectionLimits.reserve)
        #expect(begin(99, limits) != nil)
        withExtendedLifetime(greedy) {}
    }

    @Test func `a process is known by the file that it runs, and by nothing when it has gone`() {
        #expect(ProcessProgram.path(of: getpid())?.hasPrefix("/") == true)
        #expect(ProcessProgram.path(of: .max) == nil)
    }

    @Test func `all programs together have no more than the user has`() {
        let held = (1...Int32(100)).flatMap { hold(process: $0) }
        #expect(held.count == ConnectionLimits.most && limits.count == held.count)
        #expect(begin(101) == nil)
    }

    @Test func `a place that ended is free again`() {
        var held = hold(process: 1)
        held.removeFirst()
        #expect(hold(process: 1).count == 1)
        held = []
        #expect(limits.count == 0)
    }
}

@Suite struct AccountNamesTests {
    @Test func `numbers without an account make no user's name forgotten`() {
        let looks = Mutex<[UInt32: Int]>([:])
        let accounts = AccountNames { user in
            looks.withLock { $0[user, default: 0] += 1 }
            return user == 7 ? "alice" : nil
        }
        #expect(accounts.name(of: 7) == "alice")
        for number in 3_000_000..<UInt32(3_003_000) { #expect(accounts.name(of: number) == nil) }
        #expect(accounts.name(of: 7) == "alice")
        #expect(looks.withLock { $0[7] } == 1)
    }

    @Test func `the name that keychains know an account by is remembered with the account's`() {
        let asked = Mutex<[String]>([])
        let accounts = AccountNames({ $0 == 7 ? "alice" : nil }) { name in
            asked.withLock { $0.append(name) }
            return "alice-of-before"
        }
        for _ in 0..<3 {
            #expect(accounts.name(of: 7) == "alice")
            #expect(accounts.nameInKeychains(of: 7) == "alice-of-before")
            #expect(accounts.nameInKeychains(of: 8) == nil)
        }
        #expect(asked.withLock { $0 } == ["alice"])
    }

    @Test func `a user who is expected is known until a look says otherwise`() {
        let accounts = AccountNames { $0 == 7 ? "alice" : nil }
        accounts.expect([7, 8])
        #expect(accounts.isKnown(7) && accounts.isKnown(8) && !accounts.isKnown(9))
        #expect(accounts.name(of: 8) == nil && !accounts.isKnown(8))
        #expect(accounts.name(of: 7) == "alice" && accounts.isKnown(7))
        #expect(accounts.isKnown(0))
    }
}
