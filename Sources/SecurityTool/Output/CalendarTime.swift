// SPDX-License-Identifier: Apache-2.0

/// A moment in the civil calendar, in UTC.
struct CalendarTime {
    private static let daysFrom1970To2001 = 11_323

    let year: Int
    let month: Int
    let day: Int
    let secondOfDay: Int

    init(secondsSince2001 seconds: Double) {
        // Far beyond any item's date, and far from an overflow.
        let whole = Int(max(-1e11, min(1e11, seconds.rounded(.down))))
        let days = (whole >= 0 ? whole : whole - 86_399) / 86_400
        secondOfDay = whole - days * 86_400
        // Eras of 400 years that begin on the first of March.
        let shifted = days + Self.daysFrom1970To2001 + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// `20200101000000Z`.
    var text: String { digits(year, 4) + digits(month, 2) + digits(day, 2) + time("") + "Z" }

    /// `2020-01-01T00:00:00Z`.
    var iso8601: String {
        "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))T\(time(":"))Z"
    }

    private func time(_ between: String) -> String {
        [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60].map { digits($0, 2) }
            .joined(separator: between)
    }

    private func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
    }
}
