// SPDX-License-Identifier: Apache-2.0

/// Names of access groups.
extension [String] {
    /// The access group of that name, by its bytes: two that look alike are two.
    package func firstSame(as group: String) -> String? {
        first { $0.utf8.elementsEqual(group.utf8) }
    }

    /// Each of them once, and none that is among the client's own.
    package func distinct(besides own: [String]) -> [String] {
        var kept: [String] = []
        for group in self where (own + kept).firstSame(as: group) == nil { kept.append(group) }
        return kept
    }
}
