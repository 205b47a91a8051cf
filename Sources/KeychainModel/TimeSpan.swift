// SPDX-License-Identifier: Apache-2.0

/// Whole seconds as people write them: 90s, 15m, 8h, 1d.
public struct TimeSpan: Sendable, Equatable {
    public let seconds: UInt32

    private static let units: [(letter: Character, seconds: UInt32)] = [
        ("d", 86400), ("h", 3600), ("m", 60), ("s", 1),
    ]

    public init(seconds: UInt32) { self.seconds = seconds }

    /// nil for other words, and for no time at all.
    public init?(_ text: String) {
        guard let unit = Self.units.first(where: { $0.letter == text.last }),
            text.dropLast().allSatisfy({ $0.isASCII && $0.isNumber }),
            let number = UInt32(text.dropLast()), number > 0
        else { return nil }
        let (seconds, isTooLong) = number.multipliedReportingOverflow(by: unit.seconds)
        guard !isTooLong else { return nil }
        self.seconds = seconds
    }
}

extension TimeSpan: CustomStringConvertible {
    /// In the largest unit that leaves nothing over.
    public var description: String {
        let unit = Self.units.first { seconds % $0.seconds == 0 } ?? ("s", 1)
        return "\(seconds / unit.seconds)\(unit.letter)"
    }
}
