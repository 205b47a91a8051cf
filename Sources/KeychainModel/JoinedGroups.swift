// SPDX-License-Identifier: Apache-2.0

/// The access groups of one keychain that its user had other programs join: each with those
/// programs, which have the group's items of the class `attributed` as if they had made them
/// (docs/design/letting-in.md, All of it).
package struct JoinedGroups: Sendable, Hashable {
    package struct Group: Sendable, Hashable {
        package let name: String
        package fileprivate(set) var programs: TrustList
    }

    /// In the order of their names, each once and with a program at least.
    package private(set) var groups: [Group] = []

    package static let mostGroups = 64
    package static let longestName = TrustedApplication.longestIdentity

    package init() {}

    /// Whether a program may join a group of that name: one that belongs to a program or a family.
    /// Not the group of what was imported, nor one that programs share which can't be told apart,
    /// nor an application's secret for the desktop's portal.
    package static func isOpen(_ group: String) -> Bool {
        guard (1...longestName).contains(group.utf8.count) else { return false }
        return !group.hasSameBytes(as: ImportedItems.group)
            && !["bus:", "portal:"].contains(where: group.hasPrefix)
    }

    /// Whether a program may join groups at all: the name of an interpreter is that of every script.
    package static func mayJoin(_ program: Caller) -> Bool {
        guard program.via == .secretService, let name = program.identifier else { return false }
        return !Interpreters.contains(name)
    }

    /// The groups that the program joined: under its name, guarded at least as well as then.
    package func joined(by program: Caller) -> [String] {
        guard Self.mayJoin(program) else { return [] }
        return groups.filter { Self.isOpen($0.name) && $0.programs.names(program.identity) }
            .map(\.name)
    }

    package mutating func add(_ program: TrustedApplication, to name: String) {
        if let place = place(of: name) {
            // Safe: the place was found in the array.
            groups[place].programs.add(program)
            return
        }
        let place = groups.firstIndex { name.utf8.lexicographicallyPrecedes($0.name.utf8) }
        groups.insert(
            Group(name: name, programs: TrustList([program])), at: place ?? groups.endIndex)
    }

    /// Returns false where the program had not joined the group.
    package mutating func remove(_ program: String, from name: String) -> Bool {
        guard let place = place(of: name) else { return false }
        // Safe: the place was found in the array.
        let before = groups[place].programs
        groups[place].programs.remove(program)
        let after = groups[place].programs
        if after.applications.isEmpty { groups.remove(at: place) }
        return after != before
    }

    private func place(of name: String) -> Int? {
        groups.firstIndex { $0.name.hasSameBytes(as: name) }
    }
}
