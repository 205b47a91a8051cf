// SPDX-License-Identifier: Apache-2.0
package import KeychainPolicyModel

/// All requests, divided as finely as some boxes tell apart and no finer. Each fact is known,
/// absent or unknown. `possible` removes the facts that never occur together.
package struct Universe: Sendable {
    /// A value of one field that stands for all values that no box tells from it.
    enum Value {
        case operation(PolicyOperation)
        /// nil means absent.
        case text(TextField, PolicyText?)
        /// A text that no pattern matches.
        case otherText(TextField, PolicyText)
        /// Whether the caller's groups could be established.
        case groupsAreKnown
        /// Whether a group like this is among the caller's.
        case group(PolicyText, Bool)
        case uid(UInt32?)
        case time(MinuteOfWeek)
        case date(Int32)
        case choice(ChoiceField, UInt8?)
        case boolean(BooleanField, Bool)
        case age(AgeField, PolicyDuration)
        case flagsAreKnown
        case flag(PolicyItemFlags, Bool)
        /// The fact could not be established.
        case unknown(Subject)
    }

    /// The subject of an axis.
    enum Subject: Hashable {
        case operation, uid, time, date, groups, flags
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
    private(set) var bySubject: [Subject: Int] = [:]
    private(set) var groupClasses: [TextClasses.Class] = []
    private(set) var groupPatterns: [TextPattern: Int] = [:]
    /// The values of its axis that a condition on texts matches.
    private(set) var matching: [PolicyCondition: [Bool]] = [:]
    private(set) var wordCount = 0
    /// The impossible requests, as cells.
    private(set) var impossible: [Cell] = []

    /// The texts that the axes' values stand for.
    private(set) var texts: [TextField: TextAtoms] = [:]
    private(set) var groupTexts: TextAtoms?
    private(set) var uids: [[ClosedRange<Int64>]] = []
    private(set) var minutes: [[ClosedRange<Int64>]] = []
    private(set) var days: [[ClosedRange<Int64>]] = []
    private(set) var ages: [AgeField: [[ClosedRange<Int64>]]] = [:]

    package private(set) var algebra = CellAlgebra(axes: [])

    /// Days are distinguished from `today` on, in days since 1970-01-01.
    package init(
        _ boxes: [PolicyBox], from today: Int32, _ budget: inout Budget
    ) throws(Budget.Spent) {
        try budget.spend(boxes.count / 4)
        let conditions = Set(boxes.flatMap(\.conditions))
        add(.operation, PolicyOperation.allCases.map(Value.operation))
        try addTexts(conditions, &budget)
        addChoices(conditions)
        try addNumbers(conditions, today, &budget)
        algebra = CellAlgebra(axes: axes.map(\.place))
        try budget.spend(groupClasses.count * algebra.cost / 4)
        impossible = axioms
    }

    private mutating func add(_ subject: Subject, _ values: [Value]) {
        let last = wordCount + max(values.count - 1, 0) / 64
        bySubject[subject] = axes.count
        let place = AxisPlace(first: wordCount, last: last)
        axes.append(Axis(subject: subject, values: values, place: place))
        wordCount = last + 1
    }

    /// Keeps one of the values that all conditions on the field treat alike, with the ranges of all
    /// values that it stands for.
    private mutating func add(
        _ subject: Subject, _ values: [(value: Value, span: ClosedRange<Int64>?)],
        telling conditions: [PolicyCondition], mayBeUnknown: Bool = true
    ) -> [[ClosedRange<Int64>]] {
        var places: [[Truth]: Int] = [:]
        var distinct: [Value] = []
        var spans: [[ClosedRange<Int64>]] = []
        for (value, span) in values {
            let truths = conditions.map { $0.truth(of: Self.facts(of: [value])) }
            let place = places[truths, default: distinct.count]
            if place == distinct.count {
                places[truths] = place
                distinct.append(value)
                spans.append([])
            }
            if let span { spans[place].append(span) }
        }
        add(subject, distinct + (mayBeUnknown ? [.unknown(subject)] : []))
        return spans
    }

    /// The ranges from each of the numbers to just before the next, the last one up to `last`.
    private static func spans(_ starts: [Int64], upTo last: Int64) -> [ClosedRange<Int64>] {
        zip(starts, starts.dropFirst().map { $0 - 1 } + [last]).map { $0...$1 }
    }

    private mutating func addTexts(
        _ conditions: Set<PolicyCondition>, _ budget: inout Budget
    ) throws(Budget.Spent) {
        for field in TextField.allCases {
            let own = conditions.filter { if case .text(field, _) = $0 { true } else { false } }
            guard !own.isEmpty else { continue }
            var naming: [TextPattern: [Int]] = [:]
            for (number, condition) in own.enumerated() {
                guard case .text(_, let patterns) = condition else { continue }
                for pattern in Set(patterns) { naming[pattern, default: []].append(number) }
            }
            let sorted = naming.keys.sorted { PolicyText("\($0)") < PolicyText("\($1)") }
            let found = try TextClasses(sorted, &budget)
            if field == .group {
                addGroups(sorted, found.classes)
            } else {
                try budget.spend(own.count * found.classes.count / 64)
                add(field, Array(own), found.classes, sorted, sorted.map { naming[$0] ?? [] })
            }
        }
    }

    private mutating func addGroups(_ patterns: [TextPattern], _ classes: [TextClasses.Class]) {
        for (number, pattern) in patterns.enumerated() { groupPatterns[pattern] = number }
        groupClasses = classes.filter { !$0.matches.isEmpty }
        groupTexts = TextAtoms(
            patterns: patterns, classes: groupClasses, places: Array(groupClasses.indices))
        add(.groups, [.groupsAreKnown, .unknown(.groups)])
        for (number, group) in groupClasses.enumerated() {
            add(.group(number), [.group(group.text, false), .group(group.text, true)])
        }
    }

    /// `naming` has for each pattern the conditions with it.
    private mutating func add(
        _ field: TextField, _ conditions: [PolicyCondition], _ classes: [TextClasses.Class],
        _ patterns: [TextPattern], _ naming: [[Int]]
    ) {
        var values: [Value] = [.text(field, nil)]
        var met: [Set<Int>] = [[]]
        // Where an axiom depends on the text's presence, a text that no pattern matches is not the
        // same as no text.
        var seen: [Set<Int>: Int] = field.isTiedToOthers ? [:] : [[]: 0]
        var places: [Int] = []
        for own in classes {
            let conditionsMet = Set(own.matches.flatMap { naming[$0] })
            let place = seen[conditionsMet, default: values.count]
            places.append(place)
            guard place == values.count else { continue }
            seen[conditionsMet] = place
            values.append(
                conditionsMet.isEmpty
                    ? .otherText(field, field.example(besides: conditions) ?? own.text)
                    : .text(field, own.text))
            met.append(conditionsMet)
        }
        add(.text(field), values + [.unknown(.text(field))])
        texts[field] = TextAtoms(patterns: patterns, classes: classes, places: places)
        for (number, condition) in conditions.enumerated() {
            matching[condition] = met.map { $0.contains(number) } + [false]
        }
    }

    private mutating func addChoices(_ conditions: Set<PolicyCondition>) {
        for field in ChoiceField.allCases {
            let isNamed = conditions.contains {
                if case .choice(field, _) = $0 { true } else { false }
            }
            // The class also says whether reading releases a key.
            guard isNamed || field == .itemClass else { continue }
            let known = (0..<field.count).map { Value.choice(field, $0) }
            add(.choice(field), [.choice(field, nil)] + known + [.unknown(.choice(field))])
        }
        for field in BooleanField.allCases {
            let isNamed = conditions.contains {
                if case .boolean(field, _) = $0 { true } else { false }
            }
            guard isNamed || field == .member else { continue }
            let usual = field.whenAbsent
            add(
                .boolean(field),
                [.boolean(field, usual), .boolean(field, !usual), .unknown(.boolean(field))])
        }
        var flags: PolicyItemFlags = []
        for case .flags(let has, let lacks) in conditions { flags.formUnion(has.union(lacks)) }
        guard !flags.isEmpty else { return }
        add(.flags, [.flagsAreKnown, .unknown(.flags)])
        for bit in UInt8(0)..<8 where flags.rawValue & 1 << bit != 0 {
            let flag = PolicyItemFlags(rawValue: 1 << bit)
            add(.flag(bit), [.flag(flag, false), .flag(flag, true)])
        }
    }

    private mutating func addNumbers(
        _ conditions: Set<PolicyCondition>, _ today: Int32, _ budget: inout Budget
    ) throws(Budget.Spent) {
        var uids: Set<UInt32> = [0]
        var minutes: Set<Int> = [0]
        var days: Set<Int32> = [today]
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
            case .date(let range):
                days.insert(range.lowerBound)
                if range.upperBound < .max { days.insert(range.upperBound + 1) }
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
        // Each value is compared with each condition.
        let values = [uids.count, minutes.count, days.count] + ages.values.map(\.count)
        for count in values where count > 1 { try budget.spend(count * conditions.count / 2) }
        if uids.count > 1 || !telling("subject.uid").isEmpty {
            let spans = Self.spans(uids.sorted().map { Int64($0) }, upTo: Int64(UInt32.max))
            self.uids = add(
                .uid,
                [(.uid(nil), nil)] + spans.map { (.uid(UInt32(clamping: $0.lowerBound)), $0) },
                telling: telling("subject.uid"))
        }
        if !telling("when.time").isEmpty {
            let last = Int64(MinuteOfWeek.count - 1)
            let spans = Self.spans(minutes.sorted().map { Int64($0) }, upTo: last)
            self.minutes = add(
                .time,
                spans.compactMap { span in
                    MinuteOfWeek(Int(span.lowerBound)).map { (.time($0), span) }
                }, telling: telling("when.time"))
        }
        if !telling("when.date").isEmpty {
            // Past days are not distinguished, since no later request has them.
            let starts = days.filter { $0 >= today }.sorted().map { Int64($0) }
            self.days = add(
                .date,
                Self.spans(starts, upTo: Int64(Int32.max)).map {
                    (.date(Int32(clamping: $0.lowerBound)), $0)
                }, telling: telling("when.date"), mayBeUnknown: false)
        }
        for (field, values) in ages.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let spans = Self.spans(values.sorted().map(\.milliseconds), upTo: .max)
            self.ages[field] = add(
                .age(field),
                spans.map { (.age(field, PolicyDuration(milliseconds: $0.lowerBound)), $0) },
                telling: telling("when.\(field.name)"))
        }
    }
}
