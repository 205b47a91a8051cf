// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicyRequestSpace

/// Divides cells of requests into parts that one or two sets decide alike: takes a request, grows a
/// cell around it in which the same statements decide, takes that cell away, and goes on with the
/// rest.
struct CellSearch {
    private let algebra: CellAlgebra
    private let universe: Universe
    private let sides: [UInt8]
    /// The readings that release a key.
    private let releases: [Cell]
    private let deciding: [RuleEffectKind.Step: [EffectCells]]
    /// Requirements, redactions and audit of requests that are not refused, as far as the detail
    /// needs them.
    private let telling: [EffectCells]
    /// The effects of two sets that can make a difference: they decide which ones a cell may have.
    private let distinguishing: [EffectCells]
    private let detail: Detail

    /// The detail to which requests are distinguished.
    enum Detail {
        /// By refusals alone.
        case outcome
        /// Also by requirements, redactions and audit; of two sets, those that make no difference
        /// are left out.
        case needs
        /// Also by the rules that let them through, and for two sets by all that only one has.
        case rules
    }

    init(
        _ universe: Universe, _ maker: RuleEffectMaker, sides: [UInt8], telling detail: Detail,
        _ budget: inout Budget
    ) throws(Budget.Spent) {
        self.detail = detail
        self.universe = universe
        self.sides = sides
        let algebra = universe.algebra
        self.algebra = algebra
        let members = try maker.groups.map { boxes throws(Budget.Spent) in
            try Members(boxes, universe, &budget)
        }
        let releases = try universe.cells(of: .releases, .unknown, &budget)
        self.releases = releases
        var cut: [EffectCells] = []
        let effects = maker.effects + (detail == .rules ? maker.joins : [])
        for effect in effects where detail != .outcome || effect.kind.step != .tell {
            let joined = members[effect.groups].cells(effect.number)
            var cells = try universe.cells(
                of: effect.match, effect.kind.least, joined: joined, &budget)
            if effect.number == .release {
                try budget.spend(releases.count * cells.count * algebra.cost)
                cells = releases.flatMap { key in cells.map(key.intersection) }
                    .filter { !algebra.isEmpty($0) }
            }
            guard !cells.isEmpty else { continue }
            cut.append(EffectCells(effect: effect, number: cut.count, cells: cells))
        }
        deciding = Dictionary(grouping: cut, by: \.effect.kind.step)
        let differences = sides.count > 1 ? DistinguishingEffects(effects) : nil
        telling = cut.filter { own in
            guard own.effect.kind.step == .tell else { return false }
            if detail == .rules, case .require = own.effect.kind { return true }
            return differences?.contains(own.effect) ?? true
        }
        distinguishing = differences.map { own in cut.filter { own.contains($0.effect) } } ?? []
    }

    /// Calls the body with cells of possible requests that at least one set does not refuse, until
    /// the body returns that it has enough. For two sets, `known` returns the part of a cell that
    /// needs no further search, or nil: for a cell in which only common effects are left, and for a
    /// cell that the given effects of one set meet. `open` keeps the rest where the budget is
    /// spent.
    func search(
        _ cells: [Cell], leaving open: inout [Cell], _ budget: inout Budget,
        without known: (Cell, [SetState]) -> Cell? = { _, _ in nil },
        near: (Cell, [RuleEffect]) -> Cell? = { _, _ in nil },
        _ body: (Cell, [SetState]) -> Bool
    ) throws(Budget.Spent) {
        open = cells
        var possible: [Cell] = []
        for cell in cells { possible += try universe.possible(cell, &budget) }
        open = possible
        open.reverse()
        let effects = deciding.values.reduce(0) { $0 + $1.count }
        while let cell = open.last {
            // A cell that the budget does not reach stays in `open`.
            try budget.spend(algebra.cost * (1 + effects / 16))
            open.removeLast()
            let met = distinguishing.filter { own in
                own.effect.isOneSided && own.cells.contains { algebra.meets($0, cell) }
            }
            if let taken = near(cell, met.map(\.effect)), algebra.meets(taken, cell) {
                open += algebra.subtract(taken, from: cell).reversed()
                continue
            }
            let point = algebra.point(of: cell)
            let like = likeness(of: point, in: cell, distinguishing)
            var taken = sides.count > 1 ? known(like.cell, like.sets) : nil
            if let cell = taken, !algebra.contains(cell, point) { taken = nil }
            if taken == nil {
                let answers = sides.map { answer(to: point, in: cell, $0) }
                var decided = answers.map(\.cell).reduce(cell) { $0.intersection($1) }
                if answers.allSatisfy(\.isDenied) {
                    taken = decided
                } else {
                    if detail == .rules { decided = decided.intersection(like.cell) }
                    var told = likeness(of: point, in: decided, telling)
                    for (side, answer) in answers.enumerated() {
                        told.sets[side].isDenied = answer.isDenied
                        told.sets[side].changed = like.sets[side].changed
                    }
                    if body(told.cell, told.sets) { return }
                    taken = told.cell
                }
            }
            if let taken { open += algebra.subtract(taken, from: cell).reversed() }
        }
    }

