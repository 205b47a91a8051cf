// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@testable import CallerIdentity

@Suite struct NameGuardTests {
    private static let person: UInt32 = 1000
    private static let service: UInt32 = 33

    private func guarding(
        logins: Set<UInt32> = [], forbidsTracing: Bool = false, owner: String? = nil
    ) -> NameGuard {
        NameGuard(
            NameGuard.Machine(
                firstLoginUser: 1000, hasLogin: { logins.contains($0) },
                forbidsTracing: { forbidsTracing }, owner: { _ in owner },
                account: { $0 == Self.person ? "alice" : "www-data" }))
    }

    private func guards(
        _ names: NameGuard, _ user: UInt32, runsRootsFile: Bool = true
    ) -> Bool {
        names.guards(unit: "shop.service", of: user) { runsRootsFile }
    }

    @Test(arguments: [0, 1, 33, 999, 61_184, 65_519] as [UInt32])
    func `a unit's name counts where its user is a service's`(_ user: UInt32) {
        #expect(guards(guarding(), user))
        #expect(guarding().guardsDomain(of: user))
    }

    @Test(arguments: [1000, 60_000, 65_534, 100_000, .max] as [UInt32])
    func `where its user may log in it counts for nothing`(_ user: UInt32) {
        #expect(!guards(guarding(), user))
        #expect(!guarding().guardsDomain(of: user))
    }

    @Test func `a service's user who is logged in has other programs`() {
        #expect(!guards(guarding(logins: [Self.service]), Self.service))
        #expect(!guarding(logins: [Self.service]).guardsDomain(of: Self.service))
        #expect(guards(guarding(logins: [Self.person]), Self.service))
        #expect(guards(guarding(logins: [0]), 0))
    }

    @Test func `where the kernel lets nothing trace it that does not matter`() {
        let names = guarding(logins: [Self.service], forbidsTracing: true)
        #expect(guards(names, Self.service))
        #expect(names.guardsDomain(of: Self.service))
    }

    @Test(arguments: ["alice", "1000"])
    func `a person's unit counts where the kernel lets nothing trace it`(_ owner: String) {
        #expect(guards(guarding(forbidsTracing: true, owner: owner), Self.person))
        #expect(!guards(guarding(forbidsTracing: false, owner: owner), Self.person))
        #expect(
            !guards(
                guarding(forbidsTracing: true, owner: owner), Self.person, runsRootsFile: false))
        #expect(!guarding(forbidsTracing: true, owner: owner).guardsDomain(of: Self.person))
    }

    /// As schedulers, terminal servers and batch systems do, whatever they are called.
    @Test(arguments: [nil, "", "root", "0", "bob"])
    func `what a unit of another's starts for a person is not the unit`(_ owner: String?) {
        #expect(!guards(guarding(forbidsTracing: true, owner: owner), Self.person))
    }

    @Test func `where people's numbers begin the administrator says`() throws {
        let folder = FileManager.default.temporaryDirectory.path
        let path = folder + "/login.defs-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("# UID_MIN 1\nSYS_UID_MAX 499\nUID_MIN\t\t  500\nUID_MAX 60000\n".utf8)
            .write(to: URL(filePath: path))
        let missing = path + ".missing"
        #expect(NameGuard.Machine.firstLoginUser(in: [missing, path]) == 500)
        #expect(NameGuard.Machine.firstLoginUser(in: [missing]) == 1000)
    }
}
