// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyCompiler
internal import KeychainPolicyEngine
package import KeychainPolicyModel

/// What another set decides differently, with a request that shows it.
package struct PolicyChange: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case newlyAllowed = "newly allowed"
        case newlyDenied = "newly denied"
        case nowNeeds = "now needs"
        case noLongerNeeds = "no longer needs"
        /// Other attributes are left out, or more or less is written down.
        case toldDifferently = "told differently"
    }

    package let kind: Kind
    package let request: PolicyRequest
    package let before: PolicyDecision
    package let after: PolicyDecision
    /// Field by field what all requests with this change have in common.
    package let area: [String]

    /// A program can do what it could not, or with less.
    package var isNewAccess: Bool { kind == .newlyAllowed || kind == .noLongerNeeds }
}

/// All differences, as far as they were found.
package struct PolicyDifference: Sendable, Hashable {
    package let changes: [PolicyChange]
    /// False where the budget ran out: there may be more.
    package let isComplete: Bool
}

extension PolicyAnalysis {
    /// What changes when the other set takes this one's place. Only requests that a statement in
    /// one set alone matches can be decided differently, so only those are looked at: all together,
    /// which takes fewer words, or, where that is too much, those of one statement after the other,
    /// without telling apart what is needed.
    package func difference(to other: PolicySet) -> PolicyDifference {
        let sets = [meanings, other.meanings(on: day)]
        let changed = Set(sets[0]).symmetricDifference(sets[1])
        // In the order of the sets, so that the same request is shown each time.
        let near = Self.areas(sets.joined().filter(changed.contains))
        guard !near.isEmpty else { return PolicyDifference(changes: [], isComplete: true) }
        let evaluators = (ReferenceEvaluator(policy), ReferenceEvaluator(other))
        var budget = Budget(mostCells)
        var together = ChangeCollector(evaluators.0, evaluators.1, day: day, tellsNeeds: true)
        do throws(Budget.Spent) {
            try budget.lend(mostCells / 3) { part throws(Budget.Spent) in
                try collect(near, sets, &together, &part)
            }
            return PolicyDifference(changes: together.changes, isComplete: true)
        } catch {}
        var changes: [PolicyChange] = []
        var isComplete = true
        for place in near.indices {
            var own = ChangeCollector(evaluators.0, evaluators.1, day: day, tellsNeeds: false)
            do throws(Budget.Spent) {
                try budget.lend(mostCells / 20) { part throws(Budget.Spent) in
                    try collect([near[place]], apartFrom: near[..<place], sets, &own, &part)
                }
            } catch {
                isComplete = false
            }
            changes += own.changes
        }
        return PolicyDifference(changes: changes, isComplete: isComplete)
    }