    /// The effects' result for the point, and the cell around it with the same result.
    private func likeness(
        of point: Cell, in cell: Cell, _ effects: [EffectCells]
    ) -> (cell: Cell, sets: [SetState]) {
        var like = cell
        var sets = [SetState](repeating: SetState(), count: sides.count)
        for own in effects {
            guard let inside = own.cell(around: point, algebra) else {
                algebra.keep(apart: own.cells, from: &like, around: point)
                continue
            }
            like = like.intersection(inside)
            for (place, side) in sides.enumerated() where own.effect.sides & 1 << side != 0 {
                sets[place].apply(own.effect)
                if own.effect.isOneSided { sets[place].changed.insert(own.number) }
            }
        }
        return (like, sets)
    }

    /// Whether the set refuses the point, and a cell around it with the same answer.
    private func answer(
        to point: Cell, in cell: Cell, _ side: UInt8
    ) -> (isDenied: Bool, cell: Cell) {
        func those(_ step: RuleEffectKind.Step, _ number: CaseNumber? = nil) -> [EffectCells] {
            deciding[step, default: []].filter {
                $0.effect.sides & 1 << side != 0 && (number == nil || $0.effect.number == number)
            }
        }
        func around(_ effects: [EffectCells]) -> Cell? {
            effects.lazy.compactMap { $0.cell(around: point, algebra) }.first
        }
        var allowed = cell
        let forbids = those(.forbid)
        if let forbid = around(forbids) { return (true, cell.intersection(forbid)) }
        for forbid in forbids { algebra.keep(apart: forbid.cells, from: &allowed, around: point) }
        let release = releases.first { algebra.contains($0, point) }
        if release == nil { algebra.keep(apart: releases, from: &allowed, around: point) }
        for number in CaseNumber.allCases {
            var denied = cell
            if number == .release {
                guard let release else { break }
                denied = denied.intersection(release)
                allowed = allowed.intersection(release)
            }
            let reaches = those(.reach, number)
            guard let reach = around(reaches.filter { $0.effect.kind == .member } + reaches) else {
                for own in reaches { algebra.keep(apart: own.cells, from: &denied, around: point) }
                return (true, denied)
            }
            allowed = allowed.intersection(reach)
            if detail == .rules, !isMember(point, reaches) {
                allowed = likeness(of: point, in: allowed, reaches).cell
            }
            let scopes = those(.close, number)
            guard let scope = around(scopes) else {
                for own in scopes { algebra.keep(apart: own.cells, from: &allowed, around: point) }
                continue
            }
            let permits = those(.open, number)
            guard let permit = around(permits) else {
                denied = denied.intersection(scope)
                for own in permits { algebra.keep(apart: own.cells, from: &denied, around: point) }
                return (true, denied)
            }
            allowed = allowed.intersection(permit)
            // Outside of the scope it is not the permits that let the request through.
            if detail == .rules {
                allowed = likeness(of: point, in: allowed.intersection(scope), permits).cell
            }
        }
        return (false, allowed)
    }

    /// Whether the point's caller is a member; shares matter only for other callers.
    private func isMember(_ point: Cell, _ reaches: [EffectCells]) -> Bool {
        reaches.contains {
            $0.effect.kind == .member && $0.cell(around: point, algebra) != nil
        }
    }
}

/// An effect and the requests that it applies to.
private struct EffectCells {
    let effect: RuleEffect
    let number: Int
    /// Disjoint cells.
    let cells: [Cell]

    func cell(around point: Cell, _ algebra: CellAlgebra) -> Cell? {
        cells.first { algebra.contains($0, point) }
    }
}

/// The requests whose callers one set's groups make members.
private struct Members {
    private let itself: [Cell]
    private let release: [Cell]

    init(
        _ boxes: [PolicyBox], _ universe: Universe, _ budget: inout Budget
    ) throws(Budget.Spent) {
        itself = try universe.union(of: boxes, .yes, &budget)
        release = try universe.union(of: boxes.compactMap(\.asRelease), .yes, &budget)
    }

    func cells(_ number: CaseNumber) -> [Cell] { number == .itself ? itself : release }
}
