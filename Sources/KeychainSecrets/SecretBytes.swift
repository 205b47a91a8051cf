// SPDX-License-Identifier: Apache-2.0

/// Holds a key or a plaintext in locked, guarded memory that no core dump contains, and wipes it at
/// the end of its life. The only type a secret may live in.
///
/// Lengths are bytes. An empty secret is legal.
@usableFromInline
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let slot: SecretSlot
    /// Where the secret begins in its slot, which is wiped whole.
    private var start = 0
    @usableFromInline
    package private(set) var count: Int

    /// A secret of `count` bytes, zero until `write` fills them.
    @inlinable
    package init<E: Error>(
        count: Int, _ write: (inout MutableRawSpan) throws(E) -> Void
    ) throws(E) {
        self.init(zeroed: count)
        try withMutableBytes(write)
    }

    @usableFromInline
    init(zeroed count: Int) {
        precondition(count >= 0)
        do {
            slot = try SecretArena.slot(holding: count)
        } catch {
            // Without memory for a key nothing can go on, and nothing may go on in clear.
            fatalError("no memory for a secret")
        }
        self.count = count
    }

    deinit { SecretArena.release(slot) }

    /// Room for `count` bytes, which is not released before this value.
    @usableFromInline
    var address: UnsafeMutableRawPointer {
        // Safe: `start` lies within the slot.
        unsafe slot.address + start
    }

    /// The bytes, for as long as the closure runs.
    @inlinable
    package borrowing func withBytes<R: ~Copyable, E: Error>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        // Safe: there is room for `count` bytes, and `self` is borrowed here.
        try body(unsafe RawSpan(_unsafeStart: address, byteCount: count))
    }

    /// For filling a secret whose content arrives piece by piece.
    @inlinable
    package mutating func withMutableBytes<R, E: Error>(
        _ body: (inout MutableRawSpan) throws(E) -> R
    ) throws(E) -> R {
        // Safe: `self` is borrowed exclusively for as long as the span lives.
        var span = unsafe MutableRawSpan(
            _unsafeBytes: UnsafeMutableRawBufferPointer(start: address, count: count))
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
