// SPDX-License-Identifier: Apache-2.0
internal import CFIDO2
internal import KeychainLinuxSystem
package import KeychainSecrets

/// A FIDO2 security key: keeps a secret (`hmac-secret`) that it tells for a touch, and for its PIN
/// where that was wanted when the secret was made.
///
/// Calls wait for a touch for as long as the key does: a caller that can't wait has a process for
/// it. The library's own copies of a PIN and a secret are in memory that is not locked, another
/// reason for a process that ends.
@safe package final class SecurityKey {
    static let relyingParty = "keychain.invalid"
    /// With fewer tries left, a new credential takes no PIN: the key may be another person's, and
    /// the last wrong PIN would block it for good.
    private static let fewestTries = 5
    /// Nothing signs over anything: what is asked for is the secret.
    private static let clientData = [UInt8](repeating: 0, count: 32)

    private let device: OpaquePointer
    /// What the library reads and writes.
    private let descriptor: Descriptor

    /// Takes a device of libfido2 that is open, and closes it.
    // Safe: only stores the pointer, which the caller hands over open and does not use again.
    init(opened device: OpaquePointer, on descriptor: Descriptor) {
        unsafe self.device = device
        self.descriptor = descriptor
    }

    deinit {
        var device: OpaquePointer? = unsafe device
        // Safe: as `init` got it, once.
        unsafe fido_dev_close(device)
        unsafe fido_dev_free(&device)
    }

    /// Makes a credential with a secret of its own, and tells it. Two touches.
    package func make(
        pin: borrowing SecretBytes
    ) throws(SecurityKeyError) -> (credential: KeyCredential, secret: HeldSecret) {
        // Safe: the device is open as long as this object lives.
        guard unsafe fido_dev_is_fido2(device) else { throw .unsuitable }
        let usesPIN = pin.count > 0
        // One that has none would be asked without, and the secret be had for a touch alone.
        guard unsafe !usesPIN || fido_dev_has_pin(device) else { throw .wrongPIN }
        if usesPIN, try pinTries() < Self.fewestTries { throw .pinBlocked }
        let made = try newCredential(pin)
        let credential = KeyCredential(
            identifier: made, salt: RandomBytes.make(KeyCredential.saltBytes), usesPIN: usesPIN)
        return (credential, HeldSecret(try secret(of: credential, pin: pin)))
    }

    /// The same secret as when the credential was made. One touch.
    package func secret(
        of credential: KeyCredential, pin: borrowing SecretBytes
    ) throws(SecurityKeyError) -> SecretBytes {
        guard credential.usesPIN == (pin.count > 0) else { throw .wrongPIN }
        let question = try Assertion(credential)
        try question.askForSecret(credential.salt)
        // Safe: as above; the question uses the device in this call only.
        try unsafe question.answer(by: device, pin)
        guard let secret = question.secret() else { throw .unsuitable }
        return secret
    }

    /// Whether the credential is this key's. No touch.
    package func knows(_ credential: KeyCredential) -> Bool {
        do throws(SecurityKeyError) {
            let question = try Assertion(credential)
            try question.asksForNothing()
            // Safe: as above.
            try unsafe question.answer(by: device, SecretBytes(copying: []))
            return true
        } catch { return false }
    }

    // MARK: Steps

    /// The wrong PINs that the key takes before it blocks itself.
    private func pinTries() throws(SecurityKeyError) -> Int32 {
        var tries: Int32 = 0
        // Safe: the device is open as long as this object lives; the library writes one number.
        try check(unsafe fido_dev_get_retry_count(device, &tries))
        return tries
    }

    private func newCredential(
        _ pin: borrowing SecretBytes
    ) throws(SecurityKeyError) -> [UInt8] {
        guard let made = unsafe fido_cred_new() else { throw .refused(FIDO_ERR_INTERNAL) }
        // Safe: it is ours, and freed once.
        defer {
            var made: OpaquePointer? = unsafe made
            unsafe fido_cred_free(&made)
        }
        let user = RandomBytes.make(32)
        // Safe: the library copies what it is given.
        for code in unsafe [
            fido_cred_set_type(made, kc_es256),
            fido_cred_set_clientdata_hash(made, Self.clientData, Self.clientData.count),
            fido_cred_set_rp(made, Self.relyingParty, "Keychain"),
            fido_cred_set_user(made, user, user.count, "keychain", nil, nil),
            fido_cred_set_extensions(made, kc_hmac_secret),
        ] { try check(code) }
        try unsafe pin.withTerminated { pin throws(SecurityKeyError) in
            try check(unsafe fido_dev_make_cred(device, made, pin))
        }
        guard let bytes = unsafe fido_cred_id_ptr(made) else { throw .unsuitable }
        let count = unsafe fido_cred_id_len(made)
        guard (1...KeyCredential.longestIdentifier).contains(count) else { throw .unsuitable }
        return unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    private func check(_ code: Int32) throws(SecurityKeyError) {
        guard code == FIDO_OK else { throw SecurityKeyError(code) }
    }

    /// A question about one credential.
    @safe private struct Assertion: ~Copyable {
        private let assertion: OpaquePointer

        init(_ credential: KeyCredential) throws(SecurityKeyError) {
            guard let made = unsafe fido_assert_new() else { throw .refused(FIDO_ERR_INTERNAL) }
            // Safe: the library copies what it is given.
            let codes = unsafe [
                fido_assert_set_rp(made, relyingParty),
                fido_assert_set_clientdata_hash(made, clientData, clientData.count),
                fido_assert_allow_cred(
                    made, credential.identifier, credential.identifier.count),
            ]
            if let failure = codes.first(where: { $0 != FIDO_OK }) {
                var made: OpaquePointer? = unsafe made
                unsafe fido_assert_free(&made)
                throw SecurityKeyError(failure)
            }
            unsafe assertion = made
        }

        deinit {
            var assertion: OpaquePointer? = unsafe assertion
            // Safe: it is ours; the library wipes the secret in it.
            unsafe fido_assert_free(&assertion)
        }

        func asksForNothing() throws(SecurityKeyError) {
            // Safe: the assertion is this value's own until `deinit`.
            try check(unsafe fido_assert_set_up(assertion, FIDO_OPT_FALSE))
        }

        func askForSecret(_ salt: [UInt8]) throws(SecurityKeyError) {
            // Safe: as above; the library copies the salt, whose length it is told.
            try check(unsafe fido_assert_set_extensions(assertion, kc_hmac_secret))
            try check(unsafe fido_assert_set_hmac_salt(assertion, salt, salt.count))
            try check(unsafe fido_assert_set_up(assertion, FIDO_OPT_TRUE))
        }

        func answer(
            by device: OpaquePointer, _ pin: borrowing SecretBytes
        ) throws(SecurityKeyError) {
            // Safe: as above; the PIN ends with a zero and lives until the closure has returned.
            try unsafe pin.withTerminated { pin throws(SecurityKeyError) in
                try check(unsafe fido_dev_get_assert(device, assertion, pin))
            }
        }

        func secret() -> SecretBytes? {
            guard unsafe fido_assert_hmac_secret_len(assertion, 0) == KeyCredential.secretBytes,
                let bytes = unsafe fido_assert_hmac_secret_ptr(assertion, 0)
            else { return nil }
            // Safe: so many bytes are there while the assertion is.
            let memory = unsafe UnsafeRawBufferPointer(
                start: bytes, count: KeyCredential.secretBytes)
            return unsafe SecretBytes(copying: RawSpan(_unsafeBytes: memory))
        }

        private func check(_ code: Int32) throws(SecurityKeyError) {
            guard code == FIDO_OK else { throw SecurityKeyError(code) }
        }
    }
}

extension SecretBytes {
    /// As C reads text; nil where there is none.
    fileprivate borrowing func withTerminated<E: Error>(
        _ body: (UnsafePointer<CChar>?) throws(E) -> Void
    ) throws(E) {
        guard count > 0 else { return try body(nil) }
        let text = appending(SecretBytes(copying: [0]))
        try text.withBytes { bytes throws(E) in
            var failure: E?
            // Safe: the text is read during the call only, and ends with a zero.
            unsafe bytes.withUnsafeBytes { memory in
                do throws(E) {
                    try unsafe body(memory.assumingMemoryBound(to: CChar.self).baseAddress)
                } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }
}
