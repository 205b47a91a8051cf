// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Waiting with a deadline.
package enum Wait {
    /// That there is something to read, or an end.
    package static let input = Int32(POLLIN)

    package static func isReady(_ events: Int32, _ descriptor: Int32) -> Bool {
        var item = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        // Safe: one element, which is this function's own.
        return unsafe poll(&item, 1, 0) > 0
    }

    /// Until the events or a hang-up; nil deadline waits for ever. Once the deadline has passed
    /// this throws even where something is ready: a peer that drips gets no more time.
    package static func until(
        _ events: Int32, _ descriptor: Int32, deadline: ContinuousClock.Instant?
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

    /// The same for one of two.
    package static func until(
        _ events: Int32, _ descriptor: Int32, or other: Int32, deadline: ContinuousClock.Instant
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

    /// For poll(2), which waits for ever where it is given less than zero.
    private static func milliseconds(
        to deadline: ContinuousClock.Instant?
    ) throws(SystemError) -> Int32 {
        guard let deadline else { return -1 }
        let left = ContinuousClock.now.duration(to: deadline)
        guard left > .zero else { throw .timedOut }
        let parts = left.components
        return Int32(
            clamping: parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000 + 1)
    }

    /// For a short time, and less where a signal comes.
    package static func pause(milliseconds: UInt32) { _ = usleep(1000 * milliseconds) }
}
