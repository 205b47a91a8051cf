// SPDX-License-Identifier: Apache-2.0

/// A product of sets of values, one for each axis of a universe, as bits.
package struct Cell: Sendable, Hashable {
    var words: [UInt64]

    package func intersection(_ other: Cell) -> Cell {
        Cell(words: zip(words, other.words).map { $0 & $1 })
    }

    /// The smallest cell that contains both; it may cover further requests.
    package func hull(_ other: Cell) -> Cell {
        Cell(words: zip(words, other.words).map { $0 | $1 })
    }
}

/// The place of an axis' bits.
struct AxisPlace: Hashable {
    let first: Int
    let last: Int
}

/// The amount of work after which the answer is "not decided".
package struct Budget: Sendable {
    private var left: Int
    package init(_ cells: Int) { left = cells }

    package struct Spent: Error {
        package init() {}
    }

    package mutating func spend(_ cells: Int = 1) throws(Spent) {
        left -= cells
        guard left >= 0 else { throw Spent() }
    }

    /// Moves at most `most` of the budget to the other one; `join` gives the rest back.
    package mutating func split(_ most: Int, into other: inout Budget) {
        let part = max(0, min(most, left))
        left -= part
        other.left += part
    }

    package mutating func join(_ other: Budget) { left += max(0, other.left) }

    /// Lends a part of the budget; only the used part is subtracted.
    package mutating func lend<Answer>(
        _ most: Int, _ body: (inout Budget) throws(Spent) -> Answer
    ) throws(Spent) -> Answer {
        let lent = max(0, min(most, left))
        var part = Budget(lent)
        defer { left -= lent - max(part.left, 0) }
        return try body(&part)
    }
}

/// Boxes in one universe, and the difference of two of them.
package struct CellAlgebra: Sendable {
    let axes: [AxisPlace]

    /// The cost of work on one cell of this many words.
    package var cost: Int { 1 + (axes.last?.last ?? 0) / 8 }

    package func isEmpty(_ cell: Cell) -> Bool {
        axes.contains { axis in (axis.first...axis.last).allSatisfy { cell.words[$0] == 0 } }
    }

    package func meets(_ a: Cell, _ b: Cell) -> Bool {
        axes.allSatisfy { axis in
            (axis.first...axis.last).contains { a.words[$0] & b.words[$0] != 0 }
        }
    }

    package func contains(_ outer: Cell, _ inner: Cell) -> Bool {
        zip(outer.words, inner.words).allSatisfy { $1 & ~$0 == 0 }
    }

    /// One of the cell's requests: the first value of each axis.
    package func point(of cell: Cell) -> Cell {
        var point = Cell(words: [UInt64](repeating: 0, count: cell.words.count))
        for axis in axes {
            guard let word = (axis.first...axis.last).first(where: { cell.words[$0] != 0 })
            else { continue }
            point.words[word] = cell.words[word] & (0 &- cell.words[word])
        }
        return point
    }

    /// Makes the cell, which contains the point, smaller by one axis for each of the others that it
    /// meets, until it meets none of them. The others don't contain the point.
    package func keep(apart others: [Cell], from cell: inout Cell, around point: Cell) {
        for other in others where meets(other, cell) {
            var least: (axis: AxisPlace, lost: Int)?
            for axis in axes {
                let words = axis.first...axis.last
                guard words.allSatisfy({ point.words[$0] & other.words[$0] == 0 }) else { continue }
                let lost = words.reduce(0) {
                    $0 + (cell.words[$1] & other.words[$1]).nonzeroBitCount
                }
                if lost < least?.lost ?? .max { least = (axis, lost) }
            }
            guard let axis = least?.axis else { continue }
            for word in axis.first...axis.last { cell.words[word] &= ~other.words[word] }
        }
    }

    /// At most one cell for each axis; they are disjoint.
    package func subtract(_ taken: Cell, from cell: Cell) -> [Cell] {
        guard meets(cell, taken) else { return [cell] }
        var parts: [Cell] = []
        var rest = cell
        for axis in axes {
            var part = rest
            var isEmpty = true
            for word in axis.first...axis.last {
                part.words[word] &= ~taken.words[word]
                rest.words[word] &= taken.words[word]
                if part.words[word] != 0 { isEmpty = false }
            }
            if !isEmpty { parts.append(part) }
        }
        return parts
    }

    package func subtract(
        _ taken: [Cell], from cells: [Cell], _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        var cells = cells
        for own in taken {
            var left: [Cell] = []
            for cell in cells { left += subtract(own, from: cell) }
            cells = left
            try budget.spend(cells.count * cost)
            if cells.isEmpty { break }
        }
        return cells
    }
}
