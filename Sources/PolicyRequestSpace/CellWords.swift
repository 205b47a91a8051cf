// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel

/// An area's values of one field, in the words of policies.
package struct AreaField: Sendable, Hashable {
    /// `subject.unit`
    package let name: String
    /// `payment-*.service, x.service` or `any but nginx.service`
    package let values: String
    /// The same, shortened: of very many values only the first ones, and the number of the others.
    package let shown: String
}

extension Universe {
    /// The fields that the cell restricts.
    func fields(of cell: Cell) -> [AreaField] {
        var fields: [AreaField] = []
        for axis in axes {
            let numbers = numbers(of: axis, in: cell)
            guard axis.subject.whole == nil, numbers.count < axis.values.count else { continue }
            switch axis.subject {
            case .groups, .flags: continue
            default:
                fields.append(
                    AreaField(
                        name: name(of: axis.subject), values: words(axis, numbers),
                        shown: words(axis, numbers, most: Self.mostShown)))
            }
        }
        return fields + [Subject.groups, .flags].compactMap { membership($0, in: cell) }
    }

    /// The numbers of the axis' values in the cell.
    func numbers(of axis: Axis, in cell: Cell) -> [Int] {
        axis.values.indices.filter { number in
            cell.words[axis.place.first + number / 64] & 1 << UInt64(number % 64) != 0
        }
    }

    private func name(of subject: Subject) -> String {
        switch subject {
        case .operation: "operation"
        case .uid: "subject.uid"
        case .time: "when.time"
        case .date: "when.date"
        case .text(let field): Self.path(field)
        case .group, .groups: "subject.group"
        case .choice(let field): Self.path(field)
        case .boolean(let field): Self.path(field)
        case .age(let field): Self.path(field)
        case .flag, .flags: "resource.flags"
        }
    }

    private static func path(_ field: some PolicyField) -> String {
        field.block.rawValue + "." + field.name
    }

    // MARK: One field

    /// The most names that are worth reading.
    private static let mostShown = 40

    private func words(_ axis: Axis, _ numbers: [Int], most: Int = .max) -> String {
        let isUnknownIn = numbers.last.map { axis.values[$0].isUnknown } ?? false
        let mayBeUnknown = axis.values.last?.isUnknown ?? false
        // All values but the unknown one.
        if mayBeUnknown, !isUnknownIn, numbers.count == axis.values.count - 1 {
            return "not unknown"
        }
        switch axis.subject {
        case .text(let field):
            return text(field, Set(numbers), isUnknownIn, most)
        case .uid:
            let isNone = numbers.contains(0)
            return Self.listed(spans(uids, numbers).map(Self.uidWords), isNone, isUnknownIn)
        case .time:
            return timeWords(numbers, isUnknownIn)
        case .date:
            let own = spans(days, numbers)
            return Self.listed(own.map(dateWords), false, isUnknownIn)
        case .age(let field):
            let own = spans(ages[field] ?? [], numbers)
            return Self.listed(own.map(Self.ageWords), false, isUnknownIn)
        default:
            let words = axis.values.map(Self.word)
            let own = numbers.map { words[$0] }
            let others = words.indices.filter { !numbers.contains($0) }.map { words[$0] }
            return others.count * 2 < own.count
                ? "any but " + others.joined(separator: ", ") : own.joined(separator: ", ")
        }
    }

    private static func listed(_ words: [String], _ isNone: Bool, _ isUnknown: Bool) -> String {
        (words + (isNone ? ["none"] : []) + (isUnknown ? ["unknown"] : []))
            .joined(separator: ", ")
    }

    private func text(
        _ field: TextField, _ numbers: Set<Int>, _ isUnknown: Bool, _ most: Int
    ) -> String {
        guard let atoms = texts[field] else { return "" }
        // Where an absent text and a text that no pattern matches are the same value, "any but"
        // covers both.
        let isNone = numbers.contains(0)
        switch atoms.words(of: numbers) {
        case .these(let names): return Self.listed(names.first(most), isNone, isUnknown)
        case .anyBut(let names):
            let others =
                names.first(most) + (isNone ? [] : ["none"]) + (isUnknown ? [] : ["unknown"])
            return others.isEmpty ? "any" : "any but " + others.joined(separator: ", ")
        }
    }

