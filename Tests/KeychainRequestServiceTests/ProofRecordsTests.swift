// SPDX-License-Identifier: Apache-2.0
import KeychainAccessControl
import KeychainModel
import KeychainPolicyModel
import KeychainSecrets
@testable import KeychainUserPresence
import Testing

/// Keys as the kernel would keep them, without a kernel.
private final class KeyringInMemory: ProofRecords {
    private struct Key: Hashable {
        let user: UInt32
        let name: String
    }
    private let keys = Box<[Key: HeldSecret]>([:])
    private let timeouts = Box<[UInt32?]>([])

    var kept: Int { keys.value.count }
    /// After which the kernel would remove each.
    var seconds: [UInt32?] { timeouts.value }
    func expire() { keys.change { $0 = [:] } }

    func users() -> [UInt32] { Array(Set(keys.value.keys.map(\.user))) }
    func names(of user: UInt32) throws(RequestError) -> [String] {
        keys.value.keys.filter { $0.user == user }.map(\.name)
    }
    func read(_ name: String, of user: UInt32) -> SecretBytes? {
        guard let key = keys.value[Key(user: user, name: name)] else { return nil }
        return key.bytes.copy()
    }
    func holds(_ name: String, of user: UInt32) -> Bool {
        keys.value[Key(user: user, name: name)] != nil
    }
    func write(
        _ name: String, _ payload: borrowing SecretBytes, of user: UInt32, timeoutSeconds: UInt32?
    ) throws(RequestError) {
        let payload = HeldSecret(payload.copy())
        keys.change { $0[Key(user: user, name: name)] = payload }
        timeouts.change { $0.append(timeoutSeconds) }
    }
    func remove(_ name: String, of user: UInt32) {
        keys.change { $0[Key(user: user, name: name)] = nil }
    }
}

/// What was proven, in a keyring that outlives the service.
@Suite struct ProofRecordsTests {
    private let keyring = KeyringInMemory()
    private let git = Program("/usr/bin/git", process: 10)
    private var user: UInt32 { git.caller.user }

    private func proofs(_ store: EvidenceStore) -> [PolicyMethod] {
        store.evidence(for: git).proofs.map(\.method)
    }

    @Test func `a service that is started again knows what was proven before`() {
        EvidenceStore(keyring: keyring).add([.factor(.passcode)], for: git)
        #expect(proofs(EvidenceStore(keyring: keyring)) == [.factor(.passcode)])
        #expect(proofs(EvidenceStore(keyring: KeyringInMemory())).isEmpty)
        #expect(!keyring.seconds.contains(nil))
    }

    @Test func `a proof whose key the kernel has removed counts no longer`() {
        let store = EvidenceStore(keyring: keyring)
        store.add([.factor(.passcode)], for: git)
        #expect(proofs(store) == [.factor(.passcode)])
        keyring.expire()
        #expect(proofs(store).isEmpty)
    }

    @Test func `what is forgotten leaves no key behind`() {
        let store = EvidenceStore(keyring: keyring)
        store.add([.factor(.passcode), .factor(.presence)], for: git)
        #expect(keyring.kept == 2)
        store.forget(user)
        #expect(keyring.kept == 0)
        #expect(proofs(EvidenceStore(keyring: keyring)).isEmpty)
    }

    @Test func `a record that makes no sense is no proof`() throws {
        try keyring.write(
            "evidence:1", SecretBytes(copying: Array("{}".utf8)), of: user, timeoutSeconds: nil)
        #expect(proofs(EvidenceStore(keyring: keyring)).isEmpty)
    }

    @Test func `what a user lets a program have for a session outlives the service too`() throws {
        let item = try #require(
            ItemReference(
                itemClass: .genericPassword, identifier: [UInt8](repeating: 1, count: 16)))
        EvidenceStore(keyring: keyring).trust.allow(item, for: git.caller)
        #expect(EvidenceStore(keyring: keyring).trust.items(for: git.caller) == [item])
    }
}
