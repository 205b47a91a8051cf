// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel

/// Makes full decisions: with the compiled engine, or with the reference evaluator where the engine
/// can't hold the set.
package struct PolicyDecider: Sendable {
    private let compiled: CompiledPolicy?
    private let reference: ReferenceEvaluator

    package init(_ policy: PolicySet) {
        compiled = try? CompiledPolicy(policy)
        reference = ReferenceEvaluator(policy)
    }

    package func decide(_ request: PolicyRequest) -> PolicyDecision {
        compiled?.decision(on: request) ?? reference.decide(request)
    }

    /// The most rules that the engine evaluates for any request.
    var mostCandidates: Int { compiled?.mostCandidates ?? reference.policy.rules.count }
}
