// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel

/// Decides requests in full: by the compiled engine, or by the definition itself where a set is
/// more than the engine holds.
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

    /// The most rules that any request makes the engine look at.
    var mostCandidates: Int { compiled?.mostCandidates ?? reference.policy.rules.count }
}
