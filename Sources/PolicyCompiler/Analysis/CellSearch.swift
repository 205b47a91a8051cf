// SPDX-License-Identifier: Apache-2.0
internal import AccessControl

/// Cuts cells of requests by the statements of one or two sets until each cell lies wholly inside or
/// outside of all that could matter to it: then any of its requests tells of them all.
struct CellSearch {
    private let universe: Universe
    private let algebra: CellAlgebra
    private let facets: [CutFacet]
    private let sides: [UInt8]
    private let everythingCounts: Bool
    var budget: Budget

    private struct CutFacet {
        let facet: Facet
        let cells: [Cell]
    }

    /// What is known of the cell in each set.
    struct State {
        fileprivate(set) var releases = false
        fileprivate(set) var sets = [SetState(), SetState()]

        /// Whether the set of that side refuses the cell.
        func isDenied(_ side: Int) -> Bool {
            sets[side].isDenied(before: .max, releases: releases)
        }
    }

    struct SetState {
        fileprivate var forbid = false
        fileprivate var member = [false, false]
        fileprivate var share = [false, false]
        fileprivate var closed = [false, false]
        fileprivate var permit = [false, false]
        /// In each case.
        fileprivate(set) var demands: [Set<PolicyDemand>] = [[], []]
        fileprivate(set) var redacted: Set<PolicyText> = []
        fileprivate(set) var isAuditedInFull = false

        /// Whether it is refused by what the phases before this one tell.
        fileprivate func isDenied(before phase: Int, releases: Bool) -> Bool {
            if forbid { return true }
            return (0...(releases ? 1 : 0)).contains { number in
                (phase > 3 && !member[number] && !share[number])
                    || (phase > 5 && closed[number] && !permit[number])
            }
        }
    }

    /// `everythingCounts`: requirements, redactions and audit are told apart, not only refusals.
    init(
        _ universe: Universe, _ facets: [Facet], sides: [UInt8], everythingCounts: Bool,
        _ budget: Budget
    ) throws(Budget.Spent) {
        self.universe = universe
        self.sides = sides
        self.everythingCounts = everythingCounts
        var budget = budget
        algebra = universe.algebra
        let ordered = facets.filter { everythingCounts || $0.kind.phase < 6 }
            .sorted { $0.kind.phase < $1.kind.phase }
        var cut: [CutFacet] = []
        for facet in ordered {
            var cells: [Cell] = []
            for match in facet.matches { cells += try universe.cells(of: match, &budget) }
            if !cells.isEmpty { cut.append(CutFacet(facet: facet, cells: cells)) }
        }
        self.facets = cut
        self.budget = budget
    }

    /// Calls the body with every cell that not all sets refuse, until it says that it has enough.
    mutating func search(
        _ cells: [Cell], _ body: (Cell, State) throws(Budget.Spent) -> Bool
    ) throws(Budget.Spent) {
        for cell in cells where try cut(cell, from: 0, State(), body) { return }
    }

    private mutating func cut(
        _ cell: Cell, from start: Int, _ before: State,
        _ body: (Cell, State) throws(Budget.Spent) -> Bool
    ) throws(Budget.Spent) -> Bool {
        try budget.spend()
        var state = before
        for place in start..<facets.count {
            let own = facets[place]
            if areDenied(state, before: own.facet.kind.phase) { return false }
            guard matters(own.facet, state) else { continue }
            guard let inside = own.cells.first(where: { algebra.meets($0, cell) }) else { continue }
            if algebra.contains(inside, cell) {
                apply(own.facet, &state)
                continue
            }
            var within = state
            apply(own.facet, &within)
            if try cut(inside.intersection(cell), from: place + 1, within, body) { return true }
            for part in algebra.subtract(inside, from: cell)
            where try cut(part, from: place, state, body) { return true }
            return false
        }
        if areDenied(state, before: .max) { return false }
        return try body(cell, state)
    }

    private func areDenied(_ state: State, before phase: Int) -> Bool {
        guard phase > 0 else { return false }
        return sides.allSatisfy { side in
            state.sets[Int(side)].isDenied(before: phase, releases: state.releases)
        }
    }

    /// Whether the facet could tell anything new of the cell in a set that has it.
    private func matters(_ facet: Facet, _ state: State) -> Bool {
        if facet.kind == .releases { return true }
        if facet.number == .release, !state.releases { return false }
        return sides.contains { side in
            guard facet.sides & 1 << side != 0 else { return false }
            let own = state.sets[Int(side)]
            let number = facet.number.rawValue
            if own.isDenied(before: facet.kind.phase, releases: state.releases) { return false }
            return switch facet.kind {
            case .releases: true
            case .forbid: !own.forbid
            case .member: !own.member[number]
            case .share: !own.member[number] && !own.share[number]
            case .closed: !own.closed[number]
            case .permit: own.closed[number] && !own.permit[number]
            case .require(let demand): !own.demands[number].contains(demand)
            case .redact(let names): !names.isSubset(of: own.redacted)
            case .audit: !own.isAuditedInFull
            }
        }
    }

    private func apply(_ facet: Facet, _ state: inout State) {
        if facet.kind == .releases {
            state.releases = true
            return
        }
        let number = facet.number.rawValue
        for side in sides where facet.sides & 1 << side != 0 {
            let place = Int(side)
            switch facet.kind {
            case .releases: break
            case .forbid: state.sets[place].forbid = true
            case .member: state.sets[place].member[number] = true
            case .share: state.sets[place].share[number] = true
            case .closed: state.sets[place].closed[number] = true
            case .permit: state.sets[place].permit[number] = true
            case .require(let demand): state.sets[place].demands[number].insert(demand)
            case .redact(let names): state.sets[place].redacted.formUnion(names)
            case .audit: state.sets[place].isAuditedInFull = true
            }
        }
    }
}
