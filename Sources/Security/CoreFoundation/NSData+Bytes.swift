// SPDX-License-Identifier: Apache-2.0
public import Foundation
internal import KeychainSecrets

/// As on Apple's systems. Without this, Foundation reads an `NSData` byte by byte when it makes a
/// `Data` of it, at 66 ns each.
extension NSData: @retroactive ContiguousBytes {
    public func withUnsafeBytes<R>(
        _ body: (UnsafeRawBufferPointer) throws -> R
    ) rethrows -> R {
        // Safe: the data is alive until the closure has returned, and has `length` bytes.
        try withExtendedLifetime(self) {
            try unsafe body(UnsafeRawBufferPointer(start: bytes, count: length))
        }
    }
}

/// Copies directly to the destination, as an intermediate `Data` would be one more copy of a
/// secret.
extension NSData {
    var copiedBytes: [UInt8] {
        // Safe: the data is alive and has `length` bytes.
        unsafe [UInt8](UnsafeRawBufferPointer(start: bytes, count: length))
    }

    /// A copy of the bytes in memory that is wiped. The caller's own data is not.
    var copiedSecret: SecretBytes {
        SecretBytes(count: length) { (span: inout MutableRawSpan) in
            // Safe: the span has `length` bytes, which is what is copied.
            unsafe span.withUnsafeMutableBytes { target in
                unsafe target.copyMemory(
                    from: UnsafeRawBufferPointer(start: bytes, count: length))
            }
        }
    }

    /// The one copy of a secret that is handed out, which belongs to the program from here on.
    static func released(_ secret: borrowing SecretBytes) -> NSData {
        secret.withBytes { secret in
            // Safe: the bytes are borrowed and copied.
            unsafe secret.withUnsafeBytes {
                unsafe NSData(bytes: $0.baseAddress, length: $0.count)
            }
        }
    }
}

extension [UInt8] {
    // Safe: the bytes are copied.
    var object: NSData { unsafe NSData(bytes: self, length: count) }
}
