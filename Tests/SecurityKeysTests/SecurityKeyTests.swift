// SPDX-License-Identifier: Apache-2.0
import KeychainSecrets
import SecurityKeys
import SoftwareSecurityKey
import Testing

/// With a security key in software behind a descriptor in the place of a device's.
@Suite struct SecurityKeyTests {
    private let none = HeldSecret(SecretBytes(copying: []))

    private func typed(_ pin: String) -> HeldSecret {
        HeldSecret(SecretBytes(copying: Array(pin.utf8)))
    }

    private func made(
        _ key: SoftwareSecurityKey, _ pin: HeldSecret
    ) throws -> (credential: KeyCredential, secret: HeldSecret) {
        try #require(SecurityKey(on: key.plugged())).make(pin: pin.bytes)
    }

    private func opens(
        _ credential: KeyCredential, _ key: SoftwareSecurityKey, _ pin: HeldSecret
    ) throws -> [UInt8] {
        try #require(SecurityKey(on: key.plugged())).secret(of: credential, pin: pin.bytes)
            .releasedFromLockedMemory()
    }

    private func failure(
        _ credential: KeyCredential, _ key: SoftwareSecurityKey, _ pin: HeldSecret
    ) throws -> SecurityKeyError? {
        let plugged = try #require(SecurityKey(on: key.plugged()))
        do throws(SecurityKeyError) {
            _ = try plugged.secret(of: credential, pin: pin.bytes)
            return nil
        } catch { return error }
    }

    @Test func `a key tells its secret again, after it was plugged in anew too`() throws {
        let seed = [UInt8](repeating: 7, count: 32)
        let key = SoftwareSecurityKey(seed: seed)
        let (credential, secret) = try made(key, none)
        #expect(key.touches == 2)
        let expected = secret.bytes.releasedFromLockedMemory()
        #expect(try opens(credential, key, none) == expected)
        #expect(key.touches == 3)
        let kept = try #require(KeyCredential(bytes: credential.bytes))
        #expect(try opens(kept, SoftwareSecurityKey(seed: seed), none) == expected)
    }

    @Test func `each credential has a secret of its own, and shows nothing of it`() throws {
        let key = SoftwareSecurityKey()
        let (credential, secret) = try made(key, none)
        let (_, other) = try made(key, none)
        let bytes = secret.bytes.releasedFromLockedMemory()
        #expect(bytes != other.bytes.releasedFromLockedMemory())
        let starts = credential.bytes.indices.dropLast(7)
        #expect(!starts.contains { Array(credential.bytes[$0..<$0 + 8]) == Array(bytes[0..<8]) })
    }

    @Test func `another key does not know it, and is not touched in vain`() throws {
        let (credential, _) = try made(SoftwareSecurityKey(), none)
        let other = SoftwareSecurityKey()
        #expect(try failure(credential, other, none) == .otherKey)
        #expect(try #require(SecurityKey(on: other.plugged())).knows(credential) == false)
        #expect(other.touches == 0)
    }

    @Test func `a key that is not touched gives nothing`() throws {
        let key = SoftwareSecurityKey()
        let (credential, _) = try made(key, none)
        key.isTouched = false
        #expect(try failure(credential, key, none) == .notTouched)
        #expect(try #require(SecurityKey(on: key.plugged())).knows(credential))
    }

