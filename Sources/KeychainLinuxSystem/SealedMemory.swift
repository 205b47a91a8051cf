// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
package import KeychainSecrets

/// Bytes in memory with a descriptor and no name, which can't be changed any more: they can be handed
/// to another process.
package enum SealedMemory {
    package static func make(
        _ name: String, contents: borrowing SecretBytes
    ) throws(SystemError) -> Descriptor {
        // Safe: reads the name.
        let number = unsafe kc_memory_make(name)
        guard number >= 0 else { throw .system(errno) }
        let memory = Descriptor(owning: number)
        let count = contents.withBytes { bytes in
            // Safe: writes the borrowed bytes.
            unsafe bytes.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
        }
        guard count == contents.count, kc_memory_seal(number) == 0 else { throw .system(errno) }
        return memory
    }

    /// The same for bytes that are no secret.
    package static func make(_ name: String, bytes: [UInt8]) throws(SystemError) -> Descriptor {
        // Safe: reads the name.
        let number = unsafe kc_memory_make(name)
        guard number >= 0 else { throw .system(errno) }
        let memory = Descriptor(owning: number)
        var rest = bytes[...]
        while !rest.isEmpty {
            // Safe: writes the array's own bytes.
            let count = unsafe rest.withUnsafeBytes {
                unsafe write(number, $0.baseAddress, $0.count)
            }
            guard count > 0 else { throw .system(errno) }
            rest = rest.dropFirst(count)
        }
        guard kc_memory_seal(number) == 0 else { throw .system(errno) }
        return memory
    }

    /// nil for a descriptor that `make` did not make, or that has more bytes than `limit`.
    package static func bytes(in memory: Descriptor, limit: Int) -> [UInt8]? {
        var status = stat()
        // Safe: the structure is this function's own.
        guard kc_memory_is_sealed(memory.number) == 1, unsafe fstat(memory.number, &status) == 0,
            status.st_size <= limit
        else { return nil }
        var bytes = [UInt8](repeating: 0, count: status.st_size)
        var filled = 0
        while filled < bytes.count {
            // Safe: the rest of the array, and not a byte more.
            let count = unsafe bytes.withUnsafeMutableBytes {
                unsafe pread(
                    memory.number, $0.baseAddress! + filled, $0.count - filled, off_t(filled))
            }
            guard count > 0 else { return nil }
            filled += count
        }
        return bytes
    }

    /// nil for a descriptor that `make` did not make with that many bytes.
    package static func read(_ memory: Descriptor, count: Int) -> SecretBytes? {
        var status = stat()
        // Safe: the structure is this function's own.
        guard kc_memory_is_sealed(memory.number) == 1, unsafe fstat(memory.number, &status) == 0,
            status.st_size == count
        else { return nil }
        var length = 0
        let bytes = SecretBytes(count: count) { (span: inout MutableRawSpan) in
            // Safe: reads at most the span's length.
            length = unsafe span.withUnsafeMutableBytes {
                unsafe pread(memory.number, $0.baseAddress, $0.count, 0)
            }
        }
        return length == count ? .some(bytes) : nil
    }
}
