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
        let sets = [policy.meanings(on: day), other.meanings(on: day)]
        let changed = Set(sets[0]).symmetricDifference(sets[1])
        var collector = ChangeCollector(
            before: ReferenceEvaluator(policy), after: ReferenceEvaluator(other), day: day)
        let near = Self.boxes(changed, sets, policy.memberBoxes + other.memberBoxes)
        guard !near.isEmpty else { return PolicyDifference(changes: [], isComplete: true) }
        let maker = FacetMaker(sets, near: near)
        guard let universe = Universe(maker.boxes) else {
            return PolicyDifference(changes: [], isComplete: false)
        }
        collector.universe = universe
        var isComplete = true
        do {
            var budget = Budget(mostCells)
            let cells = try universe.union(of: near, &budget)
            var search = try CellSearch(
                universe, maker.facets, sides: [0, 1], everythingCounts: true, budget)
            try search.search(cells) { cell, state in
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
    /// Where requests lie that the changed statements match; where groups changed, those of all
    /// statements that ask for membership too.
    private static func boxes(
        _ changed: Set<Meaning>, _ sets: [[Meaning]], _ groups: [PolicyBox]
    ) -> [PolicyBox] {
        let haveGroupsChanged = changed.contains { $0.kind == .member }
        var seen: Set<Meaning> = []
        let touched = sets.joined().filter { meaning in
            let isTouched =
                changed.contains(meaning) || (haveGroupsChanged && meaning.match.tellsMembers)
            return isTouched && seen.insert(meaning).inserted
        }
        return touched.flatMap { meaning -> [PolicyBox] in
            let isRaw = meaning.kind == .member
            let matches = isRaw ? [meaning.match] : meaning.match.withMembers(of: groups)
            return (matches + matches.compactMap(\.asRelease)).map(\.box)
        }
    }
}

extension Universe {
    /// The boxes' requests as cells that don't meet.
    func union(
        of boxes: [PolicyBox], _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        var union: [Cell] = []
        for box in boxes {
            let cells = cells(of: box)
            union += try algebra.subtract(union, from: cells, &budget)
        }
        return union
    }
}

/// Puts cells with the same change together.
private struct ChangeCollector {
    private struct Key: Hashable {
        let kind: PolicyChange.Kind
        let was: [Set<PolicyDemand>]
        let now: [Set<PolicyDemand>]
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
        let sets = [0, 1].map { state.isDenied($0) ? [] : state.sets[$0].demands }
        let key = Key(kind: kind, was: sets[0], now: sets[1])
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