    @Test func `a credential that was made with the PIN opens with it alone`() throws {
        let key = SoftwareSecurityKey(pin: "4711")
        let (credential, secret) = try made(key, typed("4711"))
        #expect(credential.usesPIN)
        #expect(
            try opens(credential, key, typed("4711")) == secret.bytes.releasedFromLockedMemory())
        #expect(try failure(credential, key, none) == .wrongPIN)
        #expect(key.retries == 8)
        #expect(try failure(credential, key, typed("4712")) == .wrongPIN)
        #expect(key.retries == 7)
    }

    @Test func `who says that it has no PIN gets another secret, even from the key itself`() throws
    {
        let key = SoftwareSecurityKey(pin: "4711")
        let (credential, secret) = try made(key, typed("4711"))
        let forged = KeyCredential(
            identifier: credential.identifier, salt: credential.salt, usesPIN: false)
        #expect(try opens(forged, key, none) != secret.bytes.releasedFromLockedMemory())
    }

    @Test func `a PIN is not taken by a key that has none`() throws {
        let key = SoftwareSecurityKey()
        let plugged = try #require(SecurityKey(on: key.plugged()))
        let pin = typed("4711")
        #expect(throws: SecurityKeyError.wrongPIN) {
            _ = try plugged.make(pin: pin.bytes).credential
        }
    }

    @Test func `after too many wrong ones it is told as such`() throws {
        let key = SoftwareSecurityKey(pin: "4711")
        let (credential, _) = try made(key, typed("4711"))
        for _ in 0..<7 { #expect(try failure(credential, key, typed("1234")) == .wrongPIN) }
        #expect(try failure(credential, key, typed("1234")) == .pinBlocked)
        #expect(try failure(credential, key, typed("4711")) == .pinBlocked)
    }

    @Test func `new credentials leave a key its last tries`() throws {
        let key = SoftwareSecurityKey(pin: "4711")
        let plugged = try #require(SecurityKey(on: key.plugged()))
        for left in [7, 6, 5, 4] {
            let wrong = typed("1234")
            #expect(throws: SecurityKeyError.wrongPIN) {
                _ = try plugged.make(pin: wrong.bytes).credential
            }
            #expect(key.retries == left)
        }
        for pin in [typed("1234"), typed("4711")] {
            #expect(throws: SecurityKeyError.pinBlocked) {
                _ = try plugged.make(pin: pin.bytes).credential
            }
        }
        #expect(key.retries == 4)
    }

    // What the program is asked.

    private func question(_ credential: KeyCredential, _ pin: HeldSecret) -> HeldSecret {
        let bytes = credential.bytes
        let head = [UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8)] + bytes
        return HeldSecret(SecretBytes(copying: head).appending(pin.bytes))
    }

    private func asked(
        _ exchange: SecurityKeyExchange, _ question: HeldSecret, _ keys: [SoftwareSecurityKey]
    ) -> Result<[UInt8], SecurityKeyError> {
        let plugged = keys.compactMap { SecurityKey(on: $0.plugged()) }
        do throws(SecurityKeyError) {
            return .success(
                try exchange.answer(to: question.bytes, by: plugged).releasedFromLockedMemory())
        } catch { return .failure(error) }
    }

    @Test func `of several keys the one that knows the credential is touched`() throws {
        let (key, other) = (SoftwareSecurityKey(), SoftwareSecurityKey())
        let made = try asked(.make, none, [key]).get()
        let credential = try #require(KeyCredential(bytes: Array(made.dropFirst(32))))
        let opened = asked(.open, question(credential, none), [other, key])
        #expect(opened == .success(Array(made.prefix(32))))
        #expect(other.touches == 0)
        #expect(asked(.open, question(credential, none), [other]) == .failure(.otherKey))
        #expect(asked(.open, question(credential, none), []) == .failure(.notThere))
    }

    @Test func `which of two keys is to get a credential is not guessed`() {
        let keys = [SoftwareSecurityKey(), SoftwareSecurityKey()]
        #expect(asked(.make, none, keys) == .failure(.notThere))
        #expect(asked(.make, none, []) == .failure(.notThere))
        #expect(keys.map(\.touches) == [0, 0])
    }

    @Test(arguments: [[], [1], [0, 0], [255, 255], [40, 0, 0], [3, 0, 1, 2, 3]])
    func `what is no credential is asked of no key`(_ bytes: [UInt8]) {
        let key = SoftwareSecurityKey()
        let question = HeldSecret(SecretBytes(copying: bytes))
        #expect(asked(.open, question, [key]) == .failure(.otherKey))
    }
}
