// SPDX-License-Identifier: Apache-2.0
internal import Foundation

/// A moment: ISO 8601, or how long ago it was.
struct AuditTime {
    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]

    let date: Date

    /// A day, or a time of day, to fractions of a second, with or without a zone. Without one it is
    /// UTC, as the records are.
    init?(_ text: String) {
        // Foundation's styles pass over what they don't know behind what they do.
        let shape =
            /\d{4}-[01]\d-[0-3]\d(?<time>T[0-2]\d:[0-5]\d:\d\d(?<part>\.\d{1,9})?(?<zone>Z|[+-]\d\d:?\d\d)?)?/
        guard let found = try? shape.wholeMatch(in: text)?.output else { return nil }
        var style = Date.ISO8601FormatStyle().year().month().day()
        if found.time != nil { style = style.time(includingFractionalSeconds: found.part != nil) }
        if found.zone != nil { style = style.timeZone(separator: .omitted) }
        guard let date = try? style.parse(text) else { return nil }
        self.date = date
    }

    /// `90s`, `30m`, `1h` or `7d` before `now`, else as above.
    init?(_ text: String, before now: Date) {
        if let unit = text.last.flatMap({ Self.units[$0] }) {
            guard let number = UInt32(text.dropLast()) else { return nil }
            date = now.addingTimeInterval(-Double(number) * unit)
        } else if let time = AuditTime(text) {
            self = time
        } else {
            return nil
        }
    }
}
