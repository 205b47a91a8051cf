// SPDX-License-Identifier: Apache-2.0
internal import CKeychainLinux
internal import Glibc
package import KeychainSecrets

/// A key in memory with a descriptor and no name, which can't be changed any more: it can be handed
/// to a process that stores it while its owner restarts.
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
