// SPDX-License-Identifier: Apache-2.0
import Glibc
import KeychainLinuxSystem
import KeychainLocalSocket
import Synchronization
import Testing

@testable import CallerIdentity
@testable import KeychainDaemon

@Suite struct ConnectionLimitsTests {
    private typealias Place = ConnectionLimits.Place

    /// As many connections of the process as there is room for, and no more than 1,000.
    private func hold(
        _ limits: ConnectionLimits, user: UInt32, process: Int32
    ) -> [ConnectionLimits.Place] {
        var held: [Place] = []
        while held.count < 1000, let place = begin(limits, user, process) { held.append(place) }
        return held
    }

    private func begin(_ limits: ConnectionLimits, _ user: UInt32, _ process: Int32) -> Place? {
        limits.begin(PeerCredentials(pid: process, user: user, group: user))
    }

    /// Limits for users who were looked at before.
    private func limits(knowing users: ClosedRange<UInt32>) -> ConnectionLimits {
        let accounts = AccountNames { "user\($0)" }
        for user in users { _ = accounts.name(of: user) }
        return ConnectionLimits(accounts) { "\($0)" }
    }

    @Test func `limits are shared while more than one user is connected`() throws {
        let limits = limits(knowing: 7...8)
        #expect(!limits.users.areSeveral)
        let first = [begin(limits, 7, 1), begin(limits, 7, 2)]
        #expect(!limits.users.areSeveral)
        let other = try #require(begin(limits, 8, 3))
        #expect(limits.users.areSeveral)
        other.end()
        #expect(!limits.users.areSeveral)
        withExtendedLifetime(first) {}
    }

    @Test func `a user who was not asked about yet shares the limits, and once`() throws {
        let limits = ConnectionLimits(AccountNames { "user\($0)" }) { "\($0)" }
        let first = try #require(begin(limits, 7, 1))
        let other = try #require(begin(limits, 8, 2))
        _ = first.hasAccount()
        #expect(limits.users.areSeveral)
        other.end()
        #expect(!limits.users.areSeveral)
        withExtendedLifetime(first) {}
    }

    @Test func `one program leaves room for others of the same user`() {
        let limits = limits(knowing: 7...7)
        let greedy = hold(limits, user: 7, process: 1)
        #expect(greedy.count == ConnectionLimits.mostForUser - ConnectionLimits.reserveOfUser)
        let other = (0..<ConnectionLimits.few).map { _ in begin(limits, 7, 2) }
        #expect(!other.contains { $0 == nil })
        withExtendedLifetime(greedy) {}
    }

    @Test func `a program that makes processes is one program all the same`() throws {
        let accounts = AccountNames { "user\($0)" }
        _ = accounts.name(of: 7)
        // Number 99 runs another file.
        let limits = ConnectionLimits(accounts) { $0 == 99 ? "/usr/bin/git" : "/tmp/greedy" }
        var greedy: [Place] = []
        for process in 1...Int32(40) {
            if let place = begin(limits, 7, process) { greedy.append(place) }
        }
        #expect(greedy.count == ConnectionLimits.mostForUser - ConnectionLimits.reserveOfUser)
        #expect(begin(limits, 7, 99) != nil)
        withExtendedLifetime(greedy) {}
    }

    @Test func `a process is known by the file that it runs, and by nothing when it has gone`() {
        #expect(ProcessProgram.path(of: getpid())?.hasPrefix("/") == true)
        #expect(ProcessProgram.path(of: .max) == nil)
    }

    @Test func `numbers without an account keep out none that may have one`() throws {
        let limits = ConnectionLimits(AccountNames { $0 == 7 ? "alice" : nil }) { "\($0)" }
        var strange: [Place] = []
        for number in 3_000_000..<UInt32(3_000_100) {
            guard let place = begin(limits, number, Int32(number)) else { continue }
            if place.hasAccount() == false { strange.append(place) }
        }
        #expect(strange.count == ConnectionLimits.mostForUser)
        // Not looked at before, as after the start of the machine.
        #expect(try #require(begin(limits, 7, 1)).hasAccount() == true)
    }

