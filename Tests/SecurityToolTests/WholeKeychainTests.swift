// SPDX-License-Identifier: Apache-2.0
import KeychainMessages
import KeychainModel
import Testing

@testable import SecurityTool

@Suite struct WholeKeychains {
    private static func item(_ itemClass: ItemClass, in keychain: String?) -> Item {
        Item(
            reference: ItemReference(itemClass: itemClass, number: 7), attributes: [:],
            accessControl: .plain(.whenUnlocked), keychain: keychain)
    }

    @Test func `all items of one keychain come before the next one's`() throws {
        let keychain = AskedKeychain { verb in
            if verb is Preferences {
                return KeychainPreferences(
                    defaultKeychain: .login, searchList: [KeychainName("work")!, .login])
            }
            guard let query = (verb as? CopyMatching)?.query,
                [.genericPassword, .internetPassword].contains(query.itemClass)
            else { return nil }
            let keychains: [String?] = [nil, "work"]
            return keychains.map { Self.item(query.itemClass, in: $0) } as [Item]
        }
        let found = try keychain.session.allItems(of: nil)
        #expect(found.map(\.keychain) == ["work", "work", "login", "login"])
        #expect(
            found.map(\.item.reference.itemClass) == [
                .genericPassword, .internetPassword, .genericPassword, .internetPassword,
            ])
    }

    /// A service with the keychain `build`, which it deletes where `deletes` says so.
    private func build(deletes: Bool, refusing refusal: RequestError) -> AskedKeychain {
        AskedKeychain(refusing: refusal) { verb in
            switch verb {
            case is Preferences:
                return KeychainPreferences(
                    defaultKeychain: .login, searchList: [.login, KeychainName("build")!])
            case is Status:
                return ServiceStatus(
                    mode: .daemon,
                    keychains: [
                        KeychainStatus(
                            name: "build", path: "/k/build.keychain", lockState: .unlocked,
                            isPasswordProtected: true, lockReason: .none, itemCount: 0,
                            problem: nil)
                    ],
                    callerIdentifier: nil, hasSession: true, hasPrompter: true,
                    locksMemory: true, usesKernelKeyring: true, deviceKeyOnDisk: true)
            case is DeleteKeychain where deletes: return Done()
            default: return nil
            }
        }
    }

    private func searchLists(_ keychain: AskedKeychain) -> [KeychainPreferencesChange] {
        keychain.verbs.compactMap { ($0 as? Preferences)?.change }
    }

    @Test func `a deleted keychain is searched no longer`() {
        let keychain = build(deletes: true, refusing: .state(.notFound))
        #expect(keychain.run(["delete-keychain", "build.keychain"]) == 0)
        #expect(keychain.verbs.compactMap { ($0 as? DeleteKeychain)?.keychain } == ["build"])
        #expect(searchLists(keychain) == [.searchList(["login"])])
    }

    @Test(
        arguments: [
            .invalid(.notImplemented), .refused(.interactionNotAllowed),
        ] as [RequestError])
    func `a keychain that the service keeps is searched no longer`(_ refusal: RequestError) {
        let keychain = build(deletes: false, refusing: refusal)
        #expect(keychain.run(["delete-keychain", "build.keychain"]) == 252)
        #expect(searchLists(keychain) == [.searchList(["login"])])
    }

    @Test func `a keychain whose user says no stays as it is`() {
        let keychain = build(deletes: false, refusing: .refused(.cancelled))
        #expect(keychain.run(["delete-keychain", "build.keychain"]) == 128)
        #expect(searchLists(keychain).isEmpty)
    }
}
