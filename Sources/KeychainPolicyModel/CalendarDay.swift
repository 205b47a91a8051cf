// SPDX-License-Identifier: Apache-2.0

/// Days of the calendar, counted from 1970-01-01.
package enum CalendarDay {
    /// The years that policies may name: a year outside is a mistake, or was meant as no bound.
    package static let years = 2000...2999

    /// The day of `YYYY-MM-DD`; nil when there is no such day.
    package static func number(of text: some StringProtocol) -> Int32? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = zip(parts, [4, 2, 2]).compactMap { part, length in
            part.utf8.count == length && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
                ? Int(part) : nil
        }
        guard parts.count == 3, numbers.count == 3, 1...12 ~= numbers[1], numbers[2] >= 1 else {
            return nil
        }
        let (year, month) = (numbers[0], numbers[1])
        let number = days(year, month, numbers[2])
        let after = month == 12 ? days(year + 1, 1, 1) : days(year, month + 1, 1)
        return number < after ? Int32(number) : nil
    }

    /// Howard Hinnant's `days_from_civil`.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Howard Hinnant's `civil_from_days`.
    private static func parts(of day: Int32) -> (year: Int, month: Int, day: Int) {
        let shifted = Int(day) + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let leaps = dayOfEra / 1_460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leaps) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let place = (5 * dayOfYear + 2) / 153
        let month = place < 10 ? place + 3 : place - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * place + 2) / 5 + 1)
    }

    package static func year(of day: Int32) -> Int { parts(of: day).year }

    /// `2026-01-31`
    package static func text(of day: Int32) -> String {
        func padded(_ number: Int, _ length: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(length - digits.utf8.count, 0)) + digits
        }
        let (year, month, day) = parts(of: day)
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }

    /// Monday is 0; the first of January 1970 was a Thursday.
    package static func weekday(of day: Int32) -> Int { ((Int(day) + 3) % 7 + 7) % 7 }
}
