// SPDX-License-Identifier: Apache-2.0

extension RawSpan {
    package func byte(_ offset: Int) -> UInt8 {
        precondition(offset >= 0 && offset < byteCount)
        // Safe: the offset was checked.
        return unsafe unsafeLoad(fromByteOffset: offset, as: UInt8.self)
    }
}

extension [UInt8] {
    /// The bytes where they lie, for as long as the closure runs.
    package func withSpan<R: ~Copyable, E: Error>(
        _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
        // Safe: the array is borrowed until the call has returned, and its span with it.
        try body(unsafe span.bytes)
    }
}
