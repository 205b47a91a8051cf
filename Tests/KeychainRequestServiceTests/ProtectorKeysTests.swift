// SPDX-License-Identifier: Apache-2.0
import KeychainItemStore
import KeychainMessages
import KeychainModel
import KeychainSecrets
@testable import KeychainVaults
import Testing

/// A TPM that seals by turning bits over, and knows which registers it was told.
private final class TPMInMemory: TPMSealer {
    let registers = Box<[[UInt8]]>([])
    private let shorter: Bool

    init(opensShorter shorter: Bool = false) { self.shorter = shorter }

    func seal(
        _ key: HeldSecret, registers: [UInt8], for user: UInt32
    ) throws(RequestError) -> [UInt8] {
        self.registers.change { $0.append(registers) }
        return key.bytes.copy().releasedFromLockedMemory().map { ~$0 }
    }

    func open(_ sealed: [UInt8], for user: UInt32) throws(RequestError) -> HeldSecret {
        HeldSecret(SecretBytes(copying: sealed.dropLast(shorter ? 1 : 0).map { ~$0 }))
    }
}

/// A security key whose secret is its credential.
private struct SecurityKeyInMemory: SecurityKeySource {
    let pins = Box<[String?]>([])
    let atLogins = Box<[Bool]>([])

    func make(
        pin: HeldSecret, for user: UInt32
    ) throws(RequestError) -> (credential: [UInt8], key: HeldSecret) {
        let credential = [pin.bytes.count > 0 ? 1 : 0] + [UInt8](repeating: 7, count: 31)
        return (credential, HeldSecret(SecretBytes(copying: credential)))
    }

    func open(
        _ credential: [UInt8], pin: HeldSecret?, atLogin: Bool, for user: UInt32
    ) throws(RequestError) -> HeldSecret {
        pins.change { $0.append(pin?.text) }
        atLogins.change { $0.append(atLogin) }
        return HeldSecret(SecretBytes(copying: credential))
    }
}

/// Where the keys of protectors come from.
@Suite struct ProtectorKeysTests {
    private func keys(
        tpm: (any TPMSealer)? = nil, securityKeys: (any SecurityKeySource)? = nil,
        _ credentials: [String: HeldSecret] = [:]
    ) -> ProtectorKeys {
        ProtectorKeys(tpm: tpm, securityKeys: securityKeys, credentials: credentials)
    }

    /// Whether the key that is found again is the one that was made.
    private func isSame(
        _ keys: ProtectorKeys, _ made: (protector: ProtectorRecord, key: HeldSecret),
        typed: HeldSecret? = nil, atLogin: Bool = false
    ) throws -> Bool {
        try keys.key(of: made.protector, for: 1000, typed: typed, atLogin: atLogin).bytes
            .matches(made.key.bytes)
    }

    @Test func `a recovery key is what is on the paper, however it is typed`() throws {
        let text = HeldSecret(RecoveryKey.random().text())
        let made = try ProtectorKeys.none.make(.recoveryKey(text), for: 1000)
        let typed = HeldSecret(text.text.lowercased())
        #expect(try isSame(.none, made, typed: typed))
        #expect(throws: RequestError.refused(.wrongRecoveryKey)) {
            _ = try ProtectorKeys.none.key(
                of: made.protector, for: 1000, typed: HeldSecret("wrong"))
        }
        #expect(throws: RequestError.invalid(.badRequest)) {
            _ = try ProtectorKeys.none.key(of: made.protector, for: 1000, typed: nil)
        }
    }

    @Test func `a TPM is told the registers, and people read them`() throws {
        let tpm = TPMInMemory()
        let keys = keys(tpm: tpm)
        let made = try keys.make(.tpm(registers: [0, 7, 11, 23], atLogin: true), for: 1000)
        #expect(tpm.registers.value == [[0, 7, 11, 23]])
        #expect(try isSame(keys, made))
        let shown = ProtectorKeys.shown(made.protector)
        #expect(shown.kind == .tpm && shown.registers == [0, 7, 11, 23] && shown.opensAtLogin)
        let other = try keys.make(.tpm(registers: [], atLogin: false), for: 1000)
        #expect(!ProtectorKeys.shown(other.protector).opensAtLogin)
        #expect(ProtectorKeys.shown(other.protector).registers.isEmpty)
    }

    @Test func `what a TPM gives back is a key or damaged`() throws {
        let keys = keys(tpm: TPMInMemory(opensShorter: true))
        let made = try keys.make(.tpm(registers: [], atLogin: false), for: 1000)
        #expect(throws: RequestError.failed(.damaged)) {
            _ = try keys.key(of: made.protector, for: 1000, typed: nil)
        }
    }

    @Test func `a credential is known by its name and never used as it is`() throws {
        let secret = HeldSecret(String(repeating: "x", count: 32))
        let keys = keys(["disk": secret, "short": HeldSecret(String(repeating: "x", count: 31))])
        let made = try keys.make(.credential(name: "disk", atLogin: true), for: 1000)
        #expect(try isSame(keys, made))
        let isUsed = made.key.bytes.matches(secret.bytes)
        #expect(!isUsed)
        #expect(ProtectorKeys.shown(made.protector).credential == "disk")
        #expect(made.protector.opensAtLogin)
        for name in ["short", "other", String(repeating: "n", count: 65)] {
            #expect(throws: RequestError.state(.protectorNotAvailable)) {
                _ = try keys.make(.credential(name: name, atLogin: false), for: 1000)
            }
        }
        let changed = self.keys(["disk": HeldSecret(String(repeating: "y", count: 32))])
        #expect(try !isSame(changed, made))
    }

    @Test func `a security key hears its PIN, and whether it is a login`() throws {
        let source = SecurityKeyInMemory()
        let keys = keys(securityKeys: source)
        let made = try keys.make(.securityKey(pin: HeldSecret("1234"), atLogin: false), for: 1000)
        #expect(ProtectorKeys.shown(made.protector).usesPIN)
        #expect(try isSame(keys, made, typed: HeldSecret("1234")))
        let touched = try keys.make(.securityKey(pin: HeldSecret(""), atLogin: true), for: 1000)
        #expect(!ProtectorKeys.shown(touched.protector).usesPIN)
        #expect(try isSame(keys, touched, atLogin: true))
        #expect(source.pins.value == ["1234", nil])
        #expect(source.atLogins.value == [false, true])
        // At a login it could not be typed.
        #expect(throws: RequestError.invalid(.badRequest)) {
            _ = try keys.make(.securityKey(pin: HeldSecret("1234"), atLogin: true), for: 1000)
        }
    }

    @Test func `a machine without the device says so, and its own key is never looked for`() {
        let pin = HeldSecret("")
        for new in [
            NewProtector.tpm(registers: [], atLogin: false), .securityKey(pin: pin, atLogin: false),
        ] {
            #expect(throws: RequestError.state(.protectorNotAvailable)) {
                _ = try ProtectorKeys.none.make(new, for: 1000)
            }
        }
        #expect(throws: RequestError.invalid(.badRequest)) {
            _ = try ProtectorKeys.none.make(.device, for: 1000)
        }
    }
}
