// SPDX-License-Identifier: Apache-2.0
internal import Synchronization

/// A place in locked memory that one secret occupies until it is released.
@safe struct SecretSlot: @unchecked Sendable {
    let address: UnsafeMutableRawPointer
    let capacity: Int
    /// The free list the slot goes back to; nil when the memory is the secret's own.
    let sizeClass: Int?
}

/// Hands out slots of a few guarded, locked, no-dump arenas, so that holding a secret costs a list
/// operation instead of the system calls of a `sodium_malloc` of its own.
///
/// A slot is zero whenever it is free. Secrets larger than the largest slot get guarded memory of
/// their own.
enum SecretArena {
    /// Bytes of each slot, smallest first.
    static let sizes = [64, 256, 1024, 4096]
    private static let arenaBytes = 64 * 1024

    @safe private struct FreeLists: @unchecked Sendable {
        var free: [[UnsafeMutableRawPointer]] = unsafe Array(repeating: [], count: sizes.count)
    }

    private static let ready: Bool = sodium_init() >= 0
    private static let lists = Mutex(FreeLists())

    static func slot(holding count: Int) throws(SecretsError) -> SecretSlot {
        guard ready else { throw .libraryUnavailable }
        guard let sizeClass = sizes.firstIndex(where: { $0 >= count }) else {
            return try ownMemory(count)
        }
        let taken: UnsafeMutableRawPointer? = unsafe lists.withLock { lists in
            if unsafe lists.free[sizeClass].isEmpty { refill(&lists, sizeClass) }
            return unsafe lists.free[sizeClass].popLast()
        }
        guard let address = unsafe taken else { throw .outOfMemory }
        return unsafe SecretSlot(
            address: address, capacity: sizes[sizeClass], sizeClass: sizeClass)
    }

    static func release(_ slot: SecretSlot) {
        // Safe: the slot's owner is being destroyed, nobody else has its address.
        guard let sizeClass = slot.sizeClass else {
            unsafe sodium_free(slot.address)  // wipes first
            return
        }
        unsafe sodium_memzero(slot.address, slot.capacity)
        lists.withLock { unsafe $0.free[sizeClass].append(slot.address) }
    }

    private static func ownMemory(_ count: Int) throws(SecretsError) -> SecretSlot {
        guard let address = unsafe sodium_malloc(count) else { throw .outOfMemory }
        unsafe sodium_memzero(address, count)
        return unsafe SecretSlot(address: address, capacity: count, sizeClass: nil)
    }

    private static func refill(_ lists: inout FreeLists, _ sizeClass: Int) {
        // Never given back: an arena lives as long as the process, its slots come and go.
        guard let arena = unsafe sodium_malloc(arenaBytes) else { return }
        unsafe sodium_memzero(arena, arenaBytes)
        for offset in stride(from: 0, to: arenaBytes, by: sizes[sizeClass]) {
            unsafe lists.free[sizeClass].append(arena + offset)
        }
    }
}
