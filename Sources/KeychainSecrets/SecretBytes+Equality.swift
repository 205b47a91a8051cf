// SPDX-License-Identifier: Apache-2.0

extension SecretBytes {
    /// Whether both hold the same bytes, in time that depends on their lengths only.
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
