// SPDX-License-Identifier: Apache-2.0
internal import KeychainPolicyEngine
internal import KeychainPolicyModel

extension PolicyCondition {
    /// The condition's ranges of numbers, ends included; nil for a condition that is not about a
    /// number.
    var numbers: (NumberDimension, [ClosedRange<Int64>])? {
        switch self {
        case .uid(let ranges):
            (.uid, ranges.map { Int64($0.lowerBound)...Int64($0.upperBound) })
        case .age(let field, let range):
            (
                NumberDimension(field),
                [range.lowerBound.milliseconds...range.upperBound.milliseconds]
            )
        case .date(let days): (.date, [Int64(days.lowerBound)...Int64(days.upperBound)])
        case .time(let windows, let outside): (.time, Self.minutes(windows, outside))
        default: nil
        }
    }

    /// The minutes of the week that the condition matches; only the ends of windows matter.
    private static func minutes(_ windows: [WeekWindow], _ outside: Bool) -> [ClosedRange<Int64>] {
        let ends = Set(windows.flatMap(\.edges)).union([0]).sorted()
        return zip(ends, ends.dropFirst() + [MinuteOfWeek.count]).compactMap { start, end in
            guard let first = MinuteOfWeek(start) else { return nil }
            let inside = windows.contains { $0.contains(first) }
            return inside != outside ? Int64(start)...Int64(end) - 1 : nil
        }
    }
}

/// The first values of the atoms of one dimension, ascending.
struct Breakpoints {
    private var points: [Int64]

    init(_ ranges: [ClosedRange<Int64>]) {
        var points: Set<Int64> = []
        for range in ranges {
            points.insert(range.lowerBound)
            if range.upperBound < .max { points.insert(range.upperBound + 1) }
        }
        self.points = points.sorted()
    }

    var count: Int { points.count }
    var words: [UInt32] {
        points.flatMap { point in
            let bits = UInt64(bitPattern: point)
            return [UInt32(truncatingIfNeeded: bits), UInt32(truncatingIfNeeded: bits >> 32)]
        }
    }

    /// The atom of a value: the number of breakpoints that are not above it.
    func atom(of value: Int64) -> UInt32 {
        var low = 0
        var high = points.count
        while low < high {
            let middle = (low + high) / 2
            if points[middle] <= value { low = middle + 1 } else { high = middle }
        }
        return UInt32(low)
    }
}
