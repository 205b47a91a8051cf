// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyEngine
public import KeychainPolicyModel

extension PolicyBundle {
    /// `set` must have been checked.
    public init(
        _ set: PolicySet, summary: String, sources: [Source] = []
    ) throws(PolicyCompilationError) {
        self.init(
            try CompiledPolicy(set), reach: try CompiledPolicy(set.reachOnly), summary: summary,
            sources: sources)
    }
}
