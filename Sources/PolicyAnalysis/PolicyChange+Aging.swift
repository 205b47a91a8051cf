// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyRequestSpace

extension PolicyChange.Aging {
    /// The requirements of each case before and after that differ in nothing but the proofs' age.
    static func between(
        _ before: [Set<PolicyDemand>], _ after: [Set<PolicyDemand>]
    ) -> [Self] {
        let found = zip(before, after).flatMap { was, now in
            let now = strictest(now)
            return strictest(was).compactMap { constraint, demand in
                now[constraint].flatMap {
                    $0 == demand ? nil : Self(before: demand, after: $0)
                }
            }
        }
        return Set(found).sorted { $0.order.lexicographicallyPrecedes($1.order) }
    }

    private var order: [String] {
        [before.constraint.json, "\(before.within)", "\(after.within)", "\(before.scope)"]
    }

    /// The strictest demand for each constraint, as all of them must be met.
    private static func strictest(
        _ demands: Set<PolicyDemand>
    ) -> [PolicyConstraint: PolicyDemand] {
        demands.reduce(into: [:]) { strictest, demand in
            let constraint = demand.constraint.canonical
            let other = strictest[constraint] ?? demand
            strictest[constraint] = PolicyDemand(
                constraint, within: min(demand.within, other.within),
                scope: min(demand.scope, other.scope))
        }
    }
}
