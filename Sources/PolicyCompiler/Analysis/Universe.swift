// SPDX-License-Identifier: Apache-2.0
internal import AccessControl

/// What a request can be, cut as finely as some boxes tell apart and no finer. Every fact is known
/// or absent: an unknown one never permits more. Facts are independent of each other, so that
/// nothing is proved by an assumption about machines.
struct Universe {
    /// A value of one field that stands for all values which no box tells from it.
    enum Value {
        case operation(PolicyOperation)
        case text(TextField, PolicyText?)
        /// Whether a group like this is among the caller's.
        case group(PolicyText, Bool)
        case uid(UInt32?)
        case time(MinuteOfWeek)
        case choice(ChoiceField, UInt8?)
        case boolean(BooleanField, Bool)
        case age(AgeField, PolicyDuration)
        case flag(PolicyItemFlags, Bool)
    }

    /// What an axis is about.
    enum Subject: Hashable {
        case operation, uid, time
        case text(TextField)
        case group(Int)
        case choice(ChoiceField)
        case boolean(BooleanField)
        case age(AgeField)
        case flag(UInt8)
    }

    struct Axis {
        let subject: Subject
        let values: [Value]
        let place: AxisPlace
    }

    private(set) var axes: [Axis] = []
    private var bySubject: [Subject: Int] = [:]
    private var groupClasses: [TextClasses.Class] = []
    private var groupPatterns: [TextPattern] = []
    private var wordCount = 0

    var algebra: CellAlgebra { CellAlgebra(axes: axes.map(\.place)) }

    /// nil where texts take too long to be told apart.
    init?(_ boxes: [PolicyBox]) {
        let conditions = Set(boxes.flatMap(\.conditions))
        add(.operation, PolicyOperation.allCases.map(Value.operation))
        guard addTexts(conditions) else { return nil }
        addChoices(conditions)
        addNumbers(conditions)
    }

    private mutating func add(_ subject: Subject, _ values: [Value]) {
        let last = wordCount + max(values.count - 1, 0) / 64
        bySubject[subject] = axes.count
        let place = AxisPlace(first: wordCount, last: last)
        axes.append(Axis(subject: subject, values: values, place: place))
        wordCount = last + 1
    }

    /// Of the values that all conditions on the field take alike only one is kept.
    private mutating func add(
        _ subject: Subject, _ values: [Value], telling conditions: [PolicyCondition]
    ) {
        var seen: Set<[Truth]> = []
        let distinct = values.filter { value in
            seen.insert(conditions.map { $0.truth(of: Self.facts(of: [value])) }).inserted
        }
        add(subject, distinct)
    }

    private mutating func addTexts(_ conditions: Set<PolicyCondition>) -> Bool {
        for field in TextField.allCases {
            let own = conditions.filter { if case .text(field, _) = $0 { true } else { false } }
            let patterns = Set(
                own.flatMap { condition -> [TextPattern] in
                    if case .text(_, let patterns) = condition { patterns } else { [] }
                })
            guard !patterns.isEmpty else { continue }
            let sorted = patterns.sorted { PolicyText("\($0)") < PolicyText("\($1)") }
            guard let found = TextClasses(sorted) else { return false }
            if field == .group {
                groupPatterns = sorted
                groupClasses = found.classes.filter { !$0.matches.isEmpty }
                for (number, group) in groupClasses.enumerated() {
                    add(.group(number), [.group(group.text, false), .group(group.text, true)])
                }
            } else {
                let values = [nil] + found.classes.map(\.text)
                add(.text(field), values.map { .text(field, $0) }, telling: Array(own))
            }
        }
        return true
    }

    private mutating func addChoices(_ conditions: Set<PolicyCondition>) {
        for field in ChoiceField.allCases {
            let own = conditions.filter { if case .choice(field, _) = $0 { true } else { false } }
            // The class tells whether reading releases a key.
            guard !own.isEmpty || field == .itemClass else { continue }
            add(
                .choice(field),
                [.choice(field, nil)] + (0..<field.count).map { .choice(field, $0) })
        }
        for field in BooleanField.allCases {
            let isNamed = conditions.contains {
                if case .boolean(field, _) = $0 { true } else { false }
            }
            guard isNamed || field == .member else { continue }
            let usual = field.whenAbsent
            add(.boolean(field), [.boolean(field, usual), .boolean(field, !usual)])
        }
        var flags: PolicyItemFlags = []
        for case .flags(let has, let lacks) in conditions { flags.formUnion(has.union(lacks)) }
        for bit in UInt8(0)..<8 where flags.rawValue & 1 << bit != 0 {
            let flag = PolicyItemFlags(rawValue: 1 << bit)
            add(.flag(bit), [.flag(flag, false), .flag(flag, true)])
        }
    }

    private mutating func addNumbers(_ conditions: Set<PolicyCondition>) {
        var uids: Set<UInt32> = [0]
        var minutes: Set<Int> = [0]
        var ages: [AgeField: Set<PolicyDuration>] = [:]
        for condition in conditions {
            switch condition {
            case .uid(let ranges):
                for range in ranges {
                    uids.insert(range.lowerBound)
                    if range.upperBound < .max { uids.insert(range.upperBound + 1) }
                }
            case .time(let windows, _):
                for day in 0..<7 {
                    for edge in windows.flatMap({ [$0.start, $0.end] }) {
                        minutes.insert((day * MinuteOfWeek.perDay + edge) % MinuteOfWeek.count)
                    }
                }
            case .age(let field, let range):
                ages[field, default: [.zero]].insert(range.lowerBound)
                let end = range.upperBound.milliseconds
                if end < .max {
                    ages[field, default: [.zero]].insert(PolicyDuration(milliseconds: end + 1))
                }
            default: break
            }
        }
        func telling(_ name: String) -> [PolicyCondition] {
            conditions.filter { $0.fieldName == name }
        }
        if uids.count > 1 || !telling("subject.uid").isEmpty {
            add(
                .uid, [.uid(nil)] + uids.sorted().map { .uid($0) },
                telling: telling("subject.uid"))
        }
        if !telling("when.time").isEmpty {
            add(
                .time, minutes.sorted().compactMap(MinuteOfWeek.init).map { .time($0) },
                telling: telling("when.time"))
        }
        for (field, values) in ages.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            add(
                .age(field), values.sorted().map { .age(field, $0) },
                telling: telling("when.\(field.name)"))
        }
    }
}

