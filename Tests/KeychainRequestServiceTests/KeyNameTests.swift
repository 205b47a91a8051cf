// SPDX-License-Identifier: Apache-2.0
import KeychainItemStore
import KeychainModel
import KeychainSecrets
import KeychainVaults
@testable import KeyringStore
@testable import LoginRegistry
import Testing

struct KeyNameTests {
    private static let login = SessionID(rawValue: 7)

    private func keychain(_ count: Int, _ letter: Character = "n") throws -> KeychainName {
        try #require(KeychainName(String(repeating: letter, count: count)))
    }

    @Test func `a short keychain's name is a part of the key's`() throws {
        #expect(KeyName.unlock(Self.login, .login) == "unlock:7:login")
        #expect(KeyName.renewal(Self.login, .login) == "renewal:7:login")
        #expect(KeyName.firstUnlock(.login) == "first-unlock:login")
        #expect(KeyName.machine(.system) == "machine:system")
        #expect(KeyName.half(SessionID(rawValue: -7)) == "half:-7")
        let longest = try keychain(32)
        #expect(KeyName.firstUnlock(longest) == "first-unlock:\(longest)")
    }

    @Test func `a long one's digest is, which no other keychain has`() throws {
        let long = try keychain(33)
        let name = KeyName.unlock(Self.login, long)
        #expect(name.hasPrefix("unlock:7:#") && name.utf8.count == 9 + 1 + 32)
        #expect(name == KeyName.unlock(Self.login, long))
        let others = [try keychain(34), try keychain(33, "m"), try keychain(64)]
        #expect(!others.contains { KeyName.unlock(Self.login, $0) == name })
        #expect(KeychainName(String(name.dropFirst(9))) == nil)
    }

    @Test func `the keychain and the login of a key are found again`() throws {
        let known: [KeychainName] = [.login, try keychain(33), try keychain(64), try keychain(32)]
        for keychain in known {
            for name in [
                KeyName.unlock(Self.login, keychain), KeyName.renewal(Self.login, keychain),
                KeyName.firstUnlock(keychain),
            ] {
                #expect(KeyName.keychain(of: name) { known } == keychain)
                for other in known { #expect(KeyName.isOf(other, name) == (other == keychain)) }
            }
            #expect(KeyName.session(of: KeyName.unlock(Self.login, keychain)) == Self.login)
        }
        #expect(KeyName.keychain(of: KeyName.firstUnlock(try keychain(40))) { known } == nil)
        #expect(KeyName.session(of: "half:-2147483648")?.rawValue == .min)
        for strange in ["", "unlock", "unlock:", "unlock:x:login", "first-unlock:login"] {
            #expect(KeyName.session(of: strange) == nil)
        }
    }

    /// 200 keys and 20,000 bytes: a name, a zero, the content, and four bytes for the link.
    @Test func `all keys of a number are fewer and smaller than the kernel allows`() throws {
        let login = SessionID(rawValue: .min)
        let keychain = try keychain(KeychainName.longest)
        let longest = KeyName.firstUnlock(keychain).utf8.count
        #expect(try KeyName.firstUnlock(self.keychain(32)).utf8.count <= longest)
        var (keys, bytes) = (0, 0)
        func add(_ count: Int, _ name: String, _ content: Int) {
            keys += count
            bytes += count * (name.utf8.count + 1 + content + 4)
        }
        let sealed = SealingKey.overhead
        for kind in KeyName.Kind.allCases {
            switch kind {
            case .unlock:
                add(
                    kind.most, KeyName.unlock(login, keychain),
                    AutoLockTerms.byteCount + KeyBundle.byteCount(.whileUnlocked) + sealed)
            case .firstUnlock:
                add(
                    kind.most, KeyName.firstUnlock(keychain),
                    KeyBundle.byteCount(.afterFirstUnlock) + sealed)
            case .machine:
                add(
                    kind.most, KeyName.machine(keychain),
                    KeyBundle.byteCount(.whileUnlocked) + sealed)
            case .renewal:
                add(
                    kind.most, KeyName.renewal(login, keychain),
                    1 + 4 + 4 + PasswordParameters.saltBytes + PasswordKey.byteCount + sealed)
            case .half: add(kind.most, KeyName.half(login), 32)
            }
        }
        add(KeyName.mostLogins, SessionRegistry.ticketDescription, 32)
        // Keyrings: the user's two, the service's, its user's, and those of the process.
        let folder = String(repeating: "f", count: 64)
        for name in [
            "_uid.\(UInt32.max)", "_uid_ses.\(UInt32.max)",
            "keychain:\(folder):\(UInt64.max):\(UInt64.max)", "uid:\(UInt32.max)", "_ses", "_pid",
        ] {
            add(1, name, 0)
        }
        // Room for what was removed and still counts for some milliseconds.
        #expect(keys <= 200 - 50)
        #expect(bytes <= 20_000 - 500)
    }
}
