// SPDX-License-Identifier: Apache-2.0

/// Holds a key or a plaintext in locked, guarded memory that no core dump contains, and wipes it at
/// the end of its life. Secrets may be in no other type.
///
/// Lengths are in bytes. An empty secret is valid.
@usableFromInline
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    private let slot: SecretSlot
    /// The start of the secret in its slot, which is wiped as a whole.
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
            // Without memory for a key the program can't go on, and must not go on with keys in
            // clear.
            fatalError("no memory for a secret")
        }
        self.count = count
    }

    deinit { SecretArena.release(slot) }

    /// The address of `count` bytes, which are not released before this value.
    @usableFromInline
    var address: UnsafeMutableRawPointer {
        // Safe: `start` lies within the slot.
        unsafe slot.address + start
    }

    /// Runs `body` with the bytes, which are valid only meanwhile.
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

    /// This secret reduced to the range, in the same memory.
    package consuming func narrowed(to range: Range<Int>) -> SecretBytes {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        start += range.lowerBound
        count = range.count
        return self
    }
}

extension SecretBytes {
    /// A fresh key or nonce from the system's random source.
    package init(random count: Int) {
        self.init(count: count) { (span: inout MutableRawSpan) in
            // Safe: fills exactly the span it borrows.
            unsafe span.withUnsafeMutableBytes { unsafe randombytes_buf($0.baseAddress!, $0.count) }
        }
    }

    /// A copy of bytes that arrived outside locked memory; their owner wipes them.
    package init(copying bytes: RawSpan) {
        self.init(count: bytes.byteCount) { (span: inout MutableRawSpan) in
            // Safe: both spans are borrowed here and have the same length.
            unsafe span.withUnsafeMutableBytes { target in
                unsafe bytes.withUnsafeBytes { source in unsafe target.copyMemory(from: source) }
            }
        }
    }

    package init(copying bytes: [UInt8]) {
        // Safe: the span ends with the call.
        self.init(copying: unsafe bytes.span.bytes)
    }

    /// A copy of a part of this secret.
    package borrowing func part(_ range: Range<Int>) -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(range)) }
    }

    package borrowing func copy() -> SecretBytes { part(0..<count) }

    /// This secret followed by another.
    package borrowing func appending(_ other: borrowing SecretBytes) -> SecretBytes {
        withBytes { first in
            other.withBytes { second in
                SecretBytes(count: first.byteCount + second.byteCount) {
                    (span: inout MutableRawSpan) in
                    // Safe: the target is as long as both sources together.
                    unsafe span.withUnsafeMutableBytes { target in
                        unsafe first.withUnsafeBytes { unsafe target.copyMemory(from: $0) }
                        unsafe second.withUnsafeBytes {
                            unsafe UnsafeMutableRawBufferPointer(
                                rebasing: target[first.byteCount...]
                            ).copyMemory(from: $0)
                        }
                    }
                }
            }
        }
    }

    /// Copies the secret into memory that is not wiped.
    ///
    /// Legitimate in two cases: the `kSecValueData` that an application asked for, and output of
    /// the command line that its user asked for.
    package borrowing func releasedFromLockedMemory() -> [UInt8] {
        // Safe: the bytes are borrowed for the closure, and copied in it.
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }
}

/// A secret that several owners share, wiped when the last reference ends.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes
    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// The memory that the kernel allows this process to lock.
package enum LockedMemory {
    /// Whether secrets are kept out of swap here. Where this is false they are still guarded,
    /// wiped and left out of core dumps.
    package static func isAvailable() -> Bool {
        let probe = 4096
        guard let page = unsafe sodium_malloc(probe) else { return false }
        // Safe: the page is this function's own.
        defer { unsafe sodium_free(page) }
        return unsafe sodium_mlock(page, probe) == 0
    }
}

/// For secrets that arrive piece by piece.
extension SecretBytes {
    /// This memory with `other`, which must not be longer, at its beginning.
    package consuming func beginning(with other: borrowing SecretBytes) -> SecretBytes {
        replace(at: 0, with: other, from: 0, count: other.count)
        return self
    }

    /// A longer copy, with zeros at its end.
    package borrowing func padded(to count: Int) -> SecretBytes {
        SecretBytes(count: count) { (_: inout MutableRawSpan) in }.beginning(with: self)
    }

    /// Moves a range to the beginning. Of all bytes up to the range's end only those of the range are left:
    /// the others are wiped. Bytes behind that end stay as they are.
    package mutating func moveToBeginning(_ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= count)
        let (begin, left) = (range.lowerBound, range.count)
        withMutableBytes { span in
            // Safe: all ranges lie within the range's end, which was checked above.
            unsafe span.withUnsafeMutableBytes { bytes in
                guard let first = bytes.baseAddress else { return }
                unsafe first.copyMemory(from: first + begin, byteCount: left)
                unsafe sodium_memzero(first + left, begin)
            }
        }
    }

    package mutating func replace(
        at start: Int, with other: borrowing SecretBytes, from: Int, count: Int
    ) {
        precondition(start + count <= self.count)
        other.withBytes { source in
            let piece = source.extracting(from..<from + count)
            withMutableBytes { target in
                // Safe: the range was checked above; two secrets never share memory.
                unsafe target.withUnsafeMutableBytes { target in
                    unsafe piece.withUnsafeBytes {
                        unsafe UnsafeMutableRawBufferPointer(
                            rebasing: target[start..<start + count]
                        ).copyMemory(from: $0)
                    }
                }
            }
        }
    }
}

extension SecretBytes {
    /// Whether both have the same bytes, in a time that depends only on their lengths.
    package borrowing func matches(_ other: borrowing SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withBytes { mine in
            other.withBytes { theirs in
                // Safe: both are borrowed and have the length that is given.
                unsafe mine.withUnsafeBytes { mine in
                    unsafe theirs.withUnsafeBytes { theirs in
                        unsafe mine.isEmpty
                            || sodium_memcmp(
                                mine.baseAddress!, theirs.baseAddress!, mine.count) == 0
                    }
                }
            }
        }
    }
}

extension RawSpan {
    package func byte(_ offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < byteCount)
        // Safe: the offset was checked.
        return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}

extension [UInt8] {
    /// Runs `body` with the bytes in place.
    package func withSpan<R: ~Copyable, E: Error>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        // Safe: the array is borrowed until the call has returned, and its span with it.
        try body(unsafe span.bytes)
    }

    /// Appends bytes where they lie, as Swift's own texts and arrays do, in one piece.
    @inlinable
    package mutating func append(piece: some Collection<UInt8>) {
        // Safe: the bytes are copied within the call.
        let isAppended: Void? = piece.withContiguousStorageIfAvailable {
            unsafe append(contentsOf: $0)
        }
        if isAppended == nil { append(contentsOf: piece) }
    }
}

/// For secrets that are made from other bytes.
extension SecretBytes {
    /// Replaces each byte by the result of `other`.
    package mutating func replace(_ other: (UInt8) -> UInt8) {
        withMutableBytes { target in
            // Safe: stays within the span's own bytes.
            unsafe target.withUnsafeMutableBytes { bytes in
                for index in bytes.indices { unsafe bytes[index] = other(bytes[index]) }
            }
        }
    }
}