extension Universe {
    var everything: Cell {
        var words = [UInt64](repeating: 0, count: wordCount)
        for axis in axes {
            for number in axis.values.indices {
                words[axis.place.first + number / 64] |= 1 << UInt64(number % 64)
            }
        }
        return Cell(words: words)
    }

    /// The box as cells that don't meet.
    func cells(of box: PolicyBox) -> [Cell] {
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
            case .text(.group, let patterns): keepGroups(&cells, patterns)
            case .flags(let has, let lacks): keepFlags(&cells, has, lacks)
            default:
                guard let subject = Self.subject(of: condition) else { continue }
                keep(&cells, subject) { condition.truth(of: Self.facts(of: [$0])) == .yes }
            }
        }
        return cells.filter { !algebra.isEmpty($0) }
    }

    private static func subject(of condition: PolicyCondition) -> Subject? {
        switch condition {
        case .text(let field, _): .text(field)
        case .uid: .uid
        case .choice(let field, _): .choice(field)
        case .boolean(let field, _): .boolean(field)
        case .age(let field, _): .age(field)
        case .time: .time
        case .flags: nil
        }
    }

    private func keep(_ cells: inout [Cell], _ subject: Subject, _ isKept: (Value) -> Bool) {
        guard let axis = bySubject[subject].map({ axes[$0] }) else { return }
        let mask = axis.values.map(isKept)
        for place in cells.indices {
            for (number, kept) in mask.enumerated() where !kept {
                cells[place].words[axis.place.first + number / 64] &= ~(1 << UInt64(number % 64))
            }
        }
    }

    private func keepFlags(
        _ cells: inout [Cell], _ has: PolicyItemFlags, _ lacks: PolicyItemFlags
    ) {
        for bit in UInt8(0)..<8 {
            let flag = PolicyItemFlags(rawValue: 1 << bit)
            for (set, wanted) in [(has, true), (lacks, false)] where set.contains(flag) {
                keep(&cells, .flag(bit)) { value in
                    if case .flag(_, wanted) = value { true } else { false }
                }
            }
        }
    }

    /// One of the matching groups is there: the first of them, or the second without the first, …
    private func keepGroups(_ cells: inout [Cell], _ patterns: [TextPattern]) {
        let places = Set(patterns.compactMap { groupPatterns.firstIndex(of: $0) })
        let matching = groupClasses.indices.filter {
            !groupClasses[$0].matches.isDisjoint(with: places)
        }
        var found: [Cell] = []
        var without = cells
        for group in matching {
            var with = without
            keep(&with, .group(group)) { if case .group(_, true) = $0 { true } else { false } }
            found += with
            keep(&without, .group(group)) { if case .group(_, false) = $0 { true } else { false } }
        }
        cells = found.filter { !algebra.isEmpty($0) }
    }

    /// The box minus its exceptions, as cells that don't meet.
    func cells(
        of match: PolicyMatch, _ budget: inout Budget
    ) throws(Budget.Spent) -> [Cell] {
        var taken: [Cell] = []
        for exception in match.exceptions { taken += cells(of: exception) }
        return try algebra.subtract(taken, from: cells(of: match.box), &budget)
    }
}

extension Universe {
    /// The facts that the values are.
    static func facts(of values: [Value]) -> PolicyFacts {
        var facts = PolicyFacts()
        var groups: [PolicyText] = []
        var flags: PolicyItemFlags = []
        for value in values {
            switch value {
            case .text(let field, let text?): facts[field] = .known([text])
            case .group(let text, true): groups.append(text)
            case .uid(let uid?): facts.uid = .known(uid)
            case .time(let minute): facts.time = .known(minute)
            case .choice(let field, let value?): facts[field] = .known(value)
            case .boolean(let field, let value):
                if value != field.whenAbsent { facts[field] = .known(value) }
            case .age(let field, let age): facts[field] = .known(age)
            case .flag(let flag, true): flags.formUnion(flag)
            case .operation, .text, .group, .uid, .choice, .flag: break
            }
        }
        if !groups.isEmpty { facts[.group] = .known(groups) }
        if !flags.isEmpty { facts.flags = .known(flags) }
        return facts
    }

    /// The values of an axis that the cell has.
    func values(of axis: Axis, in cell: Cell) -> [Value] {
        axis.values.indices.filter { number in
            cell.words[axis.place.first + number / 64] & 1 << UInt64(number % 64) != 0
        }.map { axis.values[$0] }
    }

    /// A request of the cell.
    func witness(of cell: Cell, day: Int32) -> PolicyRequest {
        let values = axes.compactMap { self.values(of: $0, in: cell).first }
        var operation = PolicyOperation.readSecret
        for case .operation(let own) in values { operation = own }
        var facts = Self.facts(of: values)
        // No age and no time at all would be unknown ones.
        for field in AgeField.allCases where facts[field] == .absent {
            facts[field] = .known(.zero)
        }
        if facts.time == .absent, let monday = MinuteOfWeek(0) { facts.time = .known(monday) }
        return PolicyRequest(operation, facts: facts, day: day)
    }
}
