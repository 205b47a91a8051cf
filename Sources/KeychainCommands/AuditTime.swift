// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// A moment: ISO 8601, or how long ago it was.
package struct AuditTime {
    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86400]

    package let date: Date

    /// A day, or a time of day, to fractions of a second, with or without a zone. Without one it is
    /// UTC, as the records are.
    init?(_ text: String) {
        // Foundation's styles pass over what they don't know behind what they do.
        var rest = Substring(text)
        guard Self.take("9999-19-39", from: &rest) else { return nil }
        let hasTime = rest.first == "T"
        guard !hasTime || Self.take("T29:59:99", from: &rest) else { return nil }
        let hasPart = hasTime && rest.first == "."
        if hasPart {
            let digits = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
            guard (1...9).contains(digits.count) else { return nil }
            rest = rest[digits.endIndex...]
        }
        let hasZone = hasTime && !rest.isEmpty
        if hasZone {
            guard
                rest == "Z"
                    || ["+99:99", "+9999", "-99:99", "-9999"].contains(where: {
                        Self.isWhole(rest, $0)
                    })
            else { return nil }
            rest = ""
        }
        guard rest.isEmpty else { return nil }
        var style = Date.ISO8601FormatStyle().year().month().day()
        if hasTime { style = style.time(includingFractionalSeconds: hasPart) }
        if hasZone { style = style.timeZone(separator: .omitted) }
        guard let date = try? style.parse(text) else { return nil }
        self.date = date
    }

    /// Whether the text begins as the pattern says, where a digit is that or a smaller one; takes
    /// that away.
    private static func take(_ pattern: String, from text: inout Substring) -> Bool {
        let part = text.prefix(pattern.count)
        guard isWhole(part, pattern) else { return false }
        text = text[part.endIndex...]
        return true
    }

    private static func isWhole(_ text: Substring, _ pattern: String) -> Bool {
        text.utf8.count == pattern.utf8.count
            && zip(text.utf8, pattern.utf8).allSatisfy { byte, wanted in
                let zero = UInt8(ascii: "0")
                let isDigit = (zero...UInt8(ascii: "9")).contains(wanted)
                return isDigit ? (zero...wanted).contains(byte) : byte == wanted
            }
    }

    /// `90s`, `30m`, `1h` or `7d` before `now`, else as above.
    package init?(_ text: String, before now: Date) {
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
