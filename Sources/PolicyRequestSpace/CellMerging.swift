// SPDX-License-Identifier: Apache-2.0

/// Merges disjoint cells into as few as it can: two cells become one where they differ in one field
/// alone, so that the result covers no further requests.
package struct CellMerging {
    private let universe: Universe
    private let everything: Cell
    /// For each axis, the impossible cells that it is part of: fields whose values can't all occur
    /// together with those of others.
    private let tied: [(axis: AxisPlace, impossible: [Cell])]

    package init(_ universe: Universe) {
        self.universe = universe
        let everything = universe.everything
        self.everything = everything
        tied = universe.axes.compactMap { axis in
            let words = axis.place.first...axis.place.last
            let own = universe.impossible.filter { cell in
                words.contains { cell.words[$0] != everything.words[$0] }
            }
            return own.isEmpty ? nil : (axis.place, own)
        }
    }

    /// Where the budget is spent, more cells are left than needed; they cover the same requests.
    package func merged(_ cells: [Cell], _ budget: inout Budget) -> [Cell] {
        var cells = cells
        do throws(Budget.Spent) {
            var count = Int.max
            while cells.count < count {
                count = cells.count
                // Cells can be equal with their impossible values, or without them.
                for form in [widened, exact] {
                    try budget.spend(cells.count * cost)
                    cells = cells.map(form)
                    for axis in universe.axes { cells = merged(cells, along: axis.place) }
                }
            }
        } catch {}
        return cells.map { narrowed(widened($0)) }
    }

    /// The cost of comparing one cell with all impossible ones and with all axes.
    private var cost: Int {
        (universe.axes.count + tied.reduce(0) { $0 + $1.impossible.count }) * universe.algebra.cost
            / 8
    }

    private func merged(_ cells: [Cell], along axis: AxisPlace) -> [Cell] {
        var places: [Cell: Int] = [:]
        var found: [Cell] = []
        for cell in cells {
            var rest = cell
            for word in axis.first...axis.last { rest.words[word] = 0 }
            if let place = places[rest] {
                for word in axis.first...axis.last { found[place].words[word] |= cell.words[word] }
            } else {
                places[rest] = found.count
                found.append(cell)
            }
        }
        return found
    }

    /// The cell with the values that no request has together with its others, so that more other
    /// cells equal it.
    private func widened(_ cell: Cell) -> Cell {
        var wide = cell
        for (axis, impossible) in tied {
            for own in impossible where contains(own, wide, besides: axis) {
                for word in axis.first...axis.last { wide.words[word] |= own.words[word] }
            }
        }
        return wide
    }

    /// The cell without such values.
    private func exact(_ cell: Cell) -> Cell { narrowed(cell, keepingWhole: false) }

    /// The cell without such values in fields that don't have all values.
    private func narrowed(_ cell: Cell) -> Cell { narrowed(cell, keepingWhole: true) }

    private func narrowed(_ cell: Cell, keepingWhole: Bool) -> Cell {
        var narrow = cell
        for (axis, impossible) in tied {
            let words = axis.first...axis.last
            let isWhole = words.allSatisfy { narrow.words[$0] == everything.words[$0] }
            if keepingWhole, isWhole { continue }
            for own in impossible where contains(own, narrow, besides: axis) {
                for word in words { narrow.words[word] &= ~own.words[word] }
            }
        }
        return universe.algebra.isEmpty(narrow) ? cell : narrow
    }

    /// Whether `outer` has all values of `inner` in all fields but one.
    private func contains(_ outer: Cell, _ inner: Cell, besides axis: AxisPlace) -> Bool {
        for word in inner.words.indices where word < axis.first || word > axis.last {
            if inner.words[word] & ~outer.words[word] != 0 { return false }
        }
        return true
    }
}
