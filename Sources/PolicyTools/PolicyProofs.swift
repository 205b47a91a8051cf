// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyAnalysis
package import PolicyLanguage
package import PolicySyntax

/// The assertions of a set with their results.
package struct PolicyProofs: Sendable {
    package private(set) var diagnostics: [Diagnostic] = []
    package private(set) var provedCount = 0

    /// `today` is the local date in days since 1970-01-01.
    package init(_ loaded: LoadedPolicies, today: Int32) {
        let analysis = PolicyAnalysis(loaded.policy, day: today)
        let all = loaded.files.flatMap { file in file.assertions.map { (file, $0) } }
        for ((file, assertion), proof) in zip(all, analysis.proofs(of: all.map(\.1))) {
            switch proof {
            case .proved: provedCount += 1
            case .refuted(let witness):
                diagnostics.append(
                    file.diagnostic(
                        .refutedAssertion, at: assertion.origin, assertion.id.string,
                        "the assertion \(assertion.id) does not hold",
                        notes: [
                            "decided \(witness.decision.outcome.rawValue): "
                                + witness.request.json
                        ]))
            case .notDecided:
                diagnostics.append(
                    file.diagnostic(
                        .undecidedAssertion, at: assertion.origin, assertion.id.string,
                        "whether \(assertion.id) holds was not found out within the budget"))
            }
        }
        diagnostics.sort()
    }
}
