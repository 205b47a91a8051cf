// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
package import PolicyAnalysis
internal import PolicyRequestSpace

extension PolicyDifference {
    /// `{"complete": …, "undecided": [ID, …], "differences": [{"kind", "new-access",
    /// "less-proof", "exact", "areas", "statements", "before", "after", "request"}, …]}`
    package var json: String {
        "{\"complete\": \(isComplete), \"undecided\": \(JSONText.list(undecided))"
            + ", \"differences\": [" + changes.map(\.json).joined(separator: ", ") + "]}"
    }
}

extension PolicyChange {
    fileprivate var json: String {
        let statements = statements.map {
            "{\"id\": \(JSONText($0.id.string)), \"is\": \(JSONText($0.fate.rawValue))}"
        }.joined(separator: ", ")
        return "{\"kind\": \(JSONText(kind.rawValue)), \"new-access\": \(isNewAccess)"
            + ", \"less-proof\": \(needsLess)"
            + ", \"exact\": \(isExact), \"areas\": \(areas.json), \"statements\": [\(statements)]"
            + ", \"before\": \(before.json), \"after\": \(after.json), \"request\": \(request.json)}"
    }
}

extension PolicyAccessList {
    /// `{"complete": …, "told": "rules", "accesses": [{"weak", "areas", "decision", "request"},
    /// …]}`; where the budget was spent also `"undecided": {FIELD: VALUES, …}`.
    package var json: String {
        let entries = accesses.map { access in
            "{\"weak\": \(access.isWeak), \"areas\": \(access.areas.json)"
                + ", \"decision\": \(access.decision.json), \"request\": \(access.request.json)}"
        }
        let left = undecided.map { ", \"undecided\": \($0.json)" } ?? ""
        return "{\"complete\": \(isComplete)\(left), \"told\": \(JSONText(detail.rawValue))"
            + ", \"accesses\": [" + entries.joined(separator: ", ") + "]}"
    }
}

extension [RequestArea] {
    fileprivate var json: String {
        "[" + map(\.fields.json).joined(separator: ", ") + "]"
    }
}

extension [AreaField] {
    fileprivate var json: String {
        "{" + map { "\(JSONText($0.name)): \(JSONText($0.values))" }.joined(separator: ", ") + "}"
    }
}
