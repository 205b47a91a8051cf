// SPDX-License-Identifier: Apache-2.0

extension SecretBytes {
    /// Takes as long for secrets of one length whatever they hold.
    package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
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
