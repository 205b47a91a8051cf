// SPDX-License-Identifier: Apache-2.0
package import KeychainModel

extension Constraint {
    /// The same needs always read the same. Nothing in it is `always` or `never` but the whole.
    package var canonical: Constraint {
        guard case .atLeast(let required, let members) = self else { return self }
        let children = members.map(\.canonical)
        if required <= 0 { return .always }
        if required > children.count { return .never }
        if required == children.count { return Self.conjunction(children) }
        if required == 1 { return Self.disjunction(children) }
        return .atLeast(required: required, of: children.sorted(by: Self.precedes))
    }

    private static func conjunction(_ children: [Constraint]) -> Constraint {
        var members: Set<Constraint> = []
        for child in children {
            if case .atLeast(let required, let inner) = child, required == inner.count {
                members.formUnion(inner)
            } else {
                members.insert(child)
            }
        }
        members.remove(.always)
        if members.contains(.never) { return .never }
        return unwrapped(members, required: members.count) ?? .always
    }

    private static func disjunction(_ children: [Constraint]) -> Constraint {
        var members: Set<Constraint> = []
        for child in children {
            if case .atLeast(1, let inner) = child {
                members.formUnion(inner)
            } else {
                members.insert(child)
            }
        }
        members.remove(.never)
        if members.contains(.always) { return .always }
        return unwrapped(members, required: 1) ?? .never
    }

    private static func unwrapped(_ members: Set<Constraint>, required: Int) -> Constraint? {
        if members.count <= 1 { return members.first }
        return .atLeast(required: required, of: members.sorted(by: precedes))
    }

    private static func precedes(_ a: Constraint, _ b: Constraint) -> Bool {
        sortKey(a).lexicographicallyPrecedes(sortKey(b))
    }

    private static func sortKey(_ constraint: Constraint) -> [Int] {
        guard case .atLeast(let required, let members) = constraint else {
            return [Int(constraint.code)]
        }
        return [Int(constraint.code), members.count, required] + members.flatMap(sortKey)
    }
}
