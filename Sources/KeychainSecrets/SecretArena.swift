// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A place in locked memory that one secret occupies until it is released.
@safe struct SecretSlot: @unchecked Sendable {
    let address: UnsafeMutableRawPointer
    let capacity: Int
    /// The free list to which the slot returns; nil when the memory is the secret's own.
    let home: Home?

    struct Home {
        let shelf: UInt8
        let sizeClass: UInt8
    }
}

/// Hands out slots of a few guarded, locked, no-dump arenas, so that holding a secret costs a list
/// operation instead of the system calls of a `sodium_malloc` of its own.
///
/// A free slot is always zero. Secrets larger than the largest slot get guarded memory of their
/// own.
///
/// Threads are spread over several shelves of free slots, since each request takes and returns a
/// hundred. A slot returns to the shelf that it came from, whichever thread releases it: so a shelf
/// never has more slots than were once in use there at the same time, and a later thread reuses the
/// slots of one that has ended.
enum SecretArena {
    /// Bytes of each slot, smallest first.
    static let sizes = [64, 256, 1024, 4096]
    private static let arenaBytes = 16 * 1024
    /// Two to this power is the number of shelves.
    private static let shelfCountBits = 3

    @safe private struct Shelf: @unchecked Sendable {
        // Safe: an empty list holds no address.
        var free: [[UnsafeMutableRawPointer]] = unsafe Array(repeating: [], count: sizes.count)
        /// The number of slots of each size that the shelf has, free or in use.
        var made = Array(repeating: 0, count: sizes.count)
    }

    private static let ready: Bool = sodium_init() >= 0
    private static let shelves = InlineArray<8, ShortLock<Shelf>> { _ in ShortLock(Shelf()) }

    /// The shelf of the calling thread. Thread addresses lie a stack apart; multiplication spreads
    /// them.
    private static var ownShelf: Int {
        let thread = UInt64(pthread_self()) &* 0x9E37_79B9_7F4A_7C15
        return Int(thread >> UInt64(UInt64.bitWidth - shelfCountBits))
    }

    static func slot(holding count: Int) throws(SecretsError) -> SecretSlot {
        guard let sizeClass = sizes.firstIndex(where: { $0 >= count }) else {
            return try ownMemory(count)
        }
        let own = ownShelf
        // Safe: the free lists hold whole slots of live arenas, each once, and the shelf's lock is
        // held.
        let taken: UnsafeMutableRawPointer? = unsafe shelves[own].withLock { shelf in
            if unsafe shelf.free[sizeClass].isEmpty { refill(&shelf, sizeClass) }
            return unsafe shelf.free[sizeClass].popLast()
        }
        guard let address = unsafe taken else { throw ready ? .outOfMemory : .libraryUnavailable }
        return unsafe SecretSlot(
            address: address, capacity: sizes[sizeClass],
            home: SecretSlot.Home(shelf: UInt8(own), sizeClass: UInt8(sizeClass)))
    }

    static func release(_ slot: SecretSlot) {
        // Safe: the slot's owner is being destroyed, nothing else has its address.
        guard let home = slot.home else {
            unsafe sodium_free(slot.address)  // wipes first
            return
        }
        unsafe sodium_memzero(slot.address, slot.capacity)
        shelves[Int(home.shelf)].withLock { shelf in
            unsafe shelf.free[Int(home.sizeClass)].append(slot.address)
        }
    }

    /// The number of slots of one size on all shelves, free or in use.
    static func slotCount(ofSize size: Int) -> Int {
        guard let sizeClass = sizes.firstIndex(of: size) else { return 0 }
        return shelves.indices.reduce(0) { sum, shelf in
            sum + shelves[shelf].withLock { $0.made[sizeClass] }
        }
    }

    private static func ownMemory(_ count: Int) throws(SecretsError) -> SecretSlot {
        guard ready else { throw .libraryUnavailable }
        // Safe: the library returns `count` bytes or nil, and all of them are written.
        guard let address = unsafe sodium_malloc(count) else { throw .outOfMemory }
        unsafe sodium_memzero(address, count)
        return unsafe SecretSlot(address: address, capacity: count, home: nil)
    }

    private static func refill(_ shelf: inout Shelf, _ sizeClass: Int) {
        // Never freed: an arena lives as long as the process and is reused.
        // Safe: once ready, the library returns `arenaBytes` bytes or nil; each size divides them, so that
        // slots lie within.
        guard ready, let arena = unsafe sodium_malloc(arenaBytes) else { return }
        unsafe sodium_memzero(arena, arenaBytes)
        shelf.made[sizeClass] += arenaBytes / sizes[sizeClass]
        // Capacity for all of them, so that returning a slot never allocates.
        unsafe shelf.free[sizeClass].reserveCapacity(shelf.made[sizeClass])
        for offset in stride(from: 0, to: arenaBytes, by: sizes[sizeClass]) {
            unsafe shelf.free[sizeClass].append(arena + offset)
        }
    }
}

/// A lock for a few instructions that many threads run at once. A thread that finds it taken spins
/// briefly before it sleeps, and the lock is never handed to a sleeping thread.
///
/// `Synchronization.Mutex` hands itself to the sleeping thread: two threads that meet once go on
/// meeting, at the price of a system call and a context switch each time.
///
/// The value is beside the mutex, in memory of its own: the lock alone ensures exclusive access,
/// without a second check by the runtime.
@safe @usableFromInline
package struct ShortLock<Value>: ~Copyable, @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    @usableFromInline
    let value: UnsafeMutablePointer<Value>

    package init(_ value: Value) {
        // Safe: the memory is this lock's alone, and stays where it is until the lock ends.
        unsafe self.value = .allocate(capacity: 1)
        unsafe self.value.initialize(to: value)
        unsafe mutex = .allocate(capacity: 1)
        var kind = pthread_mutexattr_t()
        unsafe pthread_mutexattr_init(&kind)
        unsafe pthread_mutexattr_settype(&kind, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
        unsafe pthread_mutex_init(mutex, &kind)
        unsafe pthread_mutexattr_destroy(&kind)
    }

    deinit {
        // Safe: the last owner is gone, so that no thread holds it.
        unsafe pthread_mutex_destroy(mutex)
        unsafe mutex.deallocate()
        unsafe value.deinitialize(count: 1)
        unsafe value.deallocate()
    }

    /// Inlined into other modules: the work under the lock takes less time than a call through
    /// generic metadata.
    @inlinable
    package func withLock<R: ~Copyable, E: Error>(
        _ body: (inout Value) throws(E) -> R
    ) throws(E) -> R {
        lock()
        defer { unlock() }
        // Safe: the lock is held, which no thread takes twice.
        return try unsafe body(&value.pointee)
    }

    @usableFromInline
    func lock() {
        // Safe: the mutex was made with the lock.
        unsafe pthread_mutex_lock(mutex)
    }

    @usableFromInline
    func unlock() {
        // Safe: as above.
        unsafe pthread_mutex_unlock(mutex)
    }
}
