// SPDX-License-Identifier: Apache-2.0

/// A length of time as policies write it: `500ms`, `15m`, `12h`, `90d`.
public struct PolicyDuration: Sendable, Hashable, Comparable {
    public let milliseconds: Int64

    public init(milliseconds: Int64) { self.milliseconds = milliseconds }
    public static let zero = Self(milliseconds: 0)
    public static func minutes(_ count: Int64) -> Self { Self(milliseconds: count * 60_000) }
    public static func hours(_ count: Int64) -> Self { Self(milliseconds: count * 3_600_000) }

    public static func < (a: Self, b: Self) -> Bool { a.milliseconds < b.milliseconds }

    private static let units: [(name: String, length: Int64)] = [
        ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
    ]

    /// Digits and a unit; nil when it is anything else, or too long to count.
    public init?(_ written: String) {
        let digits = written.utf8.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        let unit = written.dropFirst(digits.count)
        guard let count = Int64(String(Substring(digits))),
            let length = Self.units.first(where: { $0.name == unit })?.length
        else { return nil }
        let (product, overflow) = count.multipliedReportingOverflow(by: length)
        guard !overflow else { return nil }
        milliseconds = product
    }
}

extension PolicyDuration: CustomStringConvertible {
    /// In the largest unit that divides it.
    public var description: String {
        for unit in Self.units where milliseconds % unit.length == 0 {
            return "\(milliseconds / unit.length)\(unit.name)"
        }
        return "\(milliseconds)ms"
    }
}

extension PolicyDuration {
    package init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let whole = seconds.multipliedReportingOverflow(by: 1000)
        self.init(
            milliseconds: whole.overflow
                ? .max : whole.partialValue + attoseconds / 1_000_000_000_000_000)
    }
}