    @Test func `one user's connections leave room for another's, and all of them for root's`() {
        let limits = limits(knowing: 1...100)
        var held = (1...Int32(20)).flatMap { hold(limits, user: 1, process: $0) }
        #expect(held.count == ConnectionLimits.mostForUser)
        for user in 2...UInt32(30) {
            for process in 1...Int32(10) { held += hold(limits, user: user, process: process) }
        }
        #expect(held.count <= ConnectionLimits.mostInAll)
        #expect(begin(limits, 1, 21) == nil)
        #expect(begin(limits, 100, 1) != nil)
        while let place = begin(limits, 100, 1), held.count < ConnectionLimits.mostInAll {
            held.append(place)
        }
        #expect(begin(limits, 0, 1) != nil)
    }

    @Test func `a place that ended is free again, and is given back once`() {
        let limits = limits(knowing: 7...7)
        var held = hold(limits, user: 7, process: 1)
        held[0].end()
        held[0].end()
        held.removeFirst()
        let again = hold(limits, user: 7, process: 1)
        #expect(again.count == 1)
        held = []
        #expect(hold(limits, user: 7, process: 1).count > 1)
    }

    @Test func `counting a connection asks no directory`() {
        let limits = ConnectionLimits(
            AccountNames { _ in
                Issue.record("the directory was asked")
                return nil
            }
        ) { "\($0)" }
        #expect(begin(limits, 0, 1) != nil)
        #expect(begin(limits, 7, 1) != nil)
    }

    @Test func `numbers that were not looked up share one part, whatever the directory takes`() {
        let accounts = AccountNames { $0 == 7 ? "alice" : nil }
        _ = accounts.name(of: 7)
        let limits = ConnectionLimits(accounts) { "\($0)" }
        var held: [Place] = []
        for number in 3_000_000..<UInt32(3_000_100) {
            held += hold(limits, user: number, process: Int32(number))
        }
        #expect(held.count == ConnectionLimits.mostForUser)
        // Alice was known before, and root always is.
        #expect(begin(limits, 7, 1) != nil)
        #expect(begin(limits, 0, 1) != nil)
    }

    @Test func `a user whom the directory knows after all has a part of its own`() throws {
        let accounts = AccountNames { "user\($0)" }
        let limits = ConnectionLimits(accounts) { "\($0)" }
        let first = try #require(begin(limits, 7, 1))
        var strange: [Place] = []
        for number in 3_000_000..<UInt32(3_000_100) {
            strange += hold(limits, user: number, process: Int32(number))
        }
        #expect(strange.count == ConnectionLimits.mostForUser - 1)
        #expect(first.hasAccount() == true)
        // Its place among the strangers is free, and its own part is counted.
        #expect(begin(limits, 3_000_000, 9) != nil)
        #expect(
            hold(limits, user: 7, process: 1).count
                == ConnectionLimits.mostForUser - ConnectionLimits.reserveOfUser - 1)
    }

    @Test func `a number without an account stays among the strangers`() throws {
        let limits = ConnectionLimits(AccountNames { _ in nil }, program: ProcessProgram.path)
        let place = try #require(begin(limits, 3_000_000, 1))
        #expect(place.hasAccount() == false)
        #expect(begin(limits, 0, 1)?.hasAccount() == true)
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

    @Test func `a user who is expected is known until a look says otherwise`() {
        let accounts = AccountNames { $0 == 7 ? "alice" : nil }
        accounts.expect([7, 8])
        #expect(accounts.isKnown(7) && accounts.isKnown(8) && !accounts.isKnown(9))
        #expect(accounts.name(of: 8) == nil && !accounts.isKnown(8))
        #expect(accounts.name(of: 7) == "alice" && accounts.isKnown(7))
        #expect(accounts.isKnown(0))
    }
}
