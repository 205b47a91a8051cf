// SPDX-License-Identifier: Apache-2.0
internal import Foundation
internal import Secrets

/// Foundation makes a `Data` of an `NSData` byte by byte here (70 ns each), and leaves copies behind.
extension NSData {
    var copiedBytes: [UInt8] {
        // Safe: the data is alive and has `length` bytes.
        unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// The bytes in memory that is wiped; what the caller holds is the caller's.
    var copiedSecret: SecretBytes {
        SecretBytes(count: length) { (span: inout MutableRawSpan) in
            // Safe: the span has `length` bytes, which is what is copied.
            unsafe span.withUnsafeMutableBytes { target in
                unsafe target.copyMemory(
                    from: UnsafeRawBufferPointer(start: bytes, count: length))
            }
        }
    }
}
