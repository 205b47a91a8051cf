// SPDX-License-Identifier: Apache-2.0

extension PolicyFacts {
    private static let ownGroups = ["unit:", "exe:", "flatpak:", "snap:"]

    /// Whether the item's access group is the program's own: the group of its system unit, else of
    /// its sandbox, else of its file. nil where either is unknown, and for other groups, of which
    /// `groups` of any file may make the program a member.
    package var isOfOwnGroup: Bool? {
        guard case .known(let groups) = self[.accessGroup], let group = groups.first,
            Self.ownGroups.contains(where: { group.string.hasPrefix($0) })
        else { return nil }
        for (field, prefix) in [(TextField.unit, "unit:"), (.app, ""), (.exe, "exe:")] {
            switch self[field] {
            case .absent: continue
            case .unknown: return nil
            case .known(let names):
                guard let name = names.first else { continue }
                return PolicyText(prefix + name.string) == group
            }
        }
        return nil
    }
}
