// SPDX-License-Identifier: Apache-2.0
import KeychainModel
import KeychainRequestAudit
import KeychainPolicyCompiler
import KeychainPolicyEngine
import KeychainPolicyModel
import PolicyLanguage
import PolicySyntax
import Testing

@testable import KeychainActivePolicy

@Suite struct PolicyLimitsTests {
    private static let policy = """
        policy: v1
        name: limits
        rules:
          - id: t.questions
            limit: {rate: 3/1m, by: [user], then: deny}
            when: {prompted: true}
          - id: t.changes
            limit: {rate: 2/1m, by: [user], then: deny}
            operations: update
          - id: t.deletions
            limit: {rate: 3/1m, by: [user, exe], then: deny}
            operations: delete
          - id: t.additions
            limit: {rate: 2/1m, by: [exe], then: deny}
            operations: add
        """

    private let clock = Box(ContinuousClock.now)
    private let limits: PolicyLimits
    private let policy: CompiledPolicy
    private let caller = Caller(
        user: 1000, process: 1, identity: .unknown, session: nil, terminal: nil, accessGroups: [])

    init() throws {
        let source = SourceFile(path: "limits.yaml", bytes: Array(Self.policy.utf8))
        policy = try CompiledPolicy(LoadedPolicies([[source]], today: 20_778).policy)
        limits = PolicyLimits(clock: { [clock] in clock.value })
    }

    /// How many of ten are let through.
    private func allowed(
        _ operation: PolicyOperation, prompted: Bool = true, at place: String
    ) -> Int {
        var facts = PolicyFacts()
        facts[.user] = .known(["alice"])
        facts[.prompted] = .known(prompted)
        let request = PolicyRequest(operation, facts: facts, day: 20_778)
        return (0..<10).count { _ in
            (try? limits.count(request, policy, RequestNotes(of: (caller, { _ in place })))) != nil
        }
    }

    @Test func `questions on one terminal use up nothing of another's`() {
        #expect(allowed(.readSecret, at: "a") == 3)
        #expect(allowed(.readSecret, at: "b") == 3)
        #expect(allowed(.readSecret, at: "a") == 0)
    }

    @Test func `a limit that counts what needs no question too counts it wherever it comes from`() {
        #expect(allowed(.update, at: "a") == 2)
        #expect(allowed(.update, at: "b") == 0)
    }

    @Test func `where nothing is asked, no place is looked for`() throws {
        var facts = PolicyFacts()
        facts[.prompted] = .known(false)
        let request = PolicyRequest(.update, facts: facts, day: 20_778)
        let places: RequestNotes.PromptPlaces = { _ in
            Issue.record("a place was looked for")
            return ""
        }
        let notes = RequestNotes(of: (caller, places))
        _ = try limits.count(request, policy, notes)
    }

    // MARK: Programs without end

    /// A moment after the call before.
    private func isAllowed(
        _ program: String, of user: UInt32 = 1000, to operation: PolicyOperation = .delete
    ) -> Bool {
        clock.change { $0 += .milliseconds(1) }
        var facts = PolicyFacts()
        facts.uid = .known(user)
        facts[.user] = .known([PolicyText("user\(user)")])
        facts[.exe] = .known([PolicyText(program)])
        facts[.prompted] = .known(false)
        let request = PolicyRequest(operation, facts: facts, day: 20_778)
        return (try? limits.count(request, policy, RequestNotes(of: (caller, { _ in "" })))) != nil
    }

    private func allowed(_ program: String, of user: UInt32 = 1000) -> Int {
        (0..<10).count { _ in isAllowed(program, of: user) }
    }

    @Test func `buckets that are full again are not kept`() {
        for number in 0..<1000 {
            #expect(isAllowed("/tmp/\(number)"))
            clock.change { $0 += .seconds(1) }
        }
        #expect(limits.bucketCount <= 64)
    }

    @Test func `a bucket that was full and dropped is like a new one`() {
        #expect(allowed("/usr/bin/git") == 3)
        clock.change { $0 += .seconds(60) }
        for number in 0..<200 { #expect(isAllowed("/tmp/\(number)")) }
        #expect(allowed("/usr/bin/git") == 3)
    }

    @Test func `a bucket that is not full is not dropped, whatever comes meanwhile`() {
        #expect(allowed("/usr/bin/git") == 3)
        clock.change { $0 += .seconds(19) }
        for number in 0..<200 { #expect(isAllowed("/tmp/\(number)")) }
        #expect(allowed("/usr/bin/git") == 0)
        clock.change { $0 += .seconds(1) }
        #expect(allowed("/usr/bin/git") == 1)
    }

    @Test func `one user's programs without end are bounded and drop no other user's buckets`() {
        #expect(allowed("/usr/bin/git", of: 1001) == 3)
        for number in 0..<5000 { #expect(isAllowed("/tmp/\(number)", of: 1000)) }
        #expect(limits.bucketCount <= PolicyLimits.mostOfUser + 1)
        #expect(allowed("/usr/bin/git", of: 1001) == 0)
    }

    @Test func `of too many buckets of a user those used least recently are dropped`() {
        #expect(allowed("/usr/bin/old") == 3)
        #expect(allowed("/usr/bin/git") == 3)
        for number in 0..<1000 { #expect(isAllowed("/tmp/\(number)")) }
        #expect(allowed("/usr/bin/git") == 0)
        for number in 1000..<1100 { #expect(isAllowed("/tmp/\(number)")) }
        #expect(allowed("/usr/bin/git") == 0)
        #expect(allowed("/usr/bin/old") == 3)
    }

    @Test func `a budget that users share counts for all of them together`() {
        #expect(isAllowed("/usr/bin/git", of: 1000, to: .add))
        #expect(isAllowed("/usr/bin/git", of: 1001, to: .add))
        #expect(!isAllowed("/usr/bin/git", of: 1000, to: .add))
        #expect(!isAllowed("/usr/bin/git", of: 1002, to: .add))
    }
}
