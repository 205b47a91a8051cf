// SPDX-License-Identifier: Apache-2.0

/// Holds a key or a plaintext in locked, guarded memory that no core dump contains, and wipes it at
/// the end of its life. The only type a secret may live in.
///
/// Lengths are bytes. An empty secret is legal.
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let slot: SecretSlot
    /// Where the secret begins in its slot, which is wiped whole.
    private var start = 0
    package private(set) var count: Int

    /// A secret of `count` bytes, zero until `write` fills them.
    package init<E: Error>(
        count: Int, _ write: (inout MutableRawSpan) throws(E) -> Void
    ) throws(E) {
        precondition(count >= 0)
        let slot: SecretSlot
        do {
            slot = try SecretArena.slot(holding: count)
        } catch {
            // Without memory for a key nothing can go on, and nothing may go on in clear.
            fatalError("no memory for a secret")
        }
        // Safe: the slot has at least `count` bytes and is this value's alone.
        var span = unsafe MutableRawSpan(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: slot.address, count: count))
        do {
            try write(&span)
        } catch {
            SecretArena.release(slot)
            throw error
        }
        self.slot = slot
        self.count = count
    }

    deinit { SecretArena.release(slot) }

    /// The bytes, for as long as the closure runs.
    package borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        // Safe: the slot has room for `count` bytes behind `start` and is not released before
        // `self`, which is borrowed here.
        try body(unsafe RawSpan(_unsafeStart: slot.address + start, byteCount: count))
    }

    /// For filling a secret whose content arrives piece by piece.
    package mutating func withMutableBytes<R, E: Error>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        // Safe: `self` is borrowed exclusively for as long as the span lives.
        var span = unsafe MutableRawSpan(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: slot.address + start, count: count))
        return try body(&span)
    }

    /// This secret without what is before and behind the range, in the same memory.
    package consuming func narrowed(to range: Range<Int>) -> SecretBytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        start += range.lowerBound
        count = range.count
        return self
    }
}
