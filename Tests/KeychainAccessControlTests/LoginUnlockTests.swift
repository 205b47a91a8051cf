// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyCompiler
import KeychainAccessControl
import KeychainPolicyEngine
import KeychainPolicyModel
import Testing

/// Logins that carry no password. Which services are a user's own is the baseline's word, whose
/// tests stand beside its rules.
@Suite struct LoginUnlockTests {
    private func rule(
        _ id: PolicyText, _ effect: PolicyEffect, _ conditions: [PolicyCondition] = []
    ) -> PolicyRule {
        PolicyRule(
            id: id, origin: PolicyOrigin(file: "a.yaml", line: 3, column: 1, level: 0),
            effect: effect,
            match: PolicyMatch(PolicyBox(operations: PolicyOperations(.unlock), conditions)))
    }

    private func judge(_ rules: PolicyRule...) throws -> Judge {
        Judge(try CompiledPolicy(PolicySet(rules: rules)))
    }

    private func login(
        _ service: String = "login", _ opener: LoginUnlock.Opener = .tpm,
        _ change: (inout PolicyFacts) -> Void = { _ in }
    ) -> LoginUnlock {
        var facts = PolicyFacts()
        facts[.user] = .known(["a"])
        facts[.remote] = .known(false)
        change(&facts)
        return LoginUnlock(through: service, with: opener, facts: facts, day: 0)
    }

    private var notThroughSu: PolicyRule {
        rule("site.su", .forbid("Not through su."), [.text(.pamService, [.literal("su")])])
    }

    @Test func `without a policy no login is known to be its user's own`() {
        #expect(Judge().judge(login()) == .impossible)
    }

    @Test func `with policies that can't be used a keychain takes its password`() throws {
        let judge = Judge(try CompiledPolicy(.whenBroken))
        let denial = judge.judge(login())
        #expect(denial == .forbidden(because: ["built-in.no-export"], first: "built in:1"))
    }

    @Test func `a rule about a service holds there, whatever its name's letters, and says so`()
        throws
    {
        let judge = try judge(notThroughSu)
        #expect(judge.judge(login("sshd")) == nil)
        for service in ["su", "SU"] {
            #expect(
                judge.judge(login(service)) == .forbidden(because: ["site.su"], first: "a.yaml:3"))
        }
    }

    @Test func `a service that is not told is none that a rule lets pass`() throws {
        #expect(try judge(notThroughSu).judge(login("")) != nil)
    }

    @Test func `a rule may ask for less than every protector, and for logins at the machine`()
        throws
    {
        let noTPM = rule("site.tpm", .forbid("No TPM."), [.choice(.protector, mask: 1)])
        let judge = try judge(
            noTPM, rule("site.far", .forbid("Not from afar."), [.boolean(.remote, true)]))
        #expect(judge.judge(login("login", .tpm)) != nil)
        #expect(judge.judge(login("login", .credential)) == nil)
        #expect(judge.judge(login("login", .credential) { $0[.remote] = .known(true) }) != nil)
        #expect(judge.judge(login("login", .credential) { $0[.remote] = .unknown }) != nil)
    }

    @Test func `presence is proven by what is touched, and by nothing else there`() throws {
        let judge = try judge(rule("site.touch", .require(PolicyDemand(.factor(.presence)))))
        #expect(judge.judge(login("login", .securityKey)) == nil)
        #expect(judge.judge(login("login", .tpm)) == .interactionNotAllowed)
        #expect(judge.judge(login("login", .credential)) == .interactionNotAllowed)
    }

    @Test func `a password can't be asked for at a login that does not wait`() throws {
        let judge = try judge(rule("site.password", .require(PolicyDemand(.factor(.passcode)))))
        #expect(judge.judge(login("login", .securityKey)) == .interactionNotAllowed)
    }
}