    /// The groups or flags of the cell: which of them are there, and whether that is known.
    private func membership(_ whole: Subject, in cell: Cell) -> AreaField? {
        guard let axis = bySubject[whole].map({ axes[$0] }) else { return nil }
        let known = numbers(of: axis, in: cell).map { !axis.values[$0].isUnknown }
        let mayBeUnknown = known.contains(false)
        var words: [String] = []
        var hasOne = false
        for part in axes where part.subject.whole == whole {
            let own = numbers(of: part, in: cell)
            guard known.contains(true), own.count == 1, let number = own.first else { continue }
            let isThere = part.values[number].isPresent
            if isThere { hasOne = true }
            words.append((isThere ? "" : "not ") + self.word(for: part.subject))
        }
        func said(_ words: [String]) -> String {
            if !known.contains(true) { return "unknown" }
            if words.isEmpty { return "not unknown" }
            // A group or flag that is there is known.
            return words.joined(separator: " and ")
                + (mayBeUnknown && !hasOne ? ", or unknown" : "")
        }
        if words.isEmpty, known.contains(true), mayBeUnknown { return nil }
        return AreaField(
            name: name(of: whole), values: said(words), shown: said(words.first(Self.mostShown)))
    }

    private func word(for part: Subject) -> String {
        switch part {
        case .group(let number): groupTexts?.words(ofAtom: number) ?? ""
        case .flag(let bit): PolicyItemFlags.words[Int(bit)]
        default: ""
        }
    }

    private static func word(_ value: Value) -> String {
        switch value {
        case .operation(let operation): operation.rawValue
        case .choice(let field, let value): value.map { field.words[Int($0)] } ?? "none"
        case .boolean(_, let value): "\(value)"
        case .unknown: "unknown"
        case .text, .otherText, .group, .groupsAreKnown, .flagsAreKnown, .uid, .time, .date, .age,
            .flag:
            ""
        }
    }

    // MARK: Numbers

    /// The ranges of the values, joined where one ends just before the next.
    private func spans(
        _ all: [[ClosedRange<Int64>]], _ numbers: [Int]
    ) -> [ClosedRange<Int64>] {
        let sorted = numbers.filter(all.indices.contains).flatMap { all[$0] }
            .sorted { $0.lowerBound < $1.lowerBound }
        return sorted.reduce(into: []) { joined, span in
            if let last = joined.last, last.upperBound + 1 == span.lowerBound {
                joined[joined.count - 1] = last.lowerBound...span.upperBound
            } else {
                joined.append(span)
            }
        }
    }

    private static func uidWords(_ span: ClosedRange<Int64>) -> String {
        span.count == 1 ? "\(span.lowerBound)" : "\(span.lowerBound)-\(span.upperBound)"
    }

    /// `10m to 1h`, `up to 1h`, `more than 1h`
    private static func ageWords(_ span: ClosedRange<Int64>) -> String {
        // An end just beside a round number means that the round number is left out.
        func isBeside(_ end: Int64, _ other: Int64) -> Bool {
            PolicyDuration(milliseconds: end).description.hasSuffix("ms")
                && !PolicyDuration(milliseconds: other).description.hasSuffix("ms")
        }
        let (low, high) = (span.lowerBound, span.upperBound)
        let from =
            isBeside(low, low - 1)
            ? "more than \(PolicyDuration(milliseconds: low - 1))"
            : "\(PolicyDuration(milliseconds: low))"
        guard high < .max else { return isBeside(low, low - 1) ? from : from + " or more" }
        let isLess = isBeside(high, high + 1)
        let to = PolicyDuration(milliseconds: isLess ? high + 1 : high)
        if low == 0 { return (isLess ? "less than " : "up to ") + "\(to)" }
        return from + (isLess ? " to less than " : " to ") + "\(to)"
    }

    /// `2026-12-01 to 2027-01-31`, `from 2026-12-01`; a range without a beginning is `up to` its
    /// end.
    private func dateWords(_ span: ClosedRange<Int64>) -> String {
        let first = CalendarDay.text(of: Int32(clamping: span.lowerBound))
        let last = CalendarDay.text(of: Int32(clamping: span.upperBound))
        if span.upperBound == Int64(Int32.max) { return "from \(first)" }
        if span.lowerBound == days.joined().map(\.lowerBound).min() { return "up to \(last)" }
        return span.count == 1 ? first : "\(first) to \(last)"
    }

