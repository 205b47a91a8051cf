// SPDX-License-Identifier: Apache-2.0
public import KeychainPolicyModel

/// How far a proof counts beyond the request that it is made for, by the rule that requires it.
public struct ProofReach: Sendable, Hashable {
    public let constraint: PolicyConstraint
    /// `process` or wider.
    public let scope: Freshness
    public let within: PolicyDuration

    /// nil for a proof that counts only for its own request or context.
    package init?(_ demand: PolicyDemand, for operation: PolicyOperation) {
        within = min(demand.within, PolicyDemand.bound(operation, demand.scope))
        guard demand.scope >= .process, within > .zero else { return nil }
        constraint = demand.constraint
        scope = demand.scope
    }
}
