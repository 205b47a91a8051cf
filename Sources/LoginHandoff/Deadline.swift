// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A moment that a descriptor is waited for until, however often it lets itself be interrupted.
struct Deadline {
    private let end: ContinuousClock.Instant

    init(in duration: Duration) { end = ContinuousClock.now + duration }

    func wait(for events: Int32, on descriptor: Int32) throws(LoginHandoffError) {
        while true {
            let left = ContinuousClock.now.duration(to: end)
            guard left > .zero else { throw .timedOut }
            let (seconds, fraction) = left.components
            // Rounded up: a wait of nothing would spin.
            let milliseconds = Int32(
                clamping: seconds * 1000 + fraction / 1_000_000_000_000_000 + 1)
            // Safe: one of the constants of poll(2).
            var item = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // Safe: one item, and it is ours.
            let count = unsafe poll(&item, 1, milliseconds)
            if count > 0 { return }
            if count < 0, errno != EINTR { throw .system(errno) }
        }
    }
}
