// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

extension Universe {
    package var everything: Cell {
        var words = [UInt64](repeating: 0, count: wordCount)
        for axis in axes {
            for number in axis.values.indices {
                words[axis.place.first + number / 64] |= 1 << UInt64(number % 64)
            }
        }
        return Cell(words: words)
    }

    /// The requests for which the box's truth is at least `least`, as cells. `joined` are the
    /// requests whose caller a group makes a member.
    package func cells(
        of box: PolicyBox, _ least: Truth, joined: [Cell] = [], _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        var cells = [everything]
        keep(&cells, .operation) { value in
            if case .operation(let operation) = value {
                box.operations.contains(operation)
            } else {
                false
            }
        }
        for condition in box.conditions {
            switch condition {
            case .text(.group, let patterns): try keepGroups(&cells, patterns, least, &budget)
            case .text(let field, _): keepTexts(&cells, condition, field, least)
            case .flags([], []): break
            case .flags(let has, let lacks): keepFlags(&cells, has, lacks, least)
            case .boolean(.member, let wanted):
                try keepMembers(&cells, wanted, least, joined, &budget)
            case .uid: keep(&cells, .uid, condition, least)
            case .choice(let field, _): keep(&cells, .choice(field), condition, least)
            case .boolean(let field, _): keep(&cells, .boolean(field), condition, least)
            case .age(let field, _): keep(&cells, .age(field), condition, least)
            case .time: keep(&cells, .time, condition, least)
            case .date: keep(&cells, .date, condition, least)
            }
            try budget.spend(cells.count * algebra.cost)
            cells = cells.filter { !algebra.isEmpty($0) }
            if cells.isEmpty { break }
        }
        return cells
    }

    /// The same for a box minus its exceptions, as disjoint cells.
    package func cells(
        of match: PolicyMatch, _ least: Truth, joined: [Cell] = [], _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        var taken: [Cell] = []
        // Where the match must be certain, an exception already counts when it may hold.
        for exception in match.exceptions {
            taken += try cells(
                of: exception, least == .yes ? .unknown : .yes, joined: joined, &budget)
        }
        return try algebra.subtract(
            taken, from: cells(of: match.box, least, joined: joined, &budget), &budget)
    }

    /// The requests of the boxes, as disjoint cells.
    package func union(
        of boxes: [PolicyBox], _ least: Truth, joined: [Cell] = [], _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        var union: [Cell] = []
        for box in boxes {
            let cells = try cells(of: box, least, joined: joined, &budget)
            union += try algebra.subtract(union, from: cells, &budget)
        }
        return union
    }

    func keep(_ cells: inout [Cell], _ subject: Subject, _ isKept: (Value) -> Bool) {
        guard let axis = bySubject[subject].map({ axes[$0] }) else { return }
        keep(&cells, axis, axis.values.map(isKept))
    }

    private func keep(_ cells: inout [Cell], _ axis: Axis, _ mask: [Bool]) {
        for place in cells.indices {
            for (number, kept) in mask.enumerated() where !kept {
                cells[place].words[axis.place.first + number / 64] &= ~(1 << UInt64(number % 64))
            }
        }
    }

    private func keep(
        _ cells: inout [Cell], _ subject: Subject, _ condition: PolicyCondition, _ least: Truth
    ) {
        keep(&cells, subject) { condition.truth(of: Self.facts(of: [$0])) >= least }
    }

    private func keepTexts(
        _ cells: inout [Cell], _ condition: PolicyCondition, _ field: TextField, _ least: Truth
    ) {
        guard let axis = bySubject[.text(field)].map({ axes[$0] }),
            var mask = matching[condition]
        else { return }
        if least == .unknown { mask[mask.count - 1] = true }
        keep(&cells, axis, mask)
    }

    private func keepFlags(
        _ cells: inout [Cell], _ has: PolicyItemFlags, _ lacks: PolicyItemFlags, _ least: Truth
    ) {
        var unknown = least == .unknown ? cells : []
        keep(&unknown, .flags) { $0.isUnknown }
        keep(&cells, .flags) { !$0.isUnknown }
        for bit in UInt8(0)..<8 {
            let flag = PolicyItemFlags(rawValue: 1 << bit)
            for (set, wanted) in [(has, true), (lacks, false)] where set.contains(flag) {
                keep(&cells, .flag(bit)) { value in
                    if case .flag(_, wanted) = value { true } else { false }
                }
            }
        }
        cells += unknown
    }

    /// Keeps cells in which a matching group is there: the first of them, or the second without the
    /// first, …
    private func keepGroups(
        _ cells: inout [Cell], _ patterns: [TextPattern], _ least: Truth, _ budget: inout Budget
    ) throws(Budget.Spent) {
        let places = Set(patterns.compactMap { groupPatterns[$0] })
        let matching = groupClasses.indices.filter {
            !groupClasses[$0].matches.isDisjoint(with: places)
        }
        var found = least == .unknown ? cells : []
        keep(&found, .groups) { $0.isUnknown }
        var without = cells
        keep(&without, .groups) { !$0.isUnknown }
        try budget.spend(matching.count * without.count * algebra.cost)
        for group in matching {
            var with = without
            keep(&with, .group(group)) { if case .group(_, true) = $0 { true } else { false } }
            found += with
            keep(&without, .group(group)) { if case .group(_, false) = $0 { true } else { false } }
        }
        cells = found
    }

    private func keepMembers(
        _ cells: inout [Cell], _ wanted: Bool, _ least: Truth, _ joined: [Cell],
        _ budget: inout Budget
    ) throws(Budget.Spent) {
        let condition = PolicyCondition.boolean(.member, wanted)
        func isMet(_ value: Value) -> Bool {
            condition.truth(of: Self.facts(of: [value])) >= least
        }
        var others = cells
        keep(&cells, .boolean(.member), isMet)
        guard wanted else {
            cells = try algebra.subtract(joined, from: cells, &budget)
            return
        }
        keep(&others, .boolean(.member)) { !isMet($0) }
        for cell in others {
            try budget.spend(joined.count * algebra.cost)
            cells += joined.map(cell.intersection)
        }
    }
}

extension Universe.Value {
    var isUnknown: Bool { if case .unknown = self { true } else { false } }
}
