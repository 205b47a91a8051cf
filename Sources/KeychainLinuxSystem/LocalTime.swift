// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// The wall clock as people here read it.
package struct LocalTime: Sendable, Hashable {
    /// Days since 1970-01-01.
    package let day: Int32
    package let hour: Int
    package let minute: Int

    package static var now: LocalTime {
        var seconds = time(nil)
        var parts = unsafe tm()
        // Safe: both structures are this function's own.
        _ = unsafe localtime_r(&seconds, &parts)
        // The same calendar date as if it were in Greenwich.
        var date = unsafe tm()
        unsafe date.tm_year = parts.tm_year
        unsafe date.tm_mon = parts.tm_mon
        unsafe date.tm_mday = parts.tm_mday
        let days = unsafe timegm(&date) / 86_400
        return unsafe LocalTime(
            day: Int32(clamping: days), hour: Int(parts.tm_hour), minute: Int(parts.tm_min))
    }
}
