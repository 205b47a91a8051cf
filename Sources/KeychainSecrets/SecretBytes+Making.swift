// SPDX-License-Identifier: Apache-2.0

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

    /// A part of this secret, as a secret of its own.
    package borrowing func part(_ range: Range<Int>) -> SecretBytes {
        withBytes { SecretBytes(copying: $0.extracting(range)) }
    }

    package borrowing func copy() -> SecretBytes { part(0..<count) }

    /// This secret with another behind it.
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
    /// Legitimate in two places: the `kSecValueData` that an application asked for, and what the
    /// command line prints because its user said so.
    package borrowing func releasedFromLockedMemory() -> [UInt8] {
        // Safe: the bytes are borrowed for the closure, and copied in it.
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
    }
}

/// A secret that several owners share: wiped when the last of them lets it go.
package final class HeldSecret: Sendable {
    package let bytes: SecretBytes
    package init(_ bytes: consuming SecretBytes) { self.bytes = bytes }
}

/// What the kernel allows this process to lock.
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
