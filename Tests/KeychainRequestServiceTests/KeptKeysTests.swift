// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import KeychainKernelKeyring
import KeychainLinuxSystem
import KeychainModel
@testable import KeychainItemStore
import KeychainSecrets
import Testing

@testable import LoginRegistry
@testable import KeyringStore
@testable import KeychainVaults
@testable import SessionVault

@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
struct KeptKeysTests {
    private let login: OpenLogin

    init() throws { login = try OpenLogin() }

    private func hasAlways(_ keychain: OpenKeychain) -> Bool {
        login.vault.kept.keys(of: keychain).always() != nil
    }

    @Test func `what the device key opens is opened once`() throws {
        let keychain = try login.keychain
        #expect(!hasAlways(keychain))
        let first = try login.vault.alwaysKeys(
            keychain, login.vault.kept.keys(of: keychain))
        var isSame = false
        if let kept = login.vault.kept.keys(of: keychain).always() {
            isSame = kept.bytes.matches(first.bytes)
        }
        #expect(isSame)
        #expect(try login.keyring.names(of: OpenLogin.user).allSatisfy { !$0.hasPrefix("device") })
    }

    @Test func `it goes with all other keys before the machine hibernates`() throws {
        let keychain = try login.keychain
        _ = try login.vault.keys(of: keychain)
        #expect(hasAlways(keychain))
        #expect(login.vault.forgetAll())
        #expect(!hasAlways(keychain))
    }

    @Test
    func `with all other keys go the vault key and each login's ticket, and the next ones are new`()
        throws
    {
        let keychain = try login.keychain
        let before = login.vault.vaultKey.now
        let old = try KernelKeyring.read(login.ticket)
        #expect(login.vault.forgetAll())
        let spent = try KernelKeyring.read(login.ticket).count
        #expect(spent == 1)
        #expect(!login.keeper.hasKey)
        #expect(login.vault.lockState(of: keychain) == .locked)
        // The login lives on, and another unlock belongs to it.
        try login.unlock()
        #expect(login.vault.lockState(of: keychain) == .unlocked)
        let new = try KernelKeyring.read(login.ticket)
        let count = new.count
        #expect(count == 32)
        let (isOldTicket, isOldKey) = (
            new.matches(old), login.vault.vaultKey.now.key.bytes.matches(before.key.bytes)
        )
        #expect(!isOldTicket && !isOldKey)
        #expect(login.keeper.hasKey)
    }

    @Test func `a login without a ticket has a new half after all keys were given up`() throws {
        let own = try #require(PinnedProcess(pid: getpid(), pidfd: nil))
        let session = try login.sessions.openWithoutTicket(user: OpenLogin.user, leader: own)
        guard let old = login.sessions.ticket(of: session) else {
            Issue.record("it has none")
            return
        }
        #expect(login.vault.forgetAll())
        guard let new = login.sessions.ticket(of: session) else {
            Issue.record("it has none any more")
            return
        }
        let (count, isSame) = (new.count, new.matches(old))
        #expect(count == 32 && !isSame)
    }

    @Test func `it goes when another file takes the keychain's place`() throws {
        let keychain = try login.keychain
        _ = try login.vault.keys(of: keychain)
        #expect(hasAlways(keychain))
        try login.vault.forget(keychain)
        #expect(!hasAlways(keychain))
    }

    @Test func `what was begun before all keys were given up is kept for no later request`() throws
    {
        let keychain = try login.keychain
        let begun = login.vault.kept.keys(of: keychain)
        let keys = try login.vault.alwaysKeys(
            keychain, login.vault.kept.keys(of: keychain))
        #expect(login.vault.forgetAll())
        begun.keep(always: keys)
        #expect(!hasAlways(keychain))
    }

    @Test func `another file of the same identifier has keys of its own`() throws {
        let keychain = try login.keychain
        _ = try login.vault.keys(of: keychain)
        let file = try KeychainFile.open(at: keychain.path, owner: keychain.file.owner)
        let other = OpenKeychain(keychain.id, path: keychain.path, file: file)
        #expect(file.identifier == keychain.file.identifier)
        #expect(!hasAlways(other))
    }

    @Test func `what an earlier daemon sealed opens under the same names`() throws {
        let keychain = try login.keychain
        let keys = login.vault.kept.keys(of: keychain)
        let terms = AutoLockTerms(.strictest, begun: .seconds(5))
        let user = OpenLogin.user
        let name = "unlock:\(login.session.id.rawValue):login"
        let identifier = keychain.file.identifier
        for _ in 0..<2 {
            let unlock = keys.unlock(login.session, keychain)
            #expect(unlock.name == name)
            let place = Array("\(user):\(name)".utf8)
            #expect(unlock.context(terms) == identifier + terms.bytes + place)
        }
        #expect(keys.firstUnlock.name == "first-unlock:login")
        let place = Array("\(user):first-unlock:login".utf8)
        #expect(keys.firstUnlock.context(nil) == identifier + place)
        #expect(keys.machine.name == "machine:login")
    }

    @Test func `an unlock of a login that has died unnoticed is none`() throws {
        let keychain = try login.keychain
        let watch = UnlockWatch(keychain, login.vault)
        #expect(watch.isOpen)
        login.killLeader()
        let late = UnlockWatch(keychain, login.vault)
        #expect(throws: RequestError.state(.locked)) { try late.check(.whileUnlocked) }
        #expect(throws: RequestError.state(.locked)) { try watch.check(.whileUnlocked) }
        #expect(!late.isOpen)
    }

    @Test func `a key of another type, owner or description is no ticket`() throws {
        let name = "keychain:test:\(UInt64.random(in: 0 ... .max))"
        let key = try KernelKeyring.add(
            name, SecretBytes(random: 8), in: .userKeyring, permissions: nil,
            timeoutSeconds: nil)
        defer { try? KernelKeyring.unlink(key, from: .userKeyring) }
        let user = try KernelKeyring.describe(key).user
        #expect(KernelKeyring.isUserKey(key, of: user, described: name))
        #expect(!KernelKeyring.isUserKey(key, of: user &+ 1, described: name))
        #expect(!KernelKeyring.isUserKey(key, of: user, described: name + "x"))
        #expect(!KernelKeyring.isUserKey(key, of: user, described: String(name.dropLast())))
        let ring = try KernelKeyring.makeKeyring(name, in: .userKeyring, permissions: 0x3f3f_0000)
        defer { try? KernelKeyring.unlink(ring, from: .userKeyring) }
        #expect(!KernelKeyring.isUserKey(ring, of: user, described: name))
        try KernelKeyring.revoke(key)
        #expect(!KernelKeyring.isUserKey(key, of: user, described: name))
    }
}
