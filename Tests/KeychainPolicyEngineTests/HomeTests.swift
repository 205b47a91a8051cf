// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import KeychainPolicyCompiler
@testable import KeychainPolicyEngine
@testable import KeychainPolicyModel

/// The groups that new items of programs belong to.
@Suite struct HomeTests {
    private func group(
        _ name: PolicyText, _ program: PolicyText, isHome: Bool = true
    ) -> GroupMembership {
        var group = membership(name, .all, literal(.exe, program), .boolean(.trustedExe, true))
        group.id = name
        group.isHome = isHome
        return group
    }

    private func home(
        _ groups: GroupMembership..., of program: Fact<[PolicyText]>, isTrusted: Bool = true
    ) throws -> PolicyText? {
        let policy = try CompiledPolicy(PolicySet(groups: groups).reachOnly)
        // As the daemon has it, by way of the compiler's process.
        let loaded = try CompiledPolicy(snapshot: policy.snapshot)
        #expect(loaded.hasHomes == groups.contains(where: \.isHome))
        return loaded.home(
            of: facts {
                $0[.exe] = program
                $0[.trustedExe] = .known(isTrusted)
            })
    }

    @Test func `a home is for its members alone`() throws {
        let mail = group("mail", "/usr/bin/mail")
        #expect(try home(mail, of: .known(["/usr/bin/mail"])) == "mail")
        #expect(try home(mail, of: .known(["/usr/bin/mail"]), isTrusted: false) == nil)
        #expect(try home(mail, of: .known(["/usr/bin/other"])) == nil)
        #expect(try home(mail, of: .unknown) == nil)
    }

    @Test func `to be a member of a group is not to have it as a home`() throws {
        let shared = group("shared", "/usr/bin/mail", isHome: false)
        #expect(try home(shared, of: .known(["/usr/bin/mail"])) == nil)
        let others = group("shared", "/usr/bin/other")
        #expect(try home(shared, others, of: .known(["/usr/bin/mail"])) == nil)
    }

    @Test func `of two homes the first by name counts`() throws {
        let (a, b) = (group("a", "/usr/bin/mail"), group("b", "/usr/bin/mail"))
        #expect(try home(b, a, of: .known(["/usr/bin/mail"])) == "a")
    }
}
