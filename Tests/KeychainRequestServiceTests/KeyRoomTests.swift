// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeychainKernelKeyring
@testable import KeychainItemStore
import KeychainModel
import KeychainSecrets
@testable import KeychainVaults
@testable import KeyringStore
@testable import LoginRegistry
@testable import SessionVault
import SystemTestSupport
import Testing

/// What becomes of a user's keys where there are as many as may be.
@Suite(
    .enabled(
        if: KernelKeyring.isAvailable() && getuid() == 0,
        "tickets are root's keys in the kernel's keyring"))
struct KeyRoomTests {
    private static let long = String(repeating: "n", count: KeychainName.longest)
    private let login: OpenLogin

    init() throws { login = try OpenLogin() }

    private func names(_ kind: KeyName.Kind) throws -> Set<String> {
        Set(try login.keyring.names(of: OpenLogin.user).filter { $0.hasPrefix(kind.prefix) })
    }

    /// Another keychain, with the longest name.
    private func makeAnother() throws -> OpenKeychain {
        let name = try #require(KeychainName(Self.long))
        try login.protectors.create(name, of: OpenLogin.user, password: OpenLogin.password)
        return try login.keychains.keychain(Self.long, of: OpenLogin.user)
    }

    private func unlock(_ keychain: OpenKeychain, in logins: [LoginSession]) throws {
        let keys = try login.protectors.unlock(keychain, OpenLogin.password)
        for session in logins {
            try login.vault.keep(
                keys, of: keychain, in: session, since: login.vault.locks.now(keychain.id))
        }
    }

    private func beginAll() throws -> [LoginSession] {
        for _ in 1..<KeyName.mostLogins { _ = try login.beginAnother() }
        return login.sessions.live(OpenLogin.user)
    }

    @Test func `of more unlocks than fit those of the oldest logins give way`() throws {
        let keychains = [try login.keychain, try makeAnother()]
        let logins = try beginAll()
        #expect(logins.count == KeyName.mostLogins)
        for keychain in keychains { try unlock(keychain, in: logins) }
        let most = KeyName.Kind.unlock.most
        let kept = logins.suffix(most / 2).flatMap { login in
            keychains.map { KeyName.unlock(login.id, $0.name) }
        }
        #expect(try names(.unlock) == Set(kept))
        for keychain in keychains {
            #expect(login.vault.lockState(of: keychain) == .unlocked)
        }
        // An unlock that is there already is only replaced.
        try unlock(keychains[0], in: [try #require(logins.last)])
        #expect(try names(.unlock) == Set(kept))
        try login.vault.lock(keychains[1])
        #expect(try names(.unlock).count == most / 2)
        #expect(login.vault.lockState(of: keychains[0]) == .unlocked)
    }

    @Test func `a keychain of a long name is locked when its time is over`() throws {
        let keychain = try makeAnother()
        try unlock(keychain, in: [login.session])
        #expect(try names(.unlock).count == 2)
        login.vault.bind(to: KeychainSettings(lockAfter: 0))
        login.vault.lockOverdue()
        #expect(try names(.unlock) == [])
    }

    @Test func `of more logins than fit the oldest without an unlock gives way`() throws {
        let logins = try beginAll()
        let first = try #require(logins.first { $0.id != login.session.id })
        let next = try login.beginAnother()
        let live = login.sessions.live(OpenLogin.user)
        #expect(live.count == KeyName.mostLogins)
        #expect(live.contains(login.session) && live.contains(next) && !live.contains(first))
    }

    @Test func `of more keys of passwords that differed than fit the oldest give way`() throws {
        let keychain = try login.keychain
        for _ in 0..<6 { _ = try login.beginAnother() }
        let logins = login.sessions.live(OpenLogin.user)
        for session in logins {
            try login.vault.keepRenewal(Self.passwordKeys(), of: keychain, in: session)
        }
        let kept = logins.suffix(KeyName.Kind.renewal.most).map {
            KeyName.renewal($0.id, keychain.name)
        }
        #expect(try names(.renewal) == Set(kept))
        let isKept = login.vault.renewal(of: keychain) != nil
        #expect(isKept)
    }

    private static func passwordKeys() throws -> PasswordKeys {
        var head = ByteWriter(capacity: 25)
        head.append(1 as UInt8)
        head.append(number: PasswordParameters.passes.lowerBound)
        head.append(number: PasswordParameters.memoryKiB.lowerBound)
        head.append(raw: [UInt8](repeating: 5, count: PasswordParameters.saltBytes))
        return try PasswordKeys(
            copy: SecretBytes(copying: head.bytes).appending(SecretBytes(random: 64)))
    }

    @Test func `keys of keychains that are gone give way to another's`() throws {
        let most = KeyName.Kind.firstUnlock.most
        for number in 1..<most {
            try login.keyring.write(
                "first-unlock:gone-\(number)", SecretBytes(random: 8), of: OpenLogin.user)
        }
        #expect(try names(.firstUnlock).count == most)
        let keychain = try makeAnother()
        try unlock(keychain, in: [login.session])
        #expect(try names(.firstUnlock).count == most)
        #expect(
            try names(.firstUnlock).isSuperset(of: [
                "first-unlock:login", KeyName.firstUnlock(keychain.name),
            ]))
    }
}

/// Keys as the kernel counts them.
@Suite(.enabled(if: KernelKeyring.isAvailable(), "this kernel gives no keyring"))
final class DaemonKeyringTests {
    private static let user: UInt32 = 4_000_010
    private let folder: ScratchFolder
    private let keyring: DaemonKeyring

