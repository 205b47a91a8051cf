// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A lock for a few instructions that many threads do at once. A thread that meets another there
/// spins briefly before it sleeps, and the lock is never kept for a thread that sleeps.
///
/// `Synchronization.Mutex` is handed to the thread that sleeps: two threads that meet once go on
/// meeting, at the price of a system call and a switch of threads each time.
@usableFromInline
package final class ShortLock<Value>: @unchecked Sendable {
    @safe private struct Place {
        let mutex: UnsafeMutablePointer<pthread_mutex_t>
    }
    private let place: Place
    @usableFromInline
    var value: Value

    package init(_ value: Value) {
        self.value = value
        // Safe: the memory is this lock's alone, and stays where it is until the lock ends.
        let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        var kind = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&kind)
        unsafe pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        unsafe pthread_mutex_init(mutex, &kind)
        unsafe pthread_mutexattr_destroy(&kind)
        place = unsafe Place(mutex: mutex)
    }

    deinit {
        // Safe: the last owner is gone, so that no thread holds it.
        unsafe pthread_mutex_destroy(place.mutex)
        unsafe place.mutex.deallocate()
    }

    /// Inlined into other modules: what is done under the lock takes less than a call of it by types
    /// that are looked up.
    @inlinable
    package func withLock<R: ~Copyable, E: Error>(
        _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        lock()
        defer { unlock() }
        return try body(&value)
    }

    @usableFromInline
    func lock() {
        // Safe: the mutex was made with the lock.
        unsafe pthread_mutex_lock(place.mutex)
    }

    @usableFromInline
    func unlock() {
        // Safe: as above.
        unsafe pthread_mutex_unlock(place.mutex)
    }
}
