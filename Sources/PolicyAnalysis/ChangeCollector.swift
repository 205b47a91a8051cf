// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyRequestSpace

/// Collects cells with the same change.
struct ChangeCollector {
    /// The detail to which changes are distinguished.
    enum Detail {
        /// By decisions, and by the statements that make them.
        case areas
        /// By the requirements that are new or gone.
        case needs
        case kinds

        var search: CellSearch.Detail { self == .areas ? .rules : .needs }
    }

    private struct Key: Hashable {
        let kind: PolicyChange.Kind
        let lost: [Set<PolicyDemand>]
        let gained: [Set<PolicyDemand>]
    }

    /// The common facts of the requests in one area.
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

        var agings: [PolicyChange.Aging] {
            PolicyChange.Aging.between(before.demands, after.demands)
        }
    }

    /// The decision of one set.
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

    /// The common facts of the requests in one entry.
    private struct Entry: Hashable {
        let kind: PolicyChange.Kind
        let isDenied: [Bool]
        let requires: [PolicyConstraint?]
        let telling: PolicyChange.Telling
        let agings: [PolicyChange.Aging]
        let statements: [PolicyChange.Statement]
    }

    private struct Hull {
        let first: Cell
        let agings: [PolicyChange.Aging]
        var hull: Cell
    }

    private let before: ReferenceEvaluator
    private let after: ReferenceEvaluator
    private let statements: ChangedStatements
    private let day: Int32
    let detail: Detail
    var universe: Universe?
    private var hulls: [Key: Hull] = [:]
    private var order: [Key] = []
    private var cells: [Common: [Cell]] = [:]
    /// The results of other searches, each in its own universe.
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
        } else if let known = hulls[key]?.hull {
            hulls[key]?.hull = known.hull(cell)
        } else {
            let agings = Common(key.kind, sets).agings
            hulls[key] = Hull(first: cell, agings: agings, hull: cell)
            order.append(key)
        }
    }

    private func entry(_ common: Common, _ request: PolicyRequest) -> Entry {
        let decisions = [before.decide(request), after.decide(request)]
        return Entry(
            kind: common.kind, isDenied: decisions.map { $0.outcome == .deny },
            requires: decisions.map(\.requires),
            telling: PolicyChange.Telling(decisions[0], decisions[1]), agings: common.agings,
            statements: statements.meeting(request))
    }

    /// The number of distinguished changes.
    var count: Int { cells.count + order.count }

    mutating func add(_ other: ChangeCollector) { added += other.found }

    private var found: [(entry: Entry, areas: [RequestArea])] {
        guard let universe else { return added }
        var entries: [Entry: [Cell]] = [:]
        for (common, cells) in cells {
            guard let first = cells.first else { continue }
            let request = universe.witness(of: first, day: day)
            entries[entry(common, request), default: []] += cells
        }
        let merging = CellMerging(universe)
        return added
            + entries.map { entry, cells in
                var budget = Budget(PolicyAnalysis.mostCells)
                let merged = merging.merged(cells, &budget)
                return (entry, merged.map { RequestArea(universe, $0, day: day) })
            }
    }

    /// The part of the cell in which there is no change, or every possible change was found
    /// already; nil where a change may be new. All effects that differ between the sets are
    /// constant in the cell.
    func known(_ cell: Cell, _ sets: [SetState]) -> Cell? {
        let keys = keys(sets[0], sets[1])
        guard detail != .areas else { return keys.isEmpty ? cell : nil }
        let hulls = keys.compactMap { self.hulls[$0]?.hull }
        guard hulls.count == keys.count else { return nil }
        return hulls.reduce(cell) { $0.intersection($1) }
    }

    /// The same for a cell that these effects of one set alone meet; nil where changes are
    /// distinguished by more than their kind.
    func known(_ cell: Cell, near effects: [RuleEffect]) -> Cell? {
        guard detail == .kinds else { return nil }
        let kinds = Set(effects.flatMap { PolicyChange.Kind.all(of: $0) })
        let hulls = kinds.compactMap { self.hulls[Key(kind: $0, lost: [], gained: [])]?.hull }
        guard hulls.count == kinds.count else { return nil }
        return hulls.reduce(cell) { $0.intersection($1) }
    }

    /// The possible changes.
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

    /// nil where only names of rules differ.
    private func key(_ was: SetState, _ now: SetState) -> Key? {
        guard let kind = PolicyChange.Kind(was, now) else { return nil }
        guard detail != .kinds else { return Key(kind: kind, lost: [], gained: []) }
        let nothing: [Set<PolicyDemand>] = [[], []]
        let before = was.isDenied ? nothing : was.demands
        let after = now.isDenied ? nothing : now.demands
        // Requirements of both sets are no difference.
        return Key(
            kind: kind, lost: zip(before, after).map { $0.subtracting($1) },
            gained: zip(after, before).map { $0.subtracting($1) })
    }

    var changes: [PolicyChange] { (detail == .areas ? exact : hull).inOrder }

    private var exact: [PolicyChange] {
        var areas: [Entry: [RequestArea]] = [:]
        for (entry, own) in found { areas[entry, default: []] += own }
        return areas.compactMap { entry, areas in
            let sorted = areas.sorted { $0.words < $1.words }
            guard let request = sorted.first?.example else { return nil }
            return PolicyChange(
                kind: entry.kind, request: request, before: before.decide(request),
                after: after.decide(request), agings: entry.agings, statements: entry.statements,
                areas: sorted, isExact: true)
        }
    }

    private var hull: [PolicyChange] {
        order.compactMap { key in
            guard let universe, let own = hulls[key] else { return nil }
            let request = universe.witness(of: own.first, day: day)
            return PolicyChange(
                kind: key.kind, request: request, before: before.decide(request),
                after: after.decide(request), agings: own.agings,
                statements: statements.meeting(request),
                areas: [RequestArea(universe, own.hull, day: day)], isExact: false)
        }
    }
}