    /// `unknown` comes first, as it is not among the times that `outside` leaves out.
    private func timeWords(_ numbers: [Int], _ isUnknown: Bool) -> String {
        let own = WeekWords(spans(minutes, numbers))
        let others = WeekWords(spans(minutes, minutes.indices.filter { !numbers.contains($0) }))
        let words = others.count < own.count ? "outside " + others.words : own.words
        return [isUnknown ? "unknown" : "", words].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}

extension [String] {
    /// The first `most` of them, and the number of the others.
    fileprivate func first(_ most: Int) -> [String] {
        count <= most ? self : prefix(most) + ["\(count - most) more"]
    }
}

extension Universe.Subject {
    /// The subject whose fact tells whether this one is known; nil where it tells that itself.
    var whole: Self? {
        switch self {
        case .group: .groups
        case .flag: .flags
        default: nil
        }
    }
}

/// Minutes of the week as windows of days.
private struct WeekWords {
    /// For each window of the day, the days on which it starts.
    private var windows: [(start: Int, length: Int, days: UInt8)] = []

    init(_ spans: [ClosedRange<Int64>]) {
        var spans = spans.map { (start: Int($0.lowerBound), length: $0.count) }
        // The week is a circle: its last minute is followed by its first.
        if let first = spans.first, let last = spans.last, spans.count > 1, first.start == 0,
            last.start + last.length == MinuteOfWeek.count
        {
            spans.removeFirst()
            spans[spans.count - 1].length += first.length
        }
        for span in spans {
            let day = span.start / MinuteOfWeek.perDay
            let start = span.start % MinuteOfWeek.perDay
            // Several whole days become one window for each day.
            let isWhole = start == 0 && span.length % MinuteOfWeek.perDay == 0
            let count = isWhole ? span.length / MinuteOfWeek.perDay : 1
            let length = isWhole ? MinuteOfWeek.perDay : span.length
            for number in 0..<count { add(start, length, (day + number) % 7) }
        }
    }

    private mutating func add(_ start: Int, _ length: Int, _ day: Int) {
        let place = windows.firstIndex { $0.start == start && $0.length == length }
        guard let place else {
            windows.append((start, length, 1 << UInt8(day)))
            return
        }
        windows[place].days |= 1 << UInt8(day)
    }

    var count: Int { windows.count }

    var words: String { windows.map(Self.words).joined(separator: ", ") }

    private static func words(_ window: (start: Int, length: Int, days: UInt8)) -> String {
        let days = dayWords(window.days)
        let end = window.start + window.length
        if window.length == MinuteOfWeek.perDay, window.start == 0 { return days }
        let from = clock(window.start)
        guard window.length < MinuteOfWeek.perDay else {
            let later = (0..<7).filter { window.days & 1 << UInt8($0) != 0 }.map { day in
                name((day + end / MinuteOfWeek.perDay) % 7)
            }
            return "from \(days) \(from) to \(later.joined(separator: ", ")) \(clock(end))"
        }
        let isLastMinute = end == MinuteOfWeek.perDay
        let to = isLastMinute ? "24:00" : clock(end)
        return (window.days == WeekWindow.everyDay ? "" : days + " ") + "\(from)-\(to)"
    }

    private static func clock(_ minute: Int) -> String {
        func two(_ number: Int) -> String { (number < 10 ? "0" : "") + "\(number)" }
        let ofDay = minute % MinuteOfWeek.perDay
        return two(ofDay / 60) + ":" + two(ofDay % 60)
    }

    private static func name(_ day: Int) -> String { MinuteOfWeek.days[day] }

    /// `mon-fri`, `mon, wed`
    private static func dayWords(_ days: UInt8) -> String {
        let own = (0..<7).filter { days & 1 << UInt8($0) != 0 }
        guard let first = own.first, let last = own.last else { return "" }
        if own.count > 2, last - first == own.count - 1 { return "\(name(first))-\(name(last))" }
        return own.map(name).joined(separator: ", ")
    }
}
