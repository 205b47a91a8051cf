// SPDX-License-Identifier: Apache-2.0
internal import CTSS2
internal import KeychainSecrets

/// The library's structures, from bytes as the TPM 2.0 specification (part 2) lays them out.
enum TPMTemplate {
    /// An ECC P-256 storage key, restricted decryption with AES-128 CFB; every TPM has these.
    static func storageKey() throws(TPMError) -> TPM2B_PUBLIC {
        let attributes: [UInt8] = [0x00, 0x03, 0x04, 0x72]
        return try publicPart(
            sized(
                [0x00, 0x23, 0x00, 0x0B] + attributes + [
                    0, 0,  // no policy
                    0x00, 0x06, 0x00, 0x80, 0x00, 0x43,  // AES, 128 bits, CFB
                    0x00, 0x10, 0x00, 0x03, 0x00, 0x10,  // no scheme, P-256, no derivation
                    0, 0, 0, 0,
                ]))
    }

    /// A key that was made elsewhere. With a policy nothing else opens it; no lock-out for guesses,
    /// since there is nothing to guess.
    static func sealed(_ policy: [UInt8]) throws(TPMError) -> TPM2B_PUBLIC {
        let opensUnasked: UInt8 = policy.isEmpty ? 0x40 : 0
        return try publicPart(
            sized(
                [0x00, 0x08, 0x00, 0x0B, 0x00, 0x00, 0x04, 0x12 | opensUnasked]
                    + sized(policy) + [0x00, 0x10, 0, 0]))
    }

    /// `TPM2B_SENSITIVE_CREATE` with the key as its data.
    static func sensitive(_ key: borrowing SecretBytes) -> SecretBytes {
        precondition(key.count <= 128)
        var whole = SecretBytes(count: MemoryLayout<TPM2B_SENSITIVE_CREATE>.size) {
            (_: inout MutableRawSpan) in
        }
        let count = UInt16(key.count)
        let start = MemoryLayout<TPM2B_SENSITIVE_CREATE>.offset(of: \.sensitive.data)!
        // Safe: the bytes are a number's of this function, and are copied.
        let length = unsafe withUnsafeBytes(of: count) { unsafe Array($0) }
        whole.replace(at: start, with: SecretBytes(copying: length), from: 0, count: 2)
        whole.replace(at: start + 2, with: key, from: 0, count: key.count)
        return whole
    }

    static func publicPart(_ bytes: [UInt8]) throws(TPMError) -> TPM2B_PUBLIC {
        var structure = TPM2B_PUBLIC()
        var offset = 0
        // Safe: the library reads at most `bytes` and writes the structure.
        guard unsafe Tss2_MU_TPM2B_PUBLIC_Unmarshal(bytes, bytes.count, &offset, &structure) == 0,
            offset == bytes.count
        else { throw .damaged }
        return structure
    }

    static func privatePart(_ bytes: [UInt8]) throws(TPMError) -> TPM2B_PRIVATE {
        var structure = TPM2B_PRIVATE()
        var offset = 0
        // Safe: as above.
        guard
            unsafe Tss2_MU_TPM2B_PRIVATE_Unmarshal(bytes, bytes.count, &offset, &structure) == 0,
            offset == bytes.count
        else { throw .damaged }
        return structure
    }

    static func bytes(of structure: TPM2B_PUBLIC) throws(TPMError) -> [UInt8] {
        var structure = structure
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PUBLIC>.size)
        var count = 0
        // Safe: the library writes at most the array's length.
        guard unsafe Tss2_MU_TPM2B_PUBLIC_Marshal(&structure, &bytes, bytes.count, &count) == 0
        else { throw .damaged }
        return Array(bytes.prefix(count))
    }

    static func bytes(of structure: TPM2B_PRIVATE) throws(TPMError) -> [UInt8] {
        var structure = structure
        var bytes = [UInt8](repeating: 0, count: MemoryLayout<TPM2B_PRIVATE>.size)
        var count = 0
        // Safe: as above.
        guard unsafe Tss2_MU_TPM2B_PRIVATE_Marshal(&structure, &bytes, bytes.count, &count) == 0
        else { throw .damaged }
        return Array(bytes.prefix(count))
    }

    private static func sized(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }
}
