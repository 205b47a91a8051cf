// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel
package import PolicyRequestSpace

/// What another set decides differently, with a request that shows it.
package struct PolicyChange: Sendable {
    package enum Kind: String, Sendable, Hashable, CaseIterable {
        case newlyAllowed = "newly allowed"
        case newlyDenied = "newly denied"
        case nowNeeds = "now needs"
        case noLongerNeeds = "no longer needs"
        /// Other attributes are left out, or more or less is written down.
        case toldDifferently = "told differently"
    }

    /// A statement that only one of the sets has as it is.
    package struct Statement: Sendable, Hashable {
        package enum Fate: String, Sendable { case new, changed, gone }
        package let id: PolicyText
        package let fate: Fate
    }

    /// What an answer has or the log tells more or less; nothing of requests that were or are
    /// refused.
    package struct Telling: Sendable, Hashable {
        /// Attributes that answers newly leave out, and those that they have again.
        package let hidden: [PolicyText]
        package let shown: [PolicyText]
        /// The new level, where it is another.
        package let audit: AuditLevel?

        init(_ was: PolicyDecision, _ now: PolicyDecision) {
            let isTold = was.outcome != .deny && now.outcome != .deny
            hidden = isTold ? now.redacted.filter { !was.redacted.contains($0) } : []
            shown = isTold ? was.redacted.filter { !now.redacted.contains($0) } : []
            audit = isTold && was.audit != now.audit ? now.audit : nil
        }
    }

    package let kind: Kind
    /// One of the requests, and what is decided of it. Whether it is refused, and what has to be
    /// proved, is the same for all.
    package let request: PolicyRequest
    package let before: PolicyDecision
    package let after: PolicyDecision
    package var telling: Telling { Telling(before, after) }
    /// The statements that match all the requests and that only one set has, by their ids.
    package let statements: [Statement]
    /// Where the requests with this change lie; none is in two of the areas.
    package let areas: [RequestArea]
    /// False where that took too long: requests with this change lie somewhere in the areas, with
    /// others, and decisions and statements are those of the example.
    package let isExact: Bool

    /// A program can do what it could not, or with less.
    package var isNewAccess: Bool { kind == .newlyAllowed || kind == .noLongerNeeds }
}

/// All differences, as far as they were found.
package struct PolicyDifference: Sendable {
    package let changes: [PolicyChange]
    /// The changed statements of which the budget left open whether they change more.
    package let undecided: [PolicyText]
    package var isComplete: Bool { undecided.isEmpty }
}

extension PolicyAnalysis {
    /// What changes when the other set takes this one's place. Only requests that a statement in
    /// one set alone matches can be decided differently, so only those are looked at: all together;
    /// or, where that is too much, those of one statement after the other; and where even that is,
    /// without telling apart which requests they are.
    package func difference(to other: PolicySet) -> PolicyDifference {
        let sets = [meanings, other.meanings(on: day)]
        let changed = Set(sets[0]).symmetricDifference(sets[1])
        // In the order of the sets, so that the same request is shown each time.
        let near = Self.areas(sets.joined().filter(changed.contains))
        guard !near.isEmpty else { return PolicyDifference(changes: [], undecided: []) }
        let statements = ChangedStatements(policy, other, day: day, changed)
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
        for place in near.indices {
            var own = collector(.areas)
            let isDone =
                place < Self.mostExact
                && isFound(
                    { part throws(Budget.Spent) in
                        try self.collect(
                            [near[place].area], apartFrom: near[..<place].map(\.area), sets, &own,
                            &part)
                    }, exactly / 10, &budget)
            if isDone, own.count <= Self.mostOfOne { changes.add(own) } else { left.append(place) }
        }
        if left.isEmpty { return PolicyDifference(changes: changes.changes, undecided: []) }
        var rest = collector(.needs)
        let isRest = isFound(
            { part throws(Budget.Spent) in
                try self.collect(
                    left.map { near[$0].area }, sets, &rest, &part)
            }, mostCells / 3, &budget)
        if isRest, rest.count <= Self.most(of: left.count) {
            return PolicyDifference(changes: changes.changes + rest.changes, undecided: [])
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
            if !isDone { undecided.formUnion(statements.ids(of: near[place].meaning)) }
        }
        return PolicyDifference(
            changes: changes.changes + others, undecided: undecided.sorted())
    }

    /// So many changed statements are looked at one after the other.
    private static let mostExact = 300
    /// More changes that one statement makes are not told apart, for no one would read them.
    private static let mostOfOne = 16
    /// The same of so many areas together.
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

