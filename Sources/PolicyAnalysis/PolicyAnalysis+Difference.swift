// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
internal import PolicyRequestSpace

extension PolicyAnalysis {
    /// The changes when the other set replaces this one. Only requests that a statement of one set
    /// alone matches can be decided differently, so only those are searched: all together; or,
    /// where that costs too much, for one statement after the other; and where even that does,
    /// without distinguishing the requests.
    package func difference(to other: PolicySet) -> PolicyDifference {
        let byDate = policy.hasDates || other.hasDates
        let sets = [policy, other].map { $0.meanings(on: day, byDate: byDate) }
        let changed = Set(sets[0]).symmetricDifference(sets[1])
        // In the order of the sets, so that each run shows the same request.
        let near = Self.areas(sets.joined().filter(changed.contains))
        guard !near.isEmpty else { return PolicyDifference(changes: [], undecided: []) }
        let statements = ChangedStatements(
            [policy, other].map { $0.namedMeanings(on: day, byDate: byDate) }, [policy, other],
            changed)
        let evaluators = (ReferenceEvaluator(policy), ReferenceEvaluator(other))
        func collector(_ detail: ChangeCollector.Detail) -> ChangeCollector {
            ChangeCollector(evaluators.0, evaluators.1, statements, day: day, detail)
        }
        var budget = Budget(mostCells)
        let exactly = max(mostCells / 30, min(mostCells / 3, Self.mostCells / 3))
        var together = collector(.areas)
        if isFound(
            { part throws(Budget.Spent) in
                try self.collect(near.map(\.area), sets, &together, &part)
            }, exactly, &budget), together.count <= Self.most(of: near.count)
        {
            return PolicyDifference(changes: together.changes, undecided: [])
        }
        var changes = collector(.areas)
        var left: [Int] = []
        // The later steps need the rest of the budget.
        var each = Budget(0)
        budget.split(mostCells / 3, into: &each)
        for place in near.indices {
            var own = collector(.areas)
            let isDone =
                place < Self.mostExact
                && isFound(
                    { part throws(Budget.Spent) in
                        try self.collect(
                            [near[place].area], apartFrom: near[..<place].map(\.area), sets, &own,
                            &part)
                    }, exactly / 10, &each)
            if isDone, own.count <= Self.mostOfOne { changes.add(own) } else { left.append(place) }
        }
        budget.join(each)
        if left.isEmpty { return PolicyDifference(changes: changes.changes, undecided: []) }
        var rest = collector(.needs)
        let isRest = isFound(
            { part throws(Budget.Spent) in
                try self.collect(
                    left.map { near[$0].area }, sets, &rest, &part)
            }, mostCells / 3, &budget)
        if isRest, rest.count <= Self.most(of: left.count) {
            return PolicyDifference(
                changes: (changes.changes + rest.changes).inOrder, undecided: [])
        }
        var others: [PolicyChange] = []
        var undecided: Set<PolicyText> = []
        for place in left {
            var own = collector(.kinds)
            let isDone = isFound(
                { part throws(Budget.Spent) in
                    try self.collect(
                        [near[place].area], apartFrom: near[..<place].map(\.area), sets, &own, &part
                    )
                }, mostCells / 20, &budget)
            others += own.changes
            if !isDone {
                undecided.formUnion(near[place].meanings.flatMap { statements.ids(of: $0) })
            }
        }
        return PolicyDifference(
            changes: (changes.changes + others).inOrder, undecided: undecided.sorted())
    }

    /// The most changed statements that are searched one after the other.
    private static let mostExact = 300
    /// The most changes of one statement that are distinguished: more would not be read.
    private static let mostOfOne = 16
    /// The same limit for this many areas together.
    private static func most(of areas: Int) -> Int { 8 * areas + 2 * mostOfOne }

    private func isFound(
        _ search: (inout Budget) throws(Budget.Spent) -> Void, _ most: Int,
        _ budget: inout Budget
    ) -> Bool {
        do throws(Budget.Spent) {
            try budget.lend(most, search)
            return true
        } catch {
            return false
        }
    }

    /// The changes in the areas and outside of the others.
    private func collect(
        _ areas: [Area], apartFrom others: [Area] = [], _ sets: [[Meaning]],
        _ collector: inout ChangeCollector, _ budget: inout Budget
    ) throws(Budget.Spent) {
        let maker = try RuleEffectMaker(sets, near: areas, &budget)
        try budget.spend(others.count / 8)
        let texts = NearTexts(areas)
        let taken = others.filter { other in areas.contains(where: other.mayOverlap) }
            .map { Area(box: texts.narrow($0.box), least: $0.least) }
        let universe = try Universe(maker.boxes + taken.map(\.box), from: day, &budget)
        collector.universe = universe
        var cells = try universe.union(of: areas, &budget)
        for other in taken {
            let own = try universe.cells(of: other.box, other.least, &budget)
            cells = try universe.algebra.subtract(own, from: cells, &budget)
        }
        let search = try CellSearch(
            universe, maker, sides: [0, 1], telling: collector.detail.search, &budget)
        var open: [Cell] = []
        try search.search(
            cells, leaving: &open, &budget, without: { collector.known($0, $1) },
            near: { collector.known($0, near: $1) }
        ) { cell, sets in
            collector.take(cell, sets)
            return false
        }
    }
}

extension PolicyAnalysis {
    /// The areas of requests that the changed statements match, with each area's statements.
    /// Membership is ignored here, as each set's groups decide it differently.
    private static func areas(_ changed: [Meaning]) -> [(area: Area, meanings: [Meaning])] {
        var places: [Area: Int] = [:]
        var areas: [(area: Area, meanings: [Meaning])] = []
        for meaning in changed {
            for box in [meaning.match.box, meaning.match.box.asRelease].compactMap(\.self) {
                let area = Area(box: box.withoutMembers, least: meaning.kind.least)
                if let place = places[area] {
                    areas[place].meanings.append(meaning)
                } else {
                    places[area] = areas.count
                    areas.append((area, [meaning]))
                }
            }
        }
        return areas
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
    /// The areas' requests as disjoint cells.
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
