// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Waits with a deadline.
package enum Wait {
    /// The event of readable bytes, or of the end of the input.
    package static let input = Int32(POLLIN)

    package static func isReady(_ events: Int32, _ descriptor: Int32) -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        // Safe: one element, which is this function's own.
        return unsafe poll(&item, 1, 0) > 0
    }

    /// Waits for the events or a hang-up; a nil deadline waits for ever. Once the deadline has
    /// passed this throws even where the descriptor is ready: a peer that sends byte by byte gets
    /// no more time.
    package static func until(
        _ events: Int32, _ descriptor: Int32, deadline: BootTime?
    ) throws(SystemError) {
        while true {
            var item = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            let milliseconds = try milliseconds(to: deadline)
            // Safe: one element, which is this function's own.
            let count = unsafe poll(&item, 1, milliseconds)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .system(errno) }
        }
    }

    /// Waits for events on either of two descriptors.
    package static func until(
        _ events: Int32, _ descriptor: Int32, or other: Int32, deadline: BootTime
    ) throws(SystemError) {
        while true {
            var items = [descriptor, other].map {
                pollfd(fd: $0, events: Int16(events), revents: 0)
            }
            let milliseconds = try milliseconds(to: deadline)
            // Safe: two elements, which are this function's own.
            let count = unsafe poll(&items, 2, milliseconds)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .system(errno) }
        }
    }

    /// The timeout for poll(2), which takes a negative one for no limit.
    private static func milliseconds(to deadline: BootTime?) throws(SystemError) -> Int32 {
        guard let deadline else { return -1 }
        let left = deadline.nanoseconds(since: .now)
        guard left > 0 else { throw .timedOut }
        return Int32(clamping: left / 1_000_000 &+ 1)
    }

    /// Sleeps, or returns early at a signal.
    package static func pause(milliseconds: UInt32) { _ = usleep(1000 * milliseconds) }
}
