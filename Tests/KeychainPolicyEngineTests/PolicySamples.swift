// SPDX-License-Identifier: Apache-2.0
import KeychainPolicyModel

/// Short ways to write rules and requests in tests.
func rule(
    _ id: PolicyText, _ effect: PolicyEffect, _ operations: PolicyOperations = .all,
    _ conditions: PolicyCondition..., unless exceptions: [PolicyBox] = [],
    mode: PolicyMode = .enforce
) -> PolicyRule {
    PolicyRule(
        id: id, origin: origin, mode: mode, effect: effect,
        match: PolicyMatch(
            PolicyBox(operations: operations, conditions), unless: exceptions))
}

func scope(_ id: PolicyText, _ conditions: PolicyCondition..., mode: PolicyMode = .enforce)
    -> ClosedScope
{
    ClosedScope(id: id, origin: origin, mode: mode, match: PolicyMatch(PolicyBox(conditions)))
}

func membership(
    _ group: PolicyText, _ operations: PolicyOperations, _ members: PolicyCondition...
) -> GroupMembership {
    GroupMembership(
        id: "g", origin: origin, group: group, members: [members], operations: operations)
}

func literal(_ field: TextField, _ texts: PolicyText...) -> PolicyCondition {
    .text(field, texts.map { .literal($0) })
}

func need(
    _ factor: PolicyFactor, within: PolicyDuration = .zero, scope: Freshness = .context
) -> PolicyEffect {
    .require(PolicyDemand(.factor(factor), within: within, scope: scope))
}

func facts(_ set: (inout PolicyFacts) -> Void) -> PolicyFacts {
    var facts = PolicyFacts()
    set(&facts)
    return facts
}

let today: Int32 = 20_000

func request(
    _ operation: PolicyOperation, evidence: [PolicyProof] = [],
    _ set: (inout PolicyFacts) -> Void = { _ in }
) -> PolicyRequest {
    PolicyRequest(operation, facts: facts(set), evidence: evidence, day: today)
}

private let origin = PolicyOrigin(file: "10-test.yaml", line: 7, column: 5, level: 0)
