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
        _ universe: Universe, _ maker: FacetMaker, sides: [UInt8], everythingCounts: Bool,
        _ budget: inout Budget
    ) throws(Budget.Spent) {
        self.universe = universe
        self.sides = sides
        self.everythingCounts = everythingCounts
        let algebra = universe.algebra
        self.algebra = algebra
        let ordered = maker.facets.filter { everythingCounts || $0.kind.phase < 6 }
            .sorted { $0.kind.phase < $1.kind.phase }
        let members = try maker.groups.map { boxes throws(Budget.Spent) in
            try Members(boxes, universe, &budget)
        }
        let releases = try universe.cells(of: .releases, .unknown, &budget)
        var cut: [CutFacet] = []
        for facet in ordered {
            let joined = members[facet.groups].cells(facet.number)
            var cells = try universe.cells(
                of: facet.match, facet.kind.least, joined: joined, &budget)
            if facet.number == .release {
                try budget.spend(releases.count * cells.count * algebra.cost)
                cells = releases.flatMap { key in cells.map(key.intersection) }
                    .filter { !algebra.isEmpty($0) }
            }
            if !cells.isEmpty { cut.append(CutFacet(facet: facet, cells: cells)) }
        }
        self.facets = cut
    }

    /// Calls the body with every cell that not all sets refuse and that can be, until it says that
    /// it has enough.
    func search(
        _ cells: [Cell], _ budget: inout Budget,
        _ body: (Cell, State) throws(Budget.Spent) -> Bool
    ) throws(Budget.Spent) {
        for cell in cells where try cut(cell, from: 0, State(), &budget, body) { return }
    }

    private func tell(
        _ cell: Cell, _ state: State, _ budget: inout Budget,
        _ body: (Cell, State) throws(Budget.Spent) -> Bool
    ) throws(Budget.Spent) -> Bool {
        for part in try universe.possible(cell, &budget) where try body(part, state) {
            return true
        }
        return false
    }

    private func cut(
        _ cell: Cell, from start: Int, _ before: State, _ budget: inout Budget,
        _ body: (Cell, State) throws(Budget.Spent) -> Bool
    ) throws(Budget.Spent) -> Bool {
        try budget.spend(algebra.cost * (1 + (facets.count - start) / 16))
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
            if try cut(inside.intersection(cell), from: place + 1, within, &budget, body) {
                return true
            }
            for part in algebra.subtract(inside, from: cell)
            where try cut(part, from: place, state, &budget, body) { return true }
            return false
        }
        if areDenied(state, before: .max) { return false }
        return try tell(cell, state, &budget, body)
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

/// Whom one set's groups take in.
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