    /// The changes in the areas and in none of the others.
    private func collect(
        _ areas: [Area], apartFrom others: [Area] = [], _ sets: [[Meaning]],
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
    /// Where requests lie that the changed statements match. Who is a member is not asked here:
    /// groups tell it otherwise in each set.
    private static func areas(_ changed: [Meaning]) -> [(area: Area, meaning: Meaning)] {
        let areas = changed.flatMap { meaning in
            [meaning.match.box, meaning.match.box.asRelease].compactMap(\.self).map { box in
                (area: Area(box: box.withoutMembers, least: meaning.kind.least), meaning: meaning)
            }
        }
        var seen: Set<Area> = []
        return areas.filter { seen.insert($0.area).inserted }
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

/// The statements that only one of two sets has as they are.
private struct ChangedStatements {
    private struct Own {
        let meaning: Meaning
        let side: Int
        let id: PolicyText
        let fate: PolicyChange.Statement.Fate
    }

    private var all: [Own] = []
    /// Of each set one that knows whom its groups take in.
    private let evaluators: [ReferenceEvaluator]

    init(_ old: PolicySet, _ new: PolicySet, day: Int32, _ changed: Set<Meaning>) {
        let sets = [old.namedMeanings(on: day), new.namedMeanings(on: day)]
        let ids = sets.map { Set($0.map(\.id)) }
        for (side, own) in sets.enumerated() {
            for (meaning, id) in own where changed.contains(meaning) {
                let fate: PolicyChange.Statement.Fate =
                    ids[1 - side].contains(id) ? .changed : side == 0 ? .gone : .new
                all.append(Own(meaning: meaning, side: side, id: id, fate: fate))
            }
        }
        evaluators = [old, new].map { ReferenceEvaluator(PolicySet(groups: $0.groups)) }
    }

    func ids(of meaning: Meaning) -> [PolicyText] {
        all.filter { $0.meaning == meaning }.map(\.id)
    }

    /// Those that match the request.
    func meeting(_ request: PolicyRequest) -> [PolicyChange.Statement] {
        var seen: Set<PolicyText> = []
        return all.filter { $0.meaning.meets(request, evaluators[$0.side]) }
            .sorted { $0.id < $1.id }
            .filter { seen.insert($0.id).inserted }
            .map { PolicyChange.Statement(id: $0.id, fate: $0.fate) }
    }
}

extension Meaning {
    /// Whether it counts for the request, or for the export that it is.
    fileprivate func meets(_ request: PolicyRequest, _ evaluator: ReferenceEvaluator) -> Bool {
        let cases = match.tellsMembers ? evaluator.cases(of: request) : request.cases
        return cases.contains { match.truth(for: $0.operation, $0.facts) >= kind.least }
    }
}

/// Puts cells with the same change together.
private struct ChangeCollector {
    /// How far changes are told apart.
    enum Detail {
        /// By decisions, and by the statements that make them.
        case areas
        /// By what is needed more or less.
        case needs
        case kinds

        var search: CellSearch.Detail { self == .areas ? .rules : .needs }
    }

    private struct Key: Hashable {
        let kind: PolicyChange.Kind
        let lost: [Set<PolicyDemand>]
        let gained: [Set<PolicyDemand>]
    }

    /// What the requests of one area have in common.
    private struct Common: Hashable {
        let kind: PolicyChange.Kind
        let before: Ending
        let after: Ending
        let changed: [Set<Int>]

        init(_ kind: PolicyChange.Kind, _ sets: [SetState]) {
            self.kind = kind
            before = Ending(sets[0])
            after = Ending(sets[1])
            changed = sets.map(\.changed)
        }
    }

    /// How one set decides.
    private struct Ending: Hashable {
        let isDenied: Bool
        let demands: [Set<PolicyDemand>]
        let redacted: Set<PolicyText>
        let isAuditedInFull: Bool

        init(_ state: SetState) {
            isDenied = state.isDenied
            demands = state.isDenied ? [] : state.demands
            redacted = state.isDenied ? [] : state.redacted
            isAuditedInFull = !state.isDenied && state.isAuditedInFull
        }
    }

    /// What the requests of one entry have in common.
    private struct Entry: Hashable {
        let kind: PolicyChange.Kind
        let isDenied: [Bool]
        let requires: [PolicyConstraint?]
        let telling: PolicyChange.Telling
        let statements: [PolicyChange.Statement]
    }

    private let before: ReferenceEvaluator
    private let after: ReferenceEvaluator
    private let statements: ChangedStatements
    private let day: Int32
    let detail: Detail
    var universe: Universe?
    private var hulls: [Key: (first: Cell, hull: Cell)] = [:]
    private var order: [Key] = []
    private var cells: [Common: [Cell]] = [:]
    /// Of other searches, each in its own universe.
    private var added: [(entry: Entry, areas: [RequestArea])] = []

    init(
        _ before: ReferenceEvaluator, _ after: ReferenceEvaluator,
        _ statements: ChangedStatements, day: Int32, _ detail: Detail
    ) {
        self.before = before
        self.after = after
        self.statements = statements
        self.day = day
        self.detail = detail
    }

    mutating func take(_ cell: Cell, _ sets: [SetState]) {
        guard let key = key(sets[0], sets[1]) else { return }
        if detail == .areas {
            cells[Common(key.kind, sets), default: []].append(cell)
        } else if let known = hulls[key] {
            hulls[key] = (known.first, known.hull.hull(cell))
        } else {
            hulls[key] = (cell, cell)
            order.append(key)
        }
    }

    private func entry(_ kind: PolicyChange.Kind, _ request: PolicyRequest) -> Entry {
        let decisions = [before.decide(request), after.decide(request)]
        return Entry(
            kind: kind, isDenied: decisions.map { $0.outcome == .deny },
            requires: decisions.map(\.requires),
            telling: PolicyChange.Telling(decisions[0], decisions[1]),
            statements: statements.meeting(request))
    }

    /// How many changes are told apart.
    var count: Int { cells.count + order.count }

    mutating func add(_ other: ChangeCollector) { added += other.found }

    private var found: [(entry: Entry, areas: [RequestArea])] {
        guard let universe else { return added }
        var entries: [Entry: [Cell]] = [:]
        for (common, cells) in cells {
            guard let first = cells.first else { continue }
            let request = universe.witness(of: first, day: day)
            entries[entry(common.kind, request), default: []] += cells
        }
        let merging = CellMerging(universe)
        return added
            + entries.map { entry, cells in
                (entry, merging.merged(cells).map { RequestArea(universe, $0, day: day) })
            }
    }

    /// The part of the cell in which no change can be, or every change that there may be is told
    /// already; nil where one is not. All that tells the sets apart is the same throughout the
    /// cell.
    func known(_ cell: Cell, _ sets: [SetState]) -> Cell? {
        let keys = keys(sets[0], sets[1])
        guard detail != .areas else { return keys.isEmpty ? cell : nil }
        let hulls = keys.compactMap { self.hulls[$0]?.hull }
        guard hulls.count == keys.count else { return nil }
        return hulls.reduce(cell) { $0.intersection($1) }
    }

    /// The same of a cell that these effects of one set alone meet; nil where changes are told apart
    /// by more than their kind.
    func known(_ cell: Cell, near effects: [RuleEffect]) -> Cell? {
        guard detail == .kinds else { return nil }
        let kinds = Set(effects.map { PolicyChange.Kind(of: $0) })
        let hulls = kinds.compactMap { self.hulls[Key(kind: $0, lost: [], gained: [])]?.hull }
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
        guard detail != .kinds else { return Key(kind: kind, lost: [], gained: []) }
        let nothing: [Set<PolicyDemand>] = [[], []]
        let before = was.isDenied ? nothing : was.demands
        let after = now.isDenied ? nothing : now.demands
        // What both need alike is no difference.
        return Key(
            kind: kind, lost: zip(before, after).map { $0.subtracting($1) },
            gained: zip(after, before).map { $0.subtracting($1) })
    }

    /// New access first, then by where it is.
    var changes: [PolicyChange] {
        let found = detail == .areas ? exact : hull
        return found.map { change in
            (
                [
                    change.isNewAccess ? "0" : "1", change.kind.rawValue,
                    change.statements.map(\.id.string).joined(separator: " "),
                    change.areas.first?.words ?? "",
                ], change
            )
        }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }

    private var exact: [PolicyChange] {
        var areas: [Entry: [RequestArea]] = [:]
        for (entry, own) in found { areas[entry, default: []] += own }
        return areas.compactMap { entry, areas in
            let sorted = areas.sorted { $0.words < $1.words }
            guard let request = sorted.first?.example else { return nil }
            return PolicyChange(
                kind: entry.kind, request: request, before: before.decide(request),
                after: after.decide(request), statements: entry.statements, areas: sorted,
                isExact: true)
        }
    }

    private var hull: [PolicyChange] {
        order.compactMap { key in
            guard let universe, let (first, hull) = hulls[key] else { return nil }
            let request = universe.witness(of: first, day: day)
            return PolicyChange(
                kind: key.kind, request: request, before: before.decide(request),
                after: after.decide(request), statements: statements.meeting(request),
                areas: [RequestArea(universe, hull, day: day)], isExact: false)
        }
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
