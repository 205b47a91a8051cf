// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel
internal import PolicyAnalysis
package import PolicyLanguage
package import PolicySyntax

/// The results of a set's tests. A file's tests run against its own rules alone; those of a
/// `*_test.yaml` against the whole set in force.
package struct PolicyTestRun: Sendable {
    package struct Outcome: Sendable {
        package let test: PolicyTest
        package let decision: PolicyDecision
        /// The differences from the expectations; empty if the test passed.
        package let differences: [String]
        package var passed: Bool { differences.isEmpty }
    }

    package let outcomes: [Outcome]
    /// A diagnostic for each failure, and for each unknown rule that a test names.
    package let diagnostics: [Diagnostic]

    package init(_ loaded: LoadedPolicies) {
        var outcomes: [Outcome] = []
        var diagnostics: [Diagnostic] = []
        for file in loaded.files where !file.tests.isEmpty {
            let policy = loaded.policy(forTestsOf: file)
            let ids = Set(policy.rules.map(\.id) + policy.closed.map(\.id))
            let decider = PolicyDecider(policy)
            for test in file.tests {
                let outcome = Outcome(test, decider)
                outcomes.append(outcome)
                // Further ones are not reported, so that a file full of mistakes costs little.
                guard diagnostics.count < LoadedPolicies.mostDiagnostics else { continue }
                diagnostics += Self.unknownRules(test, ids, file)
                if !outcome.passed { diagnostics.append(Self.failure(outcome, file, policy)) }
            }
        }
        self.outcomes = outcomes
        self.diagnostics = Array(Set(diagnostics)).sorted()
    }

    package var passedCount: Int { outcomes.count { $0.passed } }

    private static func failure(
        _ outcome: Outcome, _ file: PolicyFile, _ policy: PolicySet
    ) -> Diagnostic {
        let why = Explanation(outcome.test.request, under: policy)
        let rules = why.because.map { "\($0.id) (\($0.origin.file):\($0.origin.line))" }
        let reason = why.refusal ?? (rules.isEmpty ? "no rule matches" : nil)
        let named = rules.isEmpty ? nil : rules.joined(separator: ", ")
        let told = [reason, named].compactMap(\.self)
        return file.diagnostic(
            .failedTest, at: outcome.test.origin, outcome.test.name,
            "the test \"\(outcome.test.name)\" fails",
            notes: outcome.differences
                + ["\(outcome.decision.outcome.rawValue): " + told.joined(separator: ": ")])
    }

    private static func unknownRules(
        _ test: PolicyTest, _ ids: Set<PolicyText>, _ file: PolicyFile
    ) -> [Diagnostic] {
        test.expected.places.filter { !ids.contains($0.key) }.sorted { $0.key < $1.key }
            .map { id, place in
                Diagnostic(
                    .unknownRule, in: file.source, at: place,
                    length: file.source.length(at: place, plain: id.string),
                    "no rule is called \"\(id)\"",
                    advice: Suggestion.nearest(to: id.string, among: ids.map(\.string).sorted())
                        .map { "did you mean \"\($0)\"?" })
            }
    }
}

extension LoadedPolicies {
    func policy(forTestsOf file: PolicyFile) -> PolicySet {
        file.isTestFile ? policy : file.policy
    }
}

extension PolicyTestRun.Outcome {
    init(_ test: PolicyTest, _ decider: PolicyDecider) {
        let decision = decider.decide(test.request)
        self.init(
            test: test, decision: decision, differences: test.expected.differences(decision))
    }
}

extension PolicyTest.Expected {
    /// The differences in words, one each.
    func differences(_ decision: PolicyDecision) -> [String] {
        var found: [String] = []
        func compare<Value: Equatable>(
            _ what: String, _ expected: Value?, _ actual: Value, _ words: (Value) -> String
        ) {
            guard let expected, expected != actual else { return }
            found.append("\(what): expected \(words(expected)), got \(words(actual))")
        }
        let list = { (texts: [PolicyText]) in
            "[" + texts.map(\.shown).joined(separator: ", ") + "]"
        }
        compare("decision", outcome, decision.outcome) { $0.rawValue }
        compare("because", because, decision.because, list)
        compare("requires", requires, decision.requires) { $0?.json ?? "nothing" }
        compare("audit", audit, decision.audit) { $0.word }
        compare("redacted", redacted, decision.redacted, list)
        compare("would", wouldDecide, decision.wouldDecide) { $0?.rawValue ?? "nothing" }
        return found
    }
}