extension [PolicyChange] {
    /// New access first, then sorted by area.
    var inOrder: [PolicyChange] {
        map { change in
            (
                [
                    change.isNewAccess ? "0" : change.needsLess ? "1" : "2", change.kind.rawValue,
                    change.statements.map(\.id.string).joined(separator: " "),
                    change.areas.first?.words ?? "",
                ], change
            )
        }.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }
}

extension PolicyChange.Kind {
    /// The kinds of change that one set's effect can make.
    fileprivate static func all(of effect: RuleEffect) -> [Self] {
        let isNew = effect.sides == 2
        switch effect.kind {
        case .forbid, .closed: return [isNew ? .newlyDenied : .newlyAllowed]
        case .member, .joins, .share, .permit: return [isNew ? .newlyAllowed : .newlyDenied]
        // A removed requirement may be implied by the remaining ones.
        case .require: return isNew ? [.nowNeeds] : [.nowNeeds, .noLongerNeeds]
        case .redact, .audit, .releases: return [.toldDifferently]
        }
    }

    fileprivate init?(_ was: SetState, _ now: SetState) {
        switch (was.isDenied, now.isDenied) {
        case (true, true): return nil
        case (true, false): self = .newlyAllowed
        case (false, true): self = .newlyDenied
        case (false, false) where was.demands != now.demands:
            // Any weaker requirement may be one that some program can meet.
            let isAllKept = zip(was.demands, now.demands).allSatisfy { was, now in
                was.allSatisfy { old in now.contains(old) || now.contains { $0.implies(old) } }
            }
            self = isAllKept ? .nowNeeds : .noLongerNeeds
        case (false, false):
            let isTold =
                was.redacted != now.redacted || was.isAuditedInFull != now.isAuditedInFull
            guard isTold else { return nil }
            self = .toldDifferently
        }
    }
}
