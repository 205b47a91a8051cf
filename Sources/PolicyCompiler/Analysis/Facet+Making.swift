// SPDX-License-Identifier: Apache-2.0
internal import AccessControl

/// The facets of one or two sets near some boxes.
struct FacetMaker {
    private(set) var facets: [Facet] = []
    /// The requests that the question is about.
    private let near: [PolicyBox]

    /// Of each set the bit of its side.
    init(_ sets: [[Meaning]], near: [PolicyBox]) {
        self.near = near
        let groups = sets.map { set in set.filter { $0.kind == .member }.map(\.match.box) }
        let areAlike = Set(groups.map(Set.init)).count <= 1
        var sides: [Meaning: UInt8] = [:]
        for (side, set) in sets.enumerated() {
            for meaning in set { sides[meaning, default: 0] |= 1 << UInt8(side) }
        }
        let all = UInt8(1 << sets.count) - 1
        add(Facet(kind: .releases, number: .itself, sides: all, matches: [PolicyMatch(.releases)]))
        let member = PolicyMatch(PolicyBox([.boolean(.member, true)]))
        add(Meaning(kind: .member, match: member), all, [])
        for meaning in sets.joined() {
            guard let own = sides.removeValue(forKey: meaning) else { continue }
            guard meaning.match.tellsMembers, meaning.kind != .member, !areAlike else {
                add(meaning, own, groups.first ?? [])
                continue
            }
            for (side, itsGroups) in groups.enumerated() where own & 1 << UInt8(side) != 0 {
                add(meaning, 1 << UInt8(side), itsGroups)
            }
        }
    }

    private mutating func add(_ meaning: Meaning, _ sides: UInt8, _ groups: [PolicyBox]) {
        let isRaw = meaning.kind == .member || !meaning.match.tellsMembers
        let itself = isRaw ? [meaning.match] : meaning.match.withMembers(of: groups)
        add(Facet(kind: meaning.kind, number: .itself, sides: sides, matches: itself))
        let exporting = groups.filter { $0.operations.contains(.export) }
        let released = isRaw ? [meaning.match] : meaning.match.withMembers(of: exporting)
        add(
            Facet(
                kind: meaning.kind, number: .release, sides: sides,
                matches: released.compactMap(\.asRelease)))
    }

    private mutating func add(_ facet: Facet) {
        let matches = facet.matches.filter { match in near.contains { $0.mayMeet(match.box) } }
        guard !matches.isEmpty else { return }
        facets.append(
            Facet(
                kind: facet.kind, number: facet.number, sides: facet.sides, matches: matches))
    }

    /// All boxes that anything is told apart by.
    var boxes: [PolicyBox] {
        near + facets.flatMap { $0.matches.flatMap { [$0.box] + $0.exceptions } }
    }
}

extension PolicyMatch {
    var tellsMembers: Bool { ([box] + exceptions).contains { $0.memberCondition != nil } }

    /// The match where `member` is also true for whom the groups take in.
    func withMembers(of groups: [PolicyBox]) -> [PolicyMatch] {
        var matches = box.withMembers(of: groups).map { PolicyMatch($0) }
        if box.memberCondition == false {
            for place in matches.indices { matches[place].exceptions += groups }
        }
        for exception in exceptions {
            let bare = matches
            for place in matches.indices {
                matches[place].exceptions += exception.withMembers(of: groups)
            }
            guard exception.memberCondition == false else { continue }
            // Whom a group takes in the exception doesn't mean.
            matches += bare.flatMap { match in
                groups.map { group in
                    PolicyMatch(match.box.and(group), unless: match.exceptions)
                }
            }
        }
        return matches
    }
}

extension PolicyBox {
    fileprivate func and(_ other: PolicyBox) -> PolicyBox {
        PolicyBox(
            operations: operations.intersection(other.operations), conditions + other.conditions)
    }

    fileprivate func withMembers(of groups: [PolicyBox]) -> [PolicyBox] {
        guard memberCondition == true else { return [self] }
        var stranger = self
        stranger.conditions.removeAll { if case .boolean(.member, _) = $0 { true } else { false } }
        stranger.conditions.append(.boolean(.member, false))
        return [self] + groups.map(stranger.and)
    }
}
