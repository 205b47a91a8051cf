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
        """

    private let limits = PolicyLimits()
    private let policy: CompiledPolicy
    private let caller = Caller(
        user: 1000, process: 1, identity: .unknown, session: nil, terminal: nil, accessGroups: [])

    init() throws {
        let source = SourceFile(path: "limits.yaml", bytes: Array(Self.policy.utf8))
        policy = try CompiledPolicy(LoadedPolicies([[source]], today: 20_778).policy)
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
}
