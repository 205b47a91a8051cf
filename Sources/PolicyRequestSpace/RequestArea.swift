// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

/// Requests that are decided alike: all that have one of the values in each field.
package struct RequestArea: Sendable {
    private let universe: Universe
    private let cell: Cell
    private let day: Int32
    /// What it says of each field that it says anything of.
    package let fields: [AreaField]

    package init(_ universe: Universe, _ cell: Cell, day: Int32) {
        self.universe = universe
        self.cell = cell
        self.day = day
        fields = universe.fields(of: cell)
        words =
            fields.isEmpty
            ? "any request"
            : fields.map { "\($0.name): \($0.values)" }.joined(separator: "; ")
    }

    /// `operation: sign; subject.user: ann`
    package let words: String

    /// A request that shows what is decided.
    package var example: PolicyRequest {
        let possible = universe.impossible.reduce([cell]) { left, own in
            left.flatMap { universe.algebra.subtract(own, from: $0) }
        }
        return universe.witness(of: possible.first ?? cell, day: day)
    }

    /// One of its requests; nil where facts came together that can't be.
    package func request(using random: inout some RandomNumberGenerator) -> PolicyRequest? {
        var point = cell
        for axis in universe.axes {
            guard let number = universe.numbers(of: axis, in: cell).randomElement(using: &random)
            else { return nil }
            for word in axis.place.first...axis.place.last { point.words[word] = 0 }
            point.words[axis.place.first + number / 64] = 1 << UInt64(number % 64)
        }
        guard !universe.impossible.contains(where: { universe.algebra.contains($0, point) })
        else { return nil }
        var request = universe.witness(of: point, day: day)
        vary(&request.facts, point, &random)
        return request
    }

    /// Any of the values that the point's stand for.
    private func vary(
        _ facts: inout PolicyFacts, _ point: Cell, _ random: inout some RandomNumberGenerator
    ) {
        for axis in universe.axes {
            guard let number = universe.numbers(of: axis, in: point).first else { continue }
            func pick(_ spans: [[ClosedRange<Int64>]]) -> Int64? {
                guard spans.indices.contains(number) else { return nil }
                return spans[number].randomElement(using: &random).map {
                    .random(in: $0, using: &random)
                }
            }
            switch axis.subject {
            case .text(let field):
                if number == 0, field.isTiedToOthers { continue }
                guard
                    let text = universe.texts[field]?.texts(of: [number])
                        .randomElement(using: &random)
                else { continue }
                if number > 0 || Bool.random(using: &random), !axis.values[number].isUnknown {
                    facts[field] = .known([text])
                }
            case .uid:
                if let uid = pick(universe.uids) { facts.uid = .known(UInt32(clamping: uid)) }
            case .time:
                if let minute = pick(universe.minutes).flatMap({ MinuteOfWeek(Int($0)) }) {
                    facts.time = .known(minute)
                }
            case .age(let field):
                if let age = pick(universe.ages[field] ?? []) {
                    facts[field] = .known(PolicyDuration(milliseconds: age))
                }
            default: continue
            }
        }
    }
}

/// Puts cells that don't meet together into as few as it can: two become one where they differ in
/// one field alone, so that none says more than they did.
package struct CellMerging {
    private let universe: Universe
    /// Of each axis what can't be because of it: fields whose values can't all come together with
    /// those of others.
    private let tied: [(axis: AxisPlace, impossible: [Cell])]

    package init(_ universe: Universe) {
        self.universe = universe
        let everything = universe.everything
        tied = universe.axes.compactMap { axis in
            let words = axis.place.first...axis.place.last
            let own = universe.impossible.filter { cell in
                words.contains { cell.words[$0] != everything.words[$0] }
            }
            return own.isEmpty ? nil : (axis.place, own)
        }
    }

    package func merged(_ cells: [Cell]) -> [Cell] {
        var cells = cells.map(widened)
        while true {
            let count = cells.count
            for axis in universe.axes { cells = merged(cells, along: axis.place) }
            guard cells.count < count else { return cells.map(narrowed) }
            cells = cells.map(widened)
        }
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

    /// The cell with the values that no request has together with its others, so that it is like
    /// more of the others.
    private func widened(_ cell: Cell) -> Cell {
        var wide = cell
        for (axis, impossible) in tied {
            for own in impossible where contains(own, wide, besides: axis) {
                for word in axis.first...axis.last { wide.words[word] |= own.words[word] }
            }
        }
        return wide
    }

    /// The cell without them, where it does not have all values of the field.
    private func narrowed(_ cell: Cell) -> Cell {
        let everything = universe.everything
        var narrow = cell
        for (axis, impossible) in tied {
            let words = axis.first...axis.last
            if words.allSatisfy({ narrow.words[$0] == everything.words[$0] }) { continue }
            for own in impossible where contains(own, narrow, besides: axis) {
                for word in words { narrow.words[word] &= ~own.words[word] }
            }
        }
        return universe.algebra.isEmpty(narrow) ? cell : narrow
    }

    /// Whether all fields but one have only values of the other cell.
    private func contains(_ outer: Cell, _ inner: Cell, besides axis: AxisPlace) -> Bool {
        for word in inner.words.indices where word < axis.first || word > axis.last {
            if inner.words[word] & ~outer.words[word] != 0 { return false }
        }
        return true
    }
}
