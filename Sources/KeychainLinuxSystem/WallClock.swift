// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The machine's clock, which may be set at any moment.
package enum WallClock {
    /// Seconds from 1970 to 2001, where the dates of items begin.
    private static let until2001: Double = 978_307_200

    /// Since 1970.
    package static var now: Duration {
        var time = timespec()
        // Safe: the structure is this function's own.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    package static var secondsSince2001: Double {
        var time = timespec()
        // Safe: as above.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) - until2001 + Double(time.tv_nsec) / 1e9
    }
}