    /// The changes in the areas and in none of the others.
    private func collect(
        _ areas: [Area], apartFrom others: ArraySlice<Area> = [], _ sets: [[Meaning]],
        _ collector: inout ChangeCollector, _ budget: inout Budget
    ) throws(Budget.Spent) {
        let maker = try RuleEffectMaker(sets, near: areas, &budget)
        try budget.spend(others.count / 8)
        let texts = NearTexts(areas)
        let taken = others.filter { other in areas.contains(where: other.mayOverlap) }
            .map { Area(box: texts.narrow($0.box), least: $0.least) }
        let universe = try Universe(maker.boxes + taken.map(\.box), &budget)
        collector.universe = universe
        var cells = try universe.union(of: areas, &budget)
        for other in taken {
            let own = try universe.cells(of: other.box, other.least, &budget)
            cells = try universe.algebra.subtract(own, from: cells, &budget)
        }
        let search = try CellSearch(
            universe, maker, sides: [0, 1], everythingCounts: true, &budget)
        try search.search(
            cells, &budget, without: { collector.known($0, $1) },
            near: { collector.known($0, near: $1) }
        ) { cell, sets in
            collector.take(cell, sets)
            return false
        }
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

    private let before: ReferenceEvaluator
    private let after: ReferenceEvaluator
    private let day: Int32
    private let tellsNeeds: Bool
    var universe: Universe?
    private var cells: [Key: (first: Cell, hull: Cell)] = [:]
    private var order: [Key] = []

    /// `tellsNeeds`: changes are told apart by what they ask for more or less.
    init(
        _ before: ReferenceEvaluator, _ after: ReferenceEvaluator, day: Int32, tellsNeeds: Bool
    ) {
        self.before = before
        self.after = after
        self.day = day
        self.tellsNeeds = tellsNeeds
    }

    mutating func take(_ cell: Cell, _ sets: [SetState]) {
        guard let key = key(sets[0], sets[1]) else { return }
        if let known = cells[key] {
            let hull = Cell(words: zip(known.hull.words, cell.words).map { $0 | $1 })
            cells[key] = (known.first, hull)
        } else {
            cells[key] = (cell, cell)
            order.append(key)
        }
    }

    /// The part of the cell in which every change that there may be is told already; nil where one
    /// is not. All that tells the sets apart is the same throughout the cell.
    func known(_ cell: Cell, _ sets: [SetState]) -> Cell? {
        let keys = keys(sets[0], sets[1])
        let hulls = keys.compactMap { cells[$0]?.hull }
        guard hulls.count == keys.count else { return nil }
        return hulls.reduce(cell) { $0.intersection($1) }
    }

    /// The same of a cell that these effects of one set alone meet; nil where changes are told apart
    /// by more than their kind.
    func known(_ cell: Cell, near effects: [RuleEffect]) -> Cell? {
        guard !tellsNeeds else { return nil }
        let kinds = Set(effects.map { PolicyChange.Kind(of: $0) })
        let hulls = kinds.compactMap { cells[Key(kind: $0, lost: [], gained: [])]?.hull }
        guard hulls.count == kinds.count else { return nil }
        return hulls.reduce(cell) { $0.intersection($1) }
    }

    /// The changes that there may be.
    private func keys(_ was: SetState, _ now: SetState) -> [Key] {
        [(false, false), (true, false), (false, true)].compactMap { wasDenied, isDenied in
            if !wasDenied, was.isForbidden { return nil }
            if !isDenied, now.isForbidden { return nil }
            if wasDenied, !isDenied, !was.isForbidden, was.isOpen(wherever: now) { return nil }
            if !wasDenied, isDenied, !now.isForbidden, now.isOpen(wherever: was) { return nil }
            var (was, now) = (was, now)
            was.isDenied = wasDenied
            now.isDenied = isDenied
            return key(was, now)
        }
    }

    /// nil where nothing differs but the names of rules.
    private func key(_ was: SetState, _ now: SetState) -> Key? {
        guard let kind = PolicyChange.Kind(was, now) else { return nil }
        guard tellsNeeds else { return Key(kind: kind, lost: [], gained: []) }
        let nothing: [Set<PolicyDemand>] = [[], []]
        let before = was.isDenied ? nothing : was.demands
        let after = now.isDenied ? nothing : now.demands
        // What both need alike is no difference.
        return Key(
            kind: kind, lost: zip(before, after).map { $0.subtracting($1) },
            gained: zip(after, before).map { $0.subtracting($1) })
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
    /// What one set's effect can make of requests.
    fileprivate init(of effect: RuleEffect) {
        let isNew = effect.sides == 2
        switch effect.kind {
        case .forbid, .closed: self = isNew ? .newlyDenied : .newlyAllowed
        case .member, .share, .permit: self = isNew ? .newlyAllowed : .newlyDenied
        case .require: self = isNew ? .nowNeeds : .noLongerNeeds
        case .redact, .audit, .releases: self = .toldDifferently
        }
    }

    fileprivate init?(_ was: SetState, _ now: SetState) {
        switch (was.isDenied, now.isDenied) {
        case (true, true): return nil
        case (true, false): self = .newlyAllowed
        case (false, true): self = .newlyDenied
        case (false, false) where was.demands != now.demands:
            // Whatever is asked less may be enough for some program.
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
