// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A lock with a condition variable: threads can wait until the guarded state has changed.
@safe package final class Condition: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        // Safe: both have a fixed address until `deinit`.
        unsafe mutex = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        unsafe pthread_condattr_init(&attributes)
        // The monotonic clock, as the wall clock may be set while a thread waits.
        unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        unsafe pthread_cond_init(condition, &attributes)
        unsafe pthread_condattr_destroy(&attributes)
    }

    deinit {
        // Safe: no thread waits for an object without a reference.
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(mutex)
        unsafe condition.deallocate()
        unsafe mutex.deallocate()
    }

    package func lock() {
        // Safe: the address is that of `init`.
        unsafe pthread_mutex_lock(mutex)
    }

    package func unlock() {
        // Safe: as above.
        unsafe pthread_mutex_unlock(mutex)
    }

    package func broadcast() {
        // Safe: as above.
        unsafe pthread_cond_broadcast(condition)
    }

    /// Wakes one thread, for cases where all waiting threads would do the same.
    package func signal() {
        // Safe: as above.
        unsafe pthread_cond_signal(condition)
    }

    /// Releases the lock while it waits. May return early; returns false once the deadline has
    /// passed.
    package func wait(until deadline: ContinuousClock.Instant) -> Bool {
        let left = ContinuousClock.now.duration(to: deadline).components
        guard left.seconds >= 0, left.attoseconds >= 0 else { return false }
        var end = timespec()
        // Safe: the structure is this function's own.
        unsafe clock_gettime(CLOCK_MONOTONIC, &end)
        let nanoseconds = end.tv_nsec + Int(left.attoseconds / 1_000_000_000)
        end.tv_sec += Int(left.seconds) + nanoseconds / 1_000_000_000
        end.tv_nsec = nanoseconds % 1_000_000_000
        return unsafe pthread_cond_timedwait(condition, mutex, &end) == 0
    }
}
