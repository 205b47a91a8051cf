// SPDX-License-Identifier: Apache-2.0
internal import CTSS2
package import KeychainSecrets

/// A TPM 2.0: seals a key so that this one alone opens it, and, if wanted, only while registers of
/// the platform are as they are now.
///
/// Calls wait for the TPM for as long as that takes: a caller that can't wait has a process for it.
/// What travels to and from the TPM is encrypted for it. The library's own copies of a key are in
/// memory that is not locked, another reason for a process that ends.
@safe package final class TPM {
    private let connection: OpaquePointer
    private let channel: OpaquePointer

    /// `address` as tpm2-tss writes it: `device:/dev/tpmrm0`, `swtpm:host=127.0.0.1,port=2321`.
    package init(at address: String) throws(TPMError) {
        var channel: OpaquePointer?
        // Safe: the library sets the pointers where it says success, and ends them in `deinit`.
        guard unsafe Tss2_TctiLdr_Initialize(address, &channel) == 0, let opened = unsafe channel
        else { throw .unreachable }
        var connection: OpaquePointer?
        guard unsafe Esys_Initialize(&connection, opened, nil) == 0,
            let made = unsafe connection
        else {
            unsafe Tss2_TctiLdr_Finalize(&channel)
            throw .unreachable
        }
        unsafe self.channel = opened
        unsafe self.connection = made
    }

    deinit {
        var connection: OpaquePointer? = unsafe connection
        var channel: OpaquePointer? = unsafe channel
        // Safe: as `init` got them, once.
        unsafe Esys_Finalize(&connection)
        unsafe Tss2_TctiLdr_Finalize(&channel)
    }

    /// Registers are SHA-256 platform configuration registers, 0 to 23.
    package func seal(
        _ key: borrowing SecretBytes, registers: [UInt8]
    ) throws(TPMError) -> SealedKey {
        let bits = SealedKey.bits(registers)
        let parent = try storageKey()
        defer { flush(parent.handle) }
        let policy = registers.isEmpty ? [] : try policyDigest(bits, parent.handle)
        let session = try session(kc_session_hmac, parent.handle)
        defer { flush(session) }
        let (publicPart, privatePart) = try create(key, policy, parent.handle, session)
        return SealedKey(
            registers: bits, parent: parent.name, publicPart: publicPart,
            privatePart: privatePart)
    }

    package func open(_ sealed: SealedKey) throws(TPMError) -> SecretBytes {
        let parent = try storageKey()
        defer { flush(parent.handle) }
        guard parent.name == sealed.parent else { throw .otherTPM }
        let object = try load(sealed, under: parent.handle)
        defer { flush(object) }
        let hasPolicy = sealed.registers.contains { $0 != 0 }
        let session = try session(
            hasPolicy ? kc_session_policy : kc_session_hmac, parent.handle)
        defer { flush(session) }
        if hasPolicy { try demand(sealed.registers, session) }
        return try unseal(object, session)
    }

    // MARK: Steps

    /// The storage key that the TPM derives from the seed of its owner hierarchy: the same each
    /// time until it is cleared.
    private func storageKey() throws(TPMError) -> (handle: ESYS_TR, name: [UInt8]) {
        var template = try TPMTemplate.storageKey()
        var sensitive = TPM2B_SENSITIVE_CREATE()
        var outside = TPM2B_DATA()
        var selection = TPML_PCR_SELECTION()
        var handle = kc_none
        // Safe: all are this function's own for the call; outputs that are nil are not made.
        try check(
            unsafe Esys_CreatePrimary(
                connection, kc_owner, kc_password, kc_none, kc_none, &sensitive, &template,
                &outside, &selection, &handle, nil, nil, nil, nil))
        var name: UnsafeMutablePointer<TPM2B_NAME>?
        do throws(TPMError) {
            // Safe: `name` is set where the call says success, and its size is at most its
            // buffer's.
            try check(unsafe Esys_TR_GetName(connection, handle, &name))
        } catch {
            flush(handle)
            throw error
        }
        // Safe: the library made it, for us to free.
        defer { unsafe Esys_Free(name) }
        let bytes = unsafe withUnsafeBytes(of: name!.pointee.name) {
            unsafe Array($0.prefix(Int(name!.pointee.size)))
        }
        return (handle, bytes)
    }

    /// A session whose secret the TPM with that storage key alone can know.
    private func session(_ kind: TPM2_SE, _ parent: ESYS_TR) throws(TPMError) -> ESYS_TR {
        var cipher = TPMT_SYM_DEF()
        cipher.algorithm = kc_aes
        unsafe cipher.keyBits.aes = 128
        unsafe cipher.mode.aes = kc_cfb
        var handle = kc_none
        // Safe: as above; without a nonce the library makes one.
        try check(
            unsafe Esys_StartAuthSession(
                connection, parent, kc_none, kc_none, kc_none, kc_none, nil, kind, &cipher,
                kc_sha256, &handle))
        return handle
    }

    private func demand(_ registers: [UInt8], _ session: ESYS_TR) throws(TPMError) {
        var selection = TPML_PCR_SELECTION()
        selection.count = 1
        selection.pcrSelections.0.hash = kc_sha256
        selection.pcrSelections.0.sizeofSelect = 3
        selection.pcrSelections.0.pcrSelect = (registers[0], registers[1], registers[2], 0)
        // Empty: as they are now.
        var digest = TPM2B_DIGEST()
        try check(
            // Safe: the structures are this function's own; the library reads them in the call.
            unsafe Esys_PolicyPCR(
                connection, session, kc_none, kc_none, kc_none, &digest, &selection))
    }

    private func policyDigest(
        _ registers: [UInt8], _ parent: ESYS_TR
    ) throws(TPMError) -> [UInt8] {
        let trial = try session(kc_session_trial, parent)
        defer { flush(trial) }
        try demand(registers, trial)
        var digest: UnsafeMutablePointer<TPM2B_DIGEST>?
        try check(
            unsafe Esys_PolicyGetDigest(
                connection, trial, kc_none, kc_none, kc_none, &digest))
        // Safe: the library made it, for us to free.
        defer { unsafe Esys_Free(digest) }
        return unsafe withUnsafeBytes(of: digest!.pointee.buffer) {
            unsafe Array($0.prefix(Int(digest!.pointee.size)))
        }
    }

    private func create(
        _ key: borrowing SecretBytes, _ policy: [UInt8], _ parent: ESYS_TR, _ session: ESYS_TR
    ) throws(TPMError) -> (publicPart: [UInt8], privatePart: [UInt8]) {
        var template = try TPMTemplate.sealed(policy)
        var outside = TPM2B_DATA()
        var selection = TPML_PCR_SELECTION()
        var publicPart: UnsafeMutablePointer<TPM2B_PUBLIC>?
        var privatePart: UnsafeMutablePointer<TPM2B_PRIVATE>?
        setAttributes(session, kc_decrypt)
        var code: TSS2_RC = 0
        var sensitive = TPMTemplate.sensitive(key)
        sensitive.withMutableBytes { bytes in
            // Safe: `sensitive` has the structure's size and its arena's alignment, 16 bytes.
            unsafe bytes.withUnsafeMutableBytes { memory in
                code = unsafe Esys_Create(
                    connection, parent, session, kc_none, kc_none,
                    memory.assumingMemoryBound(to: TPM2B_SENSITIVE_CREATE.self).baseAddress,
                    &template, &outside, &selection, &privatePart, &publicPart, nil, nil, nil)
            }
        }
        try check(code)
        // Safe: the library made them, for us to free.
        defer {
            unsafe Esys_Free(publicPart)
            unsafe Esys_Free(privatePart)
        }
        return unsafe (
            try TPMTemplate.bytes(of: publicPart!.pointee),
            try TPMTemplate.bytes(of: privatePart!.pointee)
        )
    }

    private func load(_ sealed: SealedKey, under parent: ESYS_TR) throws(TPMError) -> ESYS_TR {
        var publicPart = try TPMTemplate.publicPart(sealed.publicPart)
        var privatePart = try TPMTemplate.privatePart(sealed.privatePart)
        var handle = kc_none
        // Safe: as above.
        try check(
            unsafe Esys_Load(
                connection, parent, kc_password, kc_none, kc_none, &privatePart, &publicPart,
                &handle))
        return handle
    }

    private func unseal(_ object: ESYS_TR, _ session: ESYS_TR) throws(TPMError) -> SecretBytes {
        setAttributes(session, kc_encrypt)
        var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
        try check(
            unsafe Esys_Unseal(connection, object, session, kc_none, kc_none, &data))
        // Safe: the library made it, for us to wipe and free.
        defer { unsafe Esys_Free(data) }
        return unsafe withUnsafeMutableBytes(of: &data!.pointee.buffer) { memory in
            let count = unsafe min(Int(data!.pointee.size), memory.count)
            let part = unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
            let kept = unsafe SecretBytes(
                copying: RawSpan(_unsafeBytes: UnsafeRawBufferPointer(part)))
            unsafe part.initializeMemory(as: UInt8.self, repeating: 0)
            return kept
        }
    }

    private func setAttributes(_ session: ESYS_TR, _ attribute: TPMA_SESSION) {
        // A session that is not there fails in the call that needs it.
        // Safe: the connection is open as long as this object lives; an unknown handle is an error.
        _ = unsafe Esys_TRSess_SetAttributes(
            connection, session, attribute | kc_continue, 0xFF)
    }

    // Safe: as above.
    private func flush(_ handle: ESYS_TR) { _ = unsafe Esys_FlushContext(connection, handle) }

    private func check(_ code: TSS2_RC) throws(TPMError) {
        guard code == 0 else { throw TPMError(code) }
    }
}
