// SPDX-License-Identifier: Apache-2.0

/// Local wall time as minutes since Monday 00:00: 0..<10,080.
public struct MinuteOfWeek: Sendable, Hashable {
    public static let perDay = 1_440
    public static let count = 7 * perDay
    /// The days' names in policies.
    public static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    public let value: Int

    /// nil for a number outside the week.
    public init?(_ value: Int) {
        guard 0..<Self.count ~= value else { return nil }
        self.value = value
    }

    /// Monday is 0. nil outside the week.
    public init?(day: Int, hour: Int, minute: Int) {
        guard 0..<7 ~= day, 0..<24 ~= hour, 0..<60 ~= minute else { return nil }
        value = day * Self.perDay + hour * 60 + minute
    }
}

/// A window of the day, on the days of the week on which it starts. It is half-open; a window that
/// ends before it starts runs past midnight.
public struct WeekWindow: Sendable, Hashable {
    public static let everyDay: UInt8 = 0x7F
    /// Bit 0 is Monday.
    public let days: UInt8
    /// Minutes of the day: `start` 0..<1,440, `end` 0...1,440.
    public let start: Int
    public let end: Int

    /// nil when an end is outside the day, both ends are equal, or no day is named.
    public init?(days: UInt8 = everyDay, from start: Int, to end: Int) {
        guard days != 0, days <= Self.everyDay, start != end,
            0..<MinuteOfWeek.perDay ~= start, 0...MinuteOfWeek.perDay ~= end
        else { return nil }
        self.days = days
        self.start = start
        self.end = end
    }

    /// The whole of each day.
    public init?(days: UInt8) { self.init(days: days, from: 0, to: MinuteOfWeek.perDay) }

    public func contains(_ minute: MinuteOfWeek) -> Bool {
        let length = end > start ? end - start : end + MinuteOfWeek.perDay - start
        return (0..<7).contains { day in
            guard days & (1 << UInt8(day)) != 0 else { return false }
            let since = minute.value - day * MinuteOfWeek.perDay - start
            return (since + MinuteOfWeek.count) % MinuteOfWeek.count < length
        }
    }

    /// The minutes of the week at which the window begins or has ended.
    package var edges: [Int] {
        (0..<7).flatMap { day in
            [start, end, end + MinuteOfWeek.perDay].map {
                (day * MinuteOfWeek.perDay + $0) % MinuteOfWeek.count
            }
        }
    }
}
