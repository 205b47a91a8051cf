// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyModel
internal import PolicySyntax

extension FileReader {
    static var days: [String] { MinuteOfWeek.days }

    /// Reads `{days, between}`, a list of such, or `{outside: …}`.
    mutating func time(_ node: YAMLNode) -> PolicyCondition? {
        if let outside = node["outside"] {
            guard mapping(node, "time", keys: ["outside"]) != nil else { return nil }
            return windows(outside).map { .time($0, outside: true) }
        }
        return windows(node).map { .time($0, outside: false) }
    }

    private mutating func windows(_ node: YAMLNode) -> [WeekWindow]? {
        let found = values(node, "time").compactMap { window($0) }
        return found.isEmpty ? nil : found
    }

    private mutating func window(_ node: YAMLNode) -> WeekWindow? {
        if let text = node.scalar { return between(text, node, days: WeekWindow.everyDay) }
        guard let keys = mapping(node, "a time window", keys: ["days", "between"]) else {
            return nil
        }
        let days = keys["days"].map { dayMask($0) } ?? WeekWindow.everyDay
        guard let days else { return nil }
        guard let node = keys["between"] else {
            if keys["days"] == nil {
                note(.empty, node, "a time window without \"days\" and \"between\"")
            }
            return WeekWindow(days: days)
        }
        return text(node, "between").flatMap { between($0, node, days: days) }
    }

    private mutating func dayMask(_ node: YAMLNode) -> UInt8? {
        let masks = texts(node, "days").compactMap { text, node -> UInt8? in
            let ends = text.split(separator: "-", omittingEmptySubsequences: false)
            let places = ends.compactMap { Self.days.firstIndex(of: String($0)) }
            guard places.count == ends.count, let first = places.first, let last = places.last,
                places.count <= 2
            else {
                let short = ends.map { String($0.lowercased().prefix(3)) }
                let near =
                    short.allSatisfy(Self.days.contains)
                    ? short.joined(separator: "-") : Suggestion.nearest(to: text, among: Self.days)
                note(
                    .unknownWord, node, "unknown day \"\(text)\"",
                    advice: near.map { "did you mean \"\($0)\"?" }
                        ?? "mon, tue, wed, thu, fri, sat, sun, or two joined by \"-\"")
                return nil
            }
            let count = (last - first + 7) % 7 + 1
            return (0..<count).reduce(0) { $0 | 1 << UInt8((first + $1) % 7) }
        }
        return masks.isEmpty ? nil : masks.reduce(0, |)
    }

    private mutating func between(_ text: String, _ node: YAMLNode, days: UInt8) -> WeekWindow? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        let minutes = ends.compactMap { Self.minuteOfDay(String($0), mayBeEnd: true) }
        guard ends.count == 2, minutes.count == 2 else {
            note(
                .badWindow, node, "\"\(text)\" is no window of time", advice: "HH:MM-HH:MM")
            return nil
        }
        if let window = WeekWindow(days: days, from: minutes[0], to: minutes[1]) { return window }
        let isEmpty = minutes[0] == minutes[1]
        note(
            .badWindow, node,
            isEmpty ? "a window whose ends are equal" : "\"\(text)\" is no window of time",
            advice: isEmpty ? "00:00-24:00 is the whole day" : "HH:MM-HH:MM")
        return nil
    }

    /// The minutes from midnight to `HH:MM`; 24:00 only where `mayBeEnd` is true.
    static func minuteOfDay(_ text: String, mayBeEnd: Bool = false) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }),
            let hour = number(String(parts[0])), let minute = number(String(parts[1])),
            minute < 60, hour < 24 || (mayBeEnd && hour == 24 && minute == 0)
        else { return nil }
        return Int(hour) * 60 + Int(minute)
    }
}
