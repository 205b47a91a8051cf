// SPDX-License-Identifier: Apache-2.0
public import AccessControl

/// What another set decides differently, with a request that shows it.
public struct PolicyChange: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case newlyAllowed = "newly allowed"
        case newlyDenied = "newly denied"
        case nowNeeds = "now needs"
        case noLongerNeeds = "no longer needs"
        /// Other attributes are left out, or more or less is written down.
        case toldDifferently = "told differently"
    }

    public let kind: Kind
    public let request: PolicyRequest
    public let before: PolicyDecision
    public let after: PolicyDecision
    /// Field by field what all requests with this change have in common.
    public let area: [String]

    /// Somebody can do what he could not, or with less.
    public var isNewAccess: Bool { kind == .newlyAllowed || kind == .noLongerNeeds }
}

/// All differences, as far as they were found.
public struct PolicyDifference: Sendable, Hashable {
    public let changes: [PolicyChange]
    /// False where the budget ran out: there may be more.
    public let isComplete: Bool
}

extension PolicyAnalysis {
    /// What changes when the other set takes this one's place. Only requests that a statement in
    /// one set alone matches can be decided differently, so only those are looked at.
    public func difference(to other: PolicySet) -> PolicyDifference {
        let sets = [meanings, other.meanings(on: day)]
        let changed = Set(sets[0]).symmetricDifference(sets[1])
        var collector = ChangeCollector(
            before: ReferenceEvaluator(policy), after: ReferenceEvaluator(other), day: day)
        // In the order of the sets, so that the same request is shown each time.
        let near = Self.areas(sets.joined().filter(changed.contains))
        guard !near.isEmpty else { return PolicyDifference(changes: [], isComplete: true) }
        var isComplete = true
        do throws(Budget.Spent) {
            var budget = Budget(mostCells)
            let maker = try FacetMaker(sets, near: near, &budget)
            let universe = try Universe(maker.boxes, &budget)
            collector.universe = universe
            let cells = try universe.union(of: near, &budget)
            let search = try CellSearch(
                universe, maker, sides: [0, 1], everythingCounts: true, &budget)
            try search.search(cells, &budget) { cell, state in
                collector.take(cell, state)
                return false
            }
        } catch {
            isComplete = false
        }
        return PolicyDifference(changes: collector.changes, isComplete: isComplete)
    }
}

extension PolicyAnalysis {
    /// Where requests lie that the changed statements match. Who is a member is not asked here:
    /// groups tell it otherwise in each set.
    private static func areas(_ changed: [Meaning]) -> [Area] {
        let areas = changed.flatMap { meaning in
            [meaning.match.box, meaning.match.box.asRelease].compactMap(\.self).map { box in
                Area(box: box.withoutMembers, least: meaning.kind.least)
            }
        }
        var seen: Set<Area> = []
        return areas.filter { seen.insert($0).inserted }
    }
}

extension PolicyBox {
    fileprivate var withoutMembers: PolicyBox {
        PolicyBox(
            operations: operations,
            conditions.filter { if case .boolean(.member, _) = $0 { false } else { true } })
    }
}

extension Universe {
    /// The areas' requests as cells that don't meet.
    fileprivate func union(
        of areas: [Area], _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        var union: [Cell] = []
        for area in areas {
            let cells = try cells(of: area.box, area.least, &budget)
            union += try algebra.subtract(union, from: cells, &budget)
        }
        return union
    }
}

/// Puts cells with the same change together.
private struct ChangeCollector {
    private struct Key: Hashable {
        let kind: PolicyChange.Kind
        let lost: [Set<PolicyDemand>]
        let gained: [Set<PolicyDemand>]
    }

    let before: ReferenceEvaluator
    let after: ReferenceEvaluator
    let day: Int32
    var universe: Universe?
    private var cells: [Key: (first: Cell, hull: Cell)] = [:]
    private var order: [Key] = []

    init(before: ReferenceEvaluator, after: ReferenceEvaluator, day: Int32) {
        self.before = before
        self.after = after
        self.day = day
    }

    mutating func take(_ cell: Cell, _ state: CellSearch.State) {
        guard universe != nil, let kind = PolicyChange.Kind(state) else { return }
        let (was, now) = (state.demands(0), state.demands(1))
        // What both need alike is no difference.
        let both = zip(was, now).map { $0.intersection($1) }
        let key = Key(
            kind: kind, lost: zip(was, both).map { $0.subtracting($1) },
            gained: zip(now, both).map { $0.subtracting($1) })
        if let known = cells[key] {
            let hull = Cell(words: zip(known.hull.words, cell.words).map { $0 | $1 })
            cells[key] = (known.first, hull)
        } else {
            cells[key] = (cell, cell)
            order.append(key)
        }
    }

    var changes: [PolicyChange] {
        order.compactMap { key in
            guard let universe, let (first, hull) = cells[key] else { return nil }
            let request = universe.witness(of: first, day: day)
            return PolicyChange(
                kind: key.kind, request: request, before: before.decide(request),
                after: after.decide(request), area: universe.words(for: hull))
        }.sorted { ($0.kind.rawValue, $0.area.joined()) < ($1.kind.rawValue, $1.area.joined()) }
    }
}

extension CellSearch.State {
    /// What the set of that side asks for; nothing where it refuses.
    fileprivate func demands(_ side: Int) -> [Set<PolicyDemand>] {
        isDenied(side) ? [[], []] : sets[side].demands
    }
}

extension PolicyChange.Kind {
    /// nil where nothing differs but the names of rules.
    fileprivate init?(_ state: CellSearch.State) {
        let (was, now) = (state.sets[0], state.sets[1])
        switch (state.isDenied(0), state.isDenied(1)) {
        case (true, true): return nil
        case (true, false): self = .newlyAllowed
        case (false, true): self = .newlyDenied
        case (false, false) where was.demands != now.demands:
            // Whatever is asked less may be enough for somebody.
            let gained = zip(was.demands, now.demands).allSatisfy { $0.isSubset(of: $1) }
            self = gained ? .nowNeeds : .noLongerNeeds
        case (false, false):
            let isTold =
                was.redacted != now.redacted || was.isAuditedInFull != now.isAuditedInFull
            guard isTold else { return nil }
            self = .toldDifferently
        }
    }
}
