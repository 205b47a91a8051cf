// SPDX-License-Identifier: Apache-2.0
import AccessControl
import PolicyWorlds

/// Short ways to write sets.
func rule(
    _ id: PolicyText, _ effect: PolicyEffect, _ operations: PolicyOperations = .all,
    _ conditions: PolicyCondition..., unless exceptions: [PolicyBox] = []
) -> PolicyRule {
    PolicyRule(
        id: id, origin: origin, effect: effect,
        match: PolicyMatch(PolicyBox(operations: operations, conditions), unless: exceptions))
}

func scope(_ id: PolicyText, _ conditions: PolicyCondition...) -> ClosedScope {
    ClosedScope(id: id, origin: origin, match: PolicyMatch(PolicyBox(conditions)))
}

func never(
    _ operations: PolicyOperations = .all, _ conditions: PolicyCondition...
) -> PolicyAssertion {
    PolicyAssertion(
        id: "assertion", origin: origin,
        never: PolicyBox(operations: operations, conditions))
}

func literal(_ field: TextField, _ texts: PolicyText...) -> PolicyCondition {
    .text(field, texts.map { .literal($0) })
}

let passcode = PolicyEffect.require(PolicyDemand(.factor(.passcode)))
let today: Int32 = PolicyWorld.day

private let origin = PolicyOrigin(file: "10-test.yaml", line: 3, column: 5, level: 0)

extension PolicyRequest {
    /// The request as analysis takes requests: nothing unknown, no evidence, an item that asks for
    /// nothing.
    var plain: PolicyRequest {
        var plain = self
        plain.before = nil
        plain.evidence = []
        plain.facts.constraint = .none
        for field in TextField.allCases where facts[field] == .unknown {
            plain.facts[field] = .absent
        }
        for field in ChoiceField.allCases where facts[field] == .unknown {
            plain.facts[field] = .absent
        }
        for field in BooleanField.allCases where facts[field] == .unknown {
            plain.facts[field] = .absent
        }
        plain.facts[.interactive] = .known(true)
        if facts.uid == .unknown { plain.facts.uid = .absent }
        if facts.flags == .unknown { plain.facts.flags = .absent }
        if facts.time == .unknown || facts.time == .absent, let monday = MinuteOfWeek(0) {
            plain.facts.time = .known(monday)
        }
        for field in AgeField.allCases {
            if case .known = facts[field] { continue }
            plain.facts[field] = .known(.zero)
        }
        return plain
    }
}
