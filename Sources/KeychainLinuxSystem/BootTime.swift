// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A moment, by the time since boot, sleep included: the clock of processes' start times.
///
/// One word. A `ContinuousClock.Instant` is the same moment, but the standard library keeps its layout to
/// itself, so that each copy is a call; a read looks at this clock some ten times.
package struct BootTime: Comparable, Sendable {
    package let nanoseconds: UInt64

    package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

    package static var now: BootTime {
        var time = timespec()
        // Safe: the structure is this function's own.
        unsafe clock_gettime(CLOCK_BOOTTIME, &time)
        return BootTime(nanoseconds: UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec))
    }

    package static func + (moment: BootTime, time: Duration) -> BootTime {
        let (sum, isPast) = moment.nanoseconds.addingReportingOverflow(time.wholeNanoseconds)
        return BootTime(nanoseconds: isPast ? .max : sum)
    }

    package static func < (one: BootTime, other: BootTime) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    /// Nanoseconds from an earlier moment; zero from a later one.
    package func nanoseconds(since earlier: BootTime) -> UInt64 {
        earlier < self ? nanoseconds &- earlier.nanoseconds : 0
    }
}

extension Duration {
    /// Zero for a negative time, and at most 584 years.
    package var wholeNanoseconds: UInt64 {
        let inNanosecond: UInt64 = 1_000_000_000
        let parts = UInt128(clamping: attoseconds)
        let high = UInt64(truncatingIfNeeded: parts >> 64)
        guard high < inNanosecond else { return .max }
        // Safe: the quotient fits, as the high word is less than the divisor.
        return inNanosecond.dividingFullWidth((high, UInt64(truncatingIfNeeded: parts))).quotient
    }
}