    init() throws {
        folder = try ScratchFolder()
        keyring = try DaemonKeyring(stateFolder: folder.path)
    }

    deinit { KeyringOfTest.remove(folder.path) }

    private func write(_ byte: UInt8, count: Int = 32, for seconds: UInt32? = nil) throws {
        try keyring.write(
            "half:1", SecretBytes(copying: [UInt8](repeating: byte, count: count)),
            of: Self.user, timeoutSeconds: seconds)
    }

    private var content: [UInt8]? {
        keyring.read("half:1", of: Self.user)?.releasedFromLockedMemory()
    }

    /// The keys that are linked, whether or not they can be read.
    private func linked() throws -> [KeySerial] {
        let top = try #require(
            try KernelKeyring.list(.userKeyring).first {
                (try? KernelKeyring.describe($0))?.description.contains(folder.path) == true
            })
        let ring = try #require(try KernelKeyring.findKeyring("uid:\(Self.user)", in: top))
        return try KernelKeyring.list(ring)
    }

    @Test func `what is written anew is the same key with another content`() throws {
        try write(1)
        let first = try linked()
        try write(2, count: 48)
        #expect(content == [UInt8](repeating: 2, count: 48))
        #expect(try linked() == first)
        #expect(first.count == 1)
    }

    @Test func `what is removed can not be read, and written anew is another key`() throws {
        try write(1)
        let first = try linked()
        keyring.remove("half:1", of: Self.user)
        #expect(content == nil)
        #expect(try linked() == [])
        #expect(!KernelKeyring.isReadable(first[0]))
        try write(3)
        #expect(content == [UInt8](repeating: 3, count: 32))
        #expect(try linked() != first)
    }

    @Test func `a key past its time is removed, too, or written anew`() throws {
        try write(1, for: 1)
        Thread.sleep(forTimeInterval: 1.5)
        #expect(content == nil)
        #expect(try linked().count == 1)
        keyring.remove("half:1", of: Self.user)
        #expect(try linked() == [])
        try write(2, for: 1)
        try write(2)
        Thread.sleep(forTimeInterval: 1.5)
        #expect(content != nil)
        try write(4, for: 1)
        Thread.sleep(forTimeInterval: 1.5)
        #expect(content == nil)
        try write(5)
        #expect(content == [UInt8](repeating: 5, count: 32))
        #expect(try linked().count == 1)
    }

    @Test func `many threads write at once, each its own key`() throws {
        let keyring = keyring
        DispatchQueue.concurrentPerform(iterations: 64) { number in
            try? keyring.write(
                "half:\(number)", SecretBytes(copying: [UInt8(number)]), of: Self.user)
        }
        for number in 0..<64 {
            let content = keyring.read("half:\(number)", of: Self.user)?
                .releasedFromLockedMemory()
            #expect(content == [UInt8(number)])
        }
        #expect(try linked().count == 64)
    }
}
