// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
package import PolicyAnalysis

extension PolicyDifference {
    /// `{"complete": …, "differences": [{"kind", "new-access", "area", "before", "after",
    /// "request"}, …]}`
    package var json: String {
        "{\"complete\": \(isComplete), \"differences\": ["
            + changes.map(\.json).joined(separator: ", ") + "]}"
    }
}

extension PolicyChange {
    fileprivate var json: String {
        "{\"kind\": \(JSONText(kind.rawValue)), \"new-access\": \(isNewAccess)"
            + ", \"area\": \(JSONText.list(area.map { PolicyText($0) }))"
            + ", \"before\": \(before.json), \"after\": \(after.json), \"request\": \(request.json)}"
    }
}

extension PolicyAccessList {
    /// `{"complete": …, "accesses": [{"weak", "area", "decision", "request"}, …]}`
    package var json: String {
        let entries = accesses.map { access in
            "{\"weak\": \(access.isWeak), \"area\": "
                + JSONText.list(access.area.map { PolicyText($0) })
                + ", \"decision\": \(access.decision.json), \"request\": \(access.request.json)}"
        }
        return "{\"complete\": \(isComplete), \"accesses\": ["
            + entries.joined(separator: ", ") + "]}"
    }
}
