// SPDX-License-Identifier: Apache-2.0
import AccountDatabase
import CallerIdentity
import Glibc
import KeychainLinuxSystem
import KeychainLocalSocket
import KeychainMessages
import KeychainModel
import KeychainVaults
@testable import KeychainDaemon
import KeyringStore
import LoginRegistry
import PromptedAuthentication
import SystemTestSupport

/// The public socket in a folder of a test's own, with a service in memory behind it.
final class ServerInMemory {
    let world: ServiceInMemory
    let resolver: CallerResolver
    let directory: CallerFacts.Directory
    let server: RequestServer
    private let folder: ScratchFolder
    private let listener: Listener
    private let serving: Background<Void>

    /// Users are called what `account` says.
    init(account: @escaping @Sendable (UInt32) -> String? = { _ in "a" }) throws {
        folder = try ScratchFolder()
        world = try ServiceInMemory()
        listener = try Listener(path: folder("socket"), mode: 0o600)
        let keyring = try DaemonKeyring(stateFolder: folder.path)
        let records = try SealedRecords(
            folder: folder("records"), of: getuid(), key: RecordKeysOfTest())
        let sessions = SessionRegistry(keyring: keyring, records: records) { _, _, _ in }
        let accounts = AccountNames(account)
        let names = NameGuard(NameGuard.Machine(sessions, accounts, owner: { _ in nil }))
        resolver = CallerResolver(
            sessions: sessions, looks: OwnLooks(), screens: ScreenLocks(), names: names,
            controller: { _ in nil })
        directory = CallerFacts.Directory(
            accounts: accounts, groups: { _ in ["staff"] }, group: { _ in "staff" }, names: names,
            looks: OwnLooks())
        let server = RequestServer(
            listener, service: world.service, resolver: resolver, directory: directory,
            prompters: PrompterRegistry(),
            programs: .init(
                prompter: "/no/such/keychain-prompter", deputy: "/no/such/keychain-secrets"))
        self.server = server
        serving = Background { server.run() }
    }

    deinit {
        listener.shutDown()
        try? serving.value()
        KeyringOfTest.remove(folder.path)
    }

    func connect() throws -> ClientConnection {
        try ClientConnection(path: folder("socket"), requiredPeer: nil)
    }
}

extension ClientConnection {
    /// What a verb is answered with, part by part.
    func ask<V: Verb>(_ verb: V) throws -> [V.Answer] {
        try say(.request(verb, context: nil, relay: nil, offersTerminal: false))
        var parts: [V.Answer] = []
        while true {
            switch try hear() {
            case .answer(let part):
                parts.append(try part.decoded(to: V.self))
                if !part.continues { return parts }
            case .refusal(let refusal, _): throw refusal
            case .needsPrompter, .prompt, .registered: throw RequestError.failed(.internalError)
            }
        }
    }

    /// The daemon's end is closed.
    var isOver: Bool { (try? receive(.answer, within: .seconds(20))) == nil && peerHungUp() }
}
