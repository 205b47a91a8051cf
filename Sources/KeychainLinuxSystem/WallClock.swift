// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The wall clock, which may be set at any moment.
package enum WallClock {
    /// Seconds from 1970 to 2001, the origin of items' dates.
    private static let until2001: Double = 978_307_200

    /// The time since 1970.
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

/// The wall clock in the local time zone.
package struct LocalTime: Sendable, Hashable {
    /// Days since 1970-01-01.
    package let day: Int32
    package let hour: Int
    package let minute: Int

    package static var now: LocalTime { LocalTime(at: time(nil)) }

    /// `seconds` counts from 1970.
    package init(at seconds: Int) {
        var seconds = seconds
        var parts = unsafe tm()
        // Safe: both structures are this function's own.
        _ = unsafe localtime_r(&seconds, &parts)
        // The number of the day for the same calendar date in UTC.
        var date = unsafe tm()
        unsafe date.tm_year = parts.tm_year
        unsafe date.tm_mon = parts.tm_mon
        unsafe date.tm_mday = parts.tm_mday
        let days = unsafe timegm(&date) / 86_400
        day = Int32(clamping: days)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
    }
}
